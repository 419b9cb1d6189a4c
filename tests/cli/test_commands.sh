#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every subcommand's help; refusals in one line with exit code 2; tables; JSON; the second name. Runs on any kernel:
# where there is no sched_ext, what needs it must say so in plain words with exit code 3.
set -eu
. tests/cli/lib.sh

# ---- the program ----
run "$roost" --version
expect 0 "roost "
run "$roost" --help
expect 0 "Usage: roost COMMAND"
run "$roost" help
expect 0 "Usage: roost COMMAND"
run "$roost"
expect 2 "Usage: roost COMMAND"
run "$roost" frobnicate
refused 2 "unknown command 'frobnicate'"
run "$roost" docotr
refused 2 "did you mean 'doctor'?"
run "$roost" --frob
refused 2 "unknown option '--frob' before the command"
run "$roost" ""
refused 2 "unknown command ''"
run "$roost" help docotr
refused 2 "did you mean 'doctor'?"
run "$roost" help run
expect 0 "Usage: roost run"
ln -s "$(realpath "$roost")" "$work/scx_roost"
run "$work/scx_roost" --version
expect 0 "scx_roost "
run "$work/scx_roost" --help
expect 0 "Usage: scx_roost"
run "$work/scx_roost" --frob
refused 2 "scx_roost: unknown option --frob"

# ---- standard output closed: what is opened later does not take its place, and the loss is told ----
without_stdout() { run sh -c 'exec "$@" >&-' sh "$@"; }
for c in --version --help "features" "machines" "sim -m desktop-8 hackbench -g 1 -f 2 -l 5"; do
	# shellcheck disable=SC2086
	without_stdout "$roost" $c
	refused 1 "could not write the output"
done
without_stdout "$roost" sim -m desktop-8 --timeline "$work/trace.json" hackbench -g 1 -f 2 -l 5
refused 1 "could not write the output"
cp "$work/trace.json" "$work/out"
is_json '.traceEvents'
without_stdout timeout --preserve-status 0.5 "$roost" serve-metrics -l 0
expect 1 "could not write the output"
run sh -c 'exec "$@" <&- 2>&-' sh "$roost" sim -m desktop-8 --timeline "$work/trace.json" hackbench -g 1 -f 2 -l 5
expect 0 "simulated: hackbench"
cp "$work/trace.json" "$work/out"
is_json '.traceEvents'

# ---- every subcommand ----
for c in $("$roost" __man list | tr _ -); do
	run "$roost" "$c" --help
	expect 0 "Usage: roost $c"
	run "$roost" "$c" -h
	expect 0 "Usage: roost $c"
	run "$roost" "$c" --no-such-option-at-all
	refused 2 "unknown option --no-such-option-at-all"
	if ! "$roost" --help | grep -q "^  $c "; then failed "$c is not in roost --help"; fi
done

# ---- options ----
run "$roost" run --intervall 1s
refused 2 "unknown option --intervall; did you mean --interval?"
run "$roost" run --interval 1
refused 2 "--interval=1: takes a time with its unit (ns, us, ms, s), from 10ms to 3600s"
run "$roost" run --interval
refused 2 "--interval needs a value: TIME"
run "$roost" run extra
refused 2 "takes no arguments, but was given 'extra'"
run "$roost" stat --count 3
refused 2 "--count needs --interval"

# ---- knobs ----
for bad in idle-spin=-1 idle-spin=1000001us "idle-spin=10 apples" idle-spin= idle-spin=99999999999999999999s; do
	run "$roost" run --set "$bad"
	refused 2 "takes a time with its unit (ns, us, ms, s), 0..1s"
	run "$roost" set "$bad"
	refused 2 "takes a time with its unit (ns, us, ms, s), 0..1s"
done
run "$roost" run --set idle-stm
refused 2 "unknown knob 'idle-stm'; did you mean 'idle-smt'?"
run "$roost" run --set slice=200us
refused 2 "slice-min=750us is longer than slice=200us"
run "$roost" run --profile wram
refused 2 "did you mean 'warm'?"
run "$roost" run --profile xyzzy
refused 2 "there are pre-5.13, mainline, warm"
run "$roost" get idle-graec
refused 2 "did you mean 'idle-grace'?"
run "$roost" set
refused 2 "needs KEY=VALUE"
printf 'idle-smt\nidle-grace = 2s\n' >"$work/bad.conf"
run "$roost" run --config "$work/bad.conf"
refused 2 "bad.conf:2: idle-grace=2s: takes a time"
run "$roost" run --config "$work/none.conf"
refused 2 "none.conf: No such file"

# ---- tables ----
run "$roost" features
expect 0 "SELECT_IDLE_SMT"
for name in idle-smt idle-grace util-fits bias-prev idle-spin slice-ext steal-delay pre-5.13 mainline warm; do
	if ! grep -q "^$name " "$work/out"; then failed "does not list $name"; fi
done
run "$roost" features --json
expect 0
is_json '.knobs | length > 10 and all(has("name") and has("kernel_name") and has("unit") and has("min") and has("max")
	and has("default") and has("value") and has("help") and has("origin"))'
is_json '[.knobs[] | select(.feature)] | length == 6 and all(.state == "on" or .state == "off")'
is_json '[.profiles[].name] | contains(["mainline", "pre-5.13", "warm"])'

# ---- doctor ----
run "$roost" doctor --root "$work/nowhere"
refused 2 "not a directory"
mkdir "$work/root"
run "$roost" doctor --root "$work/root"
if grep -q "^missing  sched-ext" "$work/out"; then expect 3; else failed "does not miss sched-ext"; fi
run "$roost" doctor --json
[ $code = 0 ] || expect 3
is_json '.checks | length > 8 and all(has("name") and has("state") and has("found") and has("todo"))'
is_json '.can_run == ([.checks[].state] | all(. != "missing" and . != "blocked"))'
if [ -e /sys/kernel/sched_ext ]; then can=1; else can=0; fi
is_json "(.checks[] | select(.name == \"sched-ext\").state) == (if $can == 1 then \"ok\" else \"missing\" end)"

# ---- without sched_ext: plain words, and nothing else happens ----
if [ $can = 0 ]; then
	run "$roost" run
	refused 3 "CONFIG_SCHED_CLASS_EXT is not set"
	run "$work/scx_roost"
	refused 3 "./demo"
	for c in "get" "stat" "explain" "set idle-smt" "stat --interval 1s"; do
		# shellcheck disable=SC2086
		run "$roost" $c
		refused 3 "this kernel has no sched_ext"
	done
fi

# ---- output that cannot be written is a failure ----
if [ -c /dev/full ]; then
	what="features >/dev/full" code=0
	"$roost" features >/dev/full 2>"$work/err" || code=$?
	: >"$work/out"
	expect 1 "could not write"
fi
finish
