#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel/apply on the small trees beside this file: every semantic patch parses and applies, alone and with the
# others, comes out again without a trace, and a tree that is not understood stays as it was. Exit 0 passed, 1 failed,
# 77 skipped. With --real, the same on Debian's sources in roost's cache (a minute each).
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
apply=$top/kernel/apply
command -v spatch >/dev/null || {
	echo "skipped: spatch is not here (Debian's package coccinelle)" >&2
	exit 77
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/roost-test-apply.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP

passed=0 failed=0
ok() { # NAME: the last command of the test decides
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1" >&2
		sed 's/^/    /' "$tmp/log" >&2
	fi
}
# run NAME EXPECTED-STATUS COMMAND...
run() {
	name=$1 expected=$2
	shift 2
	status=0
	"$@" >"$tmp/out" 2>"$tmp/log" || status=$?
	[ "$status" -eq "$expected" ] || {
		echo "exit $status, expected $expected: $*" >>"$tmp/log"
		ok "$name" 1
		return 0
	}
	ok "$name" 0
}
same() { # NAME TREE ORIGINAL
	status=0
	diff -r "$2" "$3" >"$tmp/log" 2>&1 || status=1
	ok "$1" $status
}
says() { # NAME FILE TEXT
	status=0
	grep -qF -- "$3" "$2" || {
		{
			echo "no '$3' in:"
			cat "$2"
		} >"$tmp/log.says"
		mv "$tmp/log.says" "$tmp/log"
		status=1
	}
	ok "$1" $status
}

for p in "$top"/kernel/patches/*.cocci; do
	run "$(basename "$p") parses" 0 spatch --parse-cocci "$p"
done

features="bias-prev util-fits idle-smt idle-spin idle-grace"
for v in 6.12 7.3; do
	orig=$top/tests/kernel/tree-$v
	t=$tmp/$v
	cp -r "$orig" "$t"

	run "$v: --check" 0 "$apply" "$t" --check
	cp "$tmp/out" "$tmp/diff"
	same "$v: --check changes nothing" "$t" "$orig"
	run "$v: all features" 0 "$apply" "$t"
	status=0
	cmp "$tmp/out" "$tmp/diff" >"$tmp/log" 2>&1 || status=1
	ok "$v: applies what --check showed" $status
	says "$v: names the release" "$tmp/diff" 'SELECT_BIAS_PREV'
	says "$v: there is a bit for every switch" "$tmp/diff" 'u64 sysctl_sched_features'
	run "$v: a second time is refused" 2 "$apply" "$t"
	says "$v: ... and says how to go on" "$tmp/log" '--revert'
	run "$v: revert" 0 "$apply" "$t" --revert
	same "$v: revert leaves no trace" "$t" "$orig"
	run "$v: nothing to revert" 2 "$apply" "$t" --revert

	for f in $features; do
		run "$v: $f alone" 0 "$apply" "$t" --features "$f"
		run "$v: $f out again" 0 "$apply" "$t" --revert
	done
	run "$v: bias-prev and util-fits" 0 "$apply" "$t" --features=util-fits,bias-prev --check
	says "$v: ... the fit is in bias-prev's test too" "$tmp/out" 'wakee_fits_cpu(p, prev)'

	# What is not understood: one place that a rule must change is different.
	sed -i 's/lockdep_assert_irqs_disabled();/lockdep_assert_preemption_disabled();/' "$t/kernel/sched/fair.c"
	cp -r "$t" "$tmp/odd-$v"
	run "$v: a strange select_idle_sibling is refused" 2 "$apply" "$t"
	says "$v: ... and named" "$tmp/log" 'not understood'
	same "$v: ... and left alone" "$t" "$tmp/odd-$v"
done

# Changed after it was applied: revert refuses rather than do half.
cp -r "$top/tests/kernel/tree-7.3" "$tmp/late"
run "late: apply" 0 "$apply" "$tmp/late" --features bias-prev
sed -i 's/Nothing is idle/Not one is idle/' "$tmp/late/kernel/sched/fair.c"
cp -r "$tmp/late" "$tmp/late.was"
run "late: a revert that no longer fits is refused" 2 "$apply" "$tmp/late" --revert
same "late: ... and nothing was changed" "$tmp/late" "$tmp/late.was"

# Edited elsewhere in the same files: comes out, and the edit stays; nothing is left beside it.
cp -r "$top/tests/kernel/tree-7.3" "$tmp/edit"
run "edit: apply" 0 "$apply" "$tmp/edit"
sed -i '/cpu_smt_mask(target)/i /* mine */' "$tmp/edit/kernel/sched/fair.c"
run "edit: --revert --check" 0 "$apply" "$tmp/edit" --revert --check
says "edit: ... says that it would come out" "$tmp/log" 'would come out'
run "edit: ... and changed nothing" 0 grep -q SELECT_BIAS_PREV "$tmp/edit/kernel/sched/fair.c"
run "edit: --revert takes no features" 2 "$apply" "$tmp/edit" --revert --features bias-prev
run "edit: revert" 0 "$apply" "$tmp/edit" --revert
sed -i '/^.. mine ..$/d' "$tmp/edit/kernel/sched/fair.c"
same "edit: nothing else is left" "$tmp/edit" "$top/tests/kernel/tree-7.3"

# git checkout takes the changes out and leaves the files that came with them.
cp -r "$top/tests/kernel/tree-7.3" "$tmp/checkout"
run "checkout: apply" 0 "$apply" "$tmp/checkout"
cp "$top"/tests/kernel/tree-7.3/kernel/sched/* "$tmp/checkout/kernel/sched/"
run "checkout: revert" 0 "$apply" "$tmp/checkout" --revert
rm -rf "$tmp/checkout/Documentation"
same "checkout: what came with them is gone" "$tmp/checkout" "$top/tests/kernel/tree-7.3"

# Applied and committed elsewhere, without the file that says so.
cp -r "$top/tests/kernel/tree-7.3" "$tmp/cloned"
run "cloned: apply" 0 "$apply" "$tmp/cloned" --features bias-prev
rm "$tmp/cloned/.roost.diff"
cp -r "$tmp/cloned" "$tmp/cloned.was"
run "cloned: a second time is refused" 2 "$apply" "$tmp/cloned" --features bias-prev
says "cloned: ... and why is said" "$tmp/log" 'has SELECT_BIAS_PREV already'
same "cloned: ... and nothing was changed" "$tmp/cloned" "$tmp/cloned.was"

# A full disk, half way.
mkdir "$tmp/bin"
cat >"$tmp/bin/patch" <<-SH
	#!/bin/sh
	$(command -v patch) "\$@" || exit 1
	echo "no space left" >&2
	exit 1
SH
chmod +x "$tmp/bin/patch"
cp -r "$top/tests/kernel/tree-7.3" "$tmp/half"
run "half: what cannot be written is refused" 2 env PATH="$tmp/bin:$PATH" "$apply" "$tmp/half"
rmdir -p "$tmp/half/Documentation/ABI/testing" 2>/dev/null || true
same "half: ... and nothing was changed" "$tmp/half" "$top/tests/kernel/tree-7.3"

cp -r "$top/tests/kernel/tree-7.3" "$tmp/future"
sed -i 's/^PATCHLEVEL = .*/PATCHLEVEL = 9/' "$tmp/future/Makefile"
run "an unknown release is refused" 2 "$apply" "$tmp/future"
says "... and named" "$tmp/log" '7.9.0'
mkdir "$tmp/empty"
run "a directory that is no kernel is refused" 2 "$apply" "$tmp/empty"
run "an unknown feature is refused" 2 "$apply" "$tmp/late" --features idle-graze
run "no tree is refused" 2 "$apply"

if [ "${1:-}" = --real ]; then
	# shellcheck source=tools/lib.sh
	. "$top/tools/lib.sh"
	for v in 6.12 7.2 7.3; do
		real=$roost_cache/kernel/src/linux-source-$v
		[ -d "$real" ] || {
			echo "no $real: make kernel VERSION=$v fetches it" >&2
			continue
		}
		# Only what apply reads, so that the cached tree, which a build may use, is not touched.
		t=$tmp/real-$v
		mkdir -p "$t/kernel/sched" "$t/scripts"
		cp "$real/Makefile" "$t/"
		# what checkpatch knows a kernel tree by
		(cd "$t" && touch COPYING CREDITS Kbuild MAINTAINERS README && mkdir -p Documentation arch include drivers fs init ipc lib && touch Documentation/index.rst)
		cp "$real"/kernel/sched/*.[ch] "$t/kernel/sched/"
		cp "$real"/scripts/checkpatch.pl "$real"/scripts/spelling.txt "$real"/scripts/const_structs.checkpatch "$t/scripts/"
		[ ! -f "$real/.roost.diff" ] || {
			cp "$real/.roost.diff" "$t/"
			mkdir -p "$t/Documentation/ABI/testing"
			cp "$real"/Documentation/ABI/testing/sysfs-kernel-sched* "$t/Documentation/ABI/testing/" 2>/dev/null || true
			"$apply" "$t" --revert 2>/dev/null
		}
		cp -r "$t" "$tmp/real-$v.was"
		run "Linux $v: all features" 0 "$apply" "$t"
		says "Linux $v: checkpatch has no error" "$tmp/log" 'checkpatch: 0 errors'
		run "Linux $v: revert" 0 "$apply" "$t" --revert
		same "Linux $v: revert leaves no trace" "$t" "$tmp/real-$v.was"
		for f in $features; do
			run "Linux $v: $f alone" 0 "$apply" "$t" --features "$f" --check
		done
	done
fi

echo "test_apply: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
