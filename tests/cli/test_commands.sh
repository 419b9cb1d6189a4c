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

# ---- the manual lists the loads and their options ----
run "$roost" __man load man/load.in
expect 0 ".SH LOADS"
what="the page of load"
for l in $("$roost" load | sed -n '/^$/q; s/ .*//p'); do
	if ! grep -q "^\.SS $l\$" "$work/out"; then failed "no $l"; fi
	for o in $("$roost" load "$l" --help | sed -n 's/^  ....--\([a-z_-]*\).*/\1/p' | sed 's/-/\\\\-/g'); do
		if ! grep -q -- "\\\\-\\\\-$o" "$work/out"; then failed "$l: no $o"; fi
	done
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

# ---- run: every option is checked before anything is loaded ----
for bad in --slice-mode=abc --slice-mode=9999 --slice-mode=-777 --slice-group=no-such-group --metrics=99999 --metrics= \
	--metrics=nowhere:1 --metrics=127.0.0.1 "--slice-socket=/$(printf '%0300d' 0)" --slice-socket=; do
	run "$roost" run "$bad"
	refused 2 "${bad%%=*}"
done

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
run "$roost" set --config "$work/bad.conf"
refused 2 "bad.conf:2: idle-grace=2s: takes a time"
run "$roost" set --config "$work/none.conf"
refused 2 "none.conf: No such file"
run "$roost" set --config /
refused 2 "/: Is a directory"
run "$roost" set --config /dev/zero
refused 2 "/dev/zero: larger than 1 MiB"
run "$roost" set --profile wram
refused 2 "did you mean 'warm'?"

# ---- whatever was typed, a refusal is one line that no terminal obeys ----
esc=$(printf '\033') latin=$(printf 'g\374n')
run "$roost" run --set "a
b=1"
refused 2 'unknown knob '"'a\nb'"
run "$roost" run --set "${esc}[31m=$latin"
refused 2 '\x1b[31m'
run "$roost" "x${esc}c$latin"
refused 2 'x\x1bcg\xfcn'
if grep -q "$esc" "$work/err"; then failed "an escape sequence reaches the terminal"; else passed; fi

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

for root in "$work/nowhere" /etc/passwd; do
	run "$roost" restore --root "$root"
	refused 2 "--root=$root: not a directory"
done

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
	rm -f "$work/ran"
	run "$roost" compare -V kernel,warm -n 1 -w 0 -- touch "$work/ran"
	refused 3 "CONFIG_SCHED_CLASS_EXT is not set"
	if [ -e "$work/ran" ]; then failed "the command ran"; else passed; fi
	# a file that is right by itself, or with knobs that only the running roost knows
	echo slice=200us >"$work/short.conf"
	run "$roost" set --config "$work/short.conf"
	refused 3 "this kernel has no sched_ext"
fi

# ---- slice-ext with nobody to give it ----
ROOST_SLICE_SOCKET=$work/none.sock
export ROOST_SLICE_SOCKET
run "$roost" load lockfight --runtime 0.02 --slice roost
refused 3 "no roost offers slice-ext at $work/none.sock; start it with 'roost run'"
unset ROOST_SLICE_SOCKET

# ---- compare: what it cannot write is refused before the first run; what was there stays until the new one is whole ----
touched() { [ -e "$work/ran" ] && { failed "the command ran"; return 0; }; passed; }
compare() { rm -f "$work/ran"; run "$roost" compare -V kernel,kernel -n 2 -w 0 "$@"; }
for bad in /nonexist/x.html "$work" "" /proc/x.html; do
	compare --report "$bad" -- touch "$work/ran"
	refused 2 "--report"
	touched
done
echo old >"$work/r.html"
chmod 640 "$work/r.html"
compare --report "$work/r.html" -- nosuchcommand
refused 2 "nosuchcommand"
if [ "$(cat "$work/r.html")" = old ]; then passed; else failed "the old report is gone"; fi
ln -s r.html "$work/link.html"
compare --report "$work/link.html" -- true
expect 0 "kernel"
if grep -q '<title>roost compare: true' "$work/r.html" && [ -h "$work/link.html" ] && [ "$(stat -c %a "$work/r.html")" = 640 ]; then
	passed; else failed "the report did not take the old one's place"; fi
compare --report "$work/new.html" -- true
if [ "$(stat -c %a "$work/new.html")" = "$(printf '%o' $((0666 & ~0$(umask))))" ]; then passed; else failed "the new report's mode"; fi
if [ -c /dev/full ]; then
	compare --report /dev/full -- true
	if [ $code = 1 ] && grep -qF -- "--report /dev/full: could not be written: No space" "$work/err"; then passed; else
		failed "a full disk is not said"; fi
fi
if ls "$work"/*.html.* >/dev/null 2>&1; then failed "something was left beside the report"; else passed; fi

# ---- compare: bytes that are no UTF-8, and those that terminals obey, in arguments, patterns and output ----
compare --json -m "${latin}_([0-9]+)" -- sh -c "echo ${latin}_7; : ${esc}[1m"
expect 0
is_json '.command == "sh -c $'"'"'echo g\\374n_7; : \\033[1m'"'"'" and ([.metrics[].name] | any(. == "g\ufffdn_([0-9]+)"))
	and (.runs[0].values["output: g\ufffdn_([0-9]+)"] == 7)'
compare -m "${esc}.([0-9])" -- echo "${esc}[1m"
expect 0 "echo \$'\\033[1m'"
if grep -q "$esc" "$work/out"; then failed "an escape sequence reaches the terminal"; else passed; fi

# ---- compare: a pattern that matches nothing is said, in every format and by the exit code ----
run "$roost" compare -V kernel -n 1 -w 0 -m 'x=x:([0-9]+)' -m 'y=y:([0-9]+)' -- echo y:3
expect 1 "--metric x: no run printed it"
if grep -qx "x: no run printed it" "$work/out" && ! grep -q "y: no run" "$work/out"; then passed; else failed "the table does not say it"; fi
compare --json -m 'x=x:([0-9]+)' -- echo x:none
expect 1 "--metric x: no run printed it"
is_json '[.metrics[] | select(.not_counted_here == "no run printed it").name] == ["x"]'

# ---- compare: the machine, counted as elsewhere ----
llcs=$("$roost" machines --json this | jq .llcs)
compare -- true
expect 0 "$llcs LLC"

# ---- output that cannot be written is a failure ----
if [ -c /dev/full ]; then
	what="features >/dev/full" code=0
	"$roost" features >/dev/full 2>"$work/err" || code=$?
	: >"$work/out"
	expect 1 "could not write"
fi
finish
