#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make install puts everything in its place and nothing elsewhere; the manual and the completions are sound; make
# uninstall takes all of it away again, but not the administrator's files.
set -eu
. tests/cli/lib.sh

root=$work/root
what="make install" code=0
make -s install DESTDIR="$root" PREFIX=/usr >"$work/out" 2>"$work/err" || code=$?
expect 0
[ $code = 0 ] || finish
for f in usr/bin/roost usr/bin/scx_roost usr/include/roost/slice.h usr/lib/libroost-slice.a usr/lib/libroost-slice.so \
	usr/share/man/man1/roost.1 usr/share/man/man1/scx_roost.1 usr/share/man/man7/roost-knobs.7 \
	usr/share/bash-completion/completions/roost usr/share/zsh/site-functions/_roost \
	usr/share/fish/vendor_completions.d/roost.fish usr/lib/systemd/system/roost.service etc/roost/roost.conf; do
	if [ -e "$root/$f" ]; then passed; else failed "no $f"; fi
done
for c in $("$roost" __man list | tr _ -); do
	page=$root/usr/share/man/man1/roost-$c.1
	if [ ! -s "$page" ]; then failed "no page for $c"; continue; fi
	# every option of --help has its entry
	for o in $("$roost" "$c" --help | sed -n 's/^ .*\(--[a-z][a-z-]*\).*/\1/p'); do
		if ! tr -d '\134' <"$page" | grep -q -- "fB$o"; then failed "roost-$c.1 does not describe $o"; fi
	done
	passed
done
if command -v groff >/dev/null; then
	for page in "$root"/usr/share/man/man*/*; do
		what="groff ${page##*/}" code=0
		groff -man -Tutf8 -ww -z "$page" >"$work/out" 2>"$work/err" || code=$?
		if [ -s "$work/err" ]; then failed "warnings"; else expect 0; fi
	done
fi

# the systemd unit, where there is something to check it with
if command -v systemd-analyze >/dev/null; then
	what="systemd-analyze verify" code=0
	sed "s|/usr/bin/roost|$(realpath "$root/usr/bin/roost")|" "$root/usr/lib/systemd/system/roost.service" >"$work/roost.service"
	systemd-analyze verify --man=no "$work/roost.service" >"$work/out" 2>"$work/err" || code=$?
	if grep -q "roost.service" "$work/err"; then failed "complaints"; else passed; fi
fi

# ---- bash completion, asked as bash asks it ----
ask_completion() { # WORDS... ; the last is being typed
	bash --norc -c '
		source "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		compopt() { :; }
		_roost
		printf "%s\n" "${COMPREPLY[@]}"' - "$root/usr/share/bash-completion/completions/roost" "$@"
}
completes() { # EXPECTED WORDS...
	want=$1
	shift
	what="completion of '$*'" code=0
	ask_completion "$@" >"$work/out" 2>"$work/err" || code=$?
	if [ -s "$work/err" ]; then failed "bash complains"; return 0; fi
	expect 0 "$want"
}
if command -v bash >/dev/null; then
	completes doctor roost do
	completes --interval= roost run --int
	completes warm roost run --profile w
	completes warm roost run --profile = w
	completes idle-smt= roost set idle-s
	completes idle-smt roost get idle-s
	completes idle-grace= roost run --set idle-g
	completes --partial scx_roost --par
	for o in stat explain doctor; do completes --json roost "$o" --js; done
fi

# ---- the configuration is the administrator's ----
echo "# mine" >"$root/etc/roost/roost.conf"
what="make install again" code=0
make -s install DESTDIR="$root" PREFIX=/usr >"$work/out" 2>"$work/err" || code=$?
expect 0
if [ "$(cat "$root/etc/roost/roost.conf")" = "# mine" ]; then passed; else failed "overwrote roost.conf"; fi
what="make uninstall" code=0
make -s uninstall DESTDIR="$root" PREFIX=/usr >"$work/out" 2>"$work/err" || code=$?
expect 0
find "$root" ! -type d ! -path "$root/etc/*" >"$work/out"
if [ -s "$work/out" ]; then failed "left behind"; else passed; fi
if [ -e "$root/etc/roost/roost.conf" ]; then passed; else failed "took roost.conf away"; fi
finish
