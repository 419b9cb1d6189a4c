#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# roost sim, machines and reproduce: what they print, and how they refuse.
. tests/cli/lib.sh
run "$roost" machines; expect 0 "epyc-9654x2"
run "$roost" machines --json; is_json 'map(.name) | index("guest-2")'
run "$roost" machines guest-2; expect 0 "measured:"
run "$roost" machines --json epyc-9654x2; is_json '.cpus == 384 and .costs["context-switch"].unit == "ns" and (.costs | all(.source | length > 0))'
run "$roost" machines no-such; refused 2 "no machine"

run "$roost" sim -m guest-2 hackbench -g 1 -f 4 -l 50 --pipe; expect 0 "simulated: hackbench on guest-2"
run "$roost" sim -m guest-2 --json --compare mainline,warm,util-fits+bias-prev -n 2 hackbench -g 1 -f 4 -l 50 --pipe
is_json '.simulated and (.variants | length) == 3 and (.variants[1].runs | length) == 2 and .variants[1].ratio.time_s.low'
# figures that no seed moves have a ratio, and no interval to call a difference by
run "$roost" sim -m guest-2 -c mainline,warm -n 3 pingpong -n 100; expect 0 "x1.000 with every seed"
run "$roost" sim -m guest-2 --json -c mainline,warm -n 3 pingpong -n 100
is_json '.variants[1].ratio.latency_p50_us | .ratio == 1 and .low == null and .every_seed_alike and (.difference_shown | not)'
for w in schbench pingpong lockfight memcache web; do
	case $w in pingpong) o="-n 100" ;; *) o="-d 40ms" ;; esac
	# shellcheck disable=SC2086
	run "$roost" sim -m "l3:2 core:4 pu:2" --json $w $o; is_json '.variants[0].runs[0].events > 100'
done

# what there is, and each one's options
run "$roost" sim --help
for w in hackbench schbench pingpong lockfight memcache web FILE.json; do
	if ! grep -q "^  $w " "$work/out"; then failed "sim --help does not name $w"; fi
done
expect 0 "roost sim WORKLOAD --help"
run "$roost" help sim; expect 0 "roost sim WORKLOAD --help"
run "$roost" sim hackbench --help; expect 0 "  -g, --groups N"
for w in hackbench schbench pingpong lockfight memcache web; do
	run "$roost" sim -m guest-2 $w --none; known=$(sed 's/.*(//; s/).*//' "$work/err")
	run "$roost" sim $w -h; expect 0 "Usage: roost sim [OPTION...] $w"
	for o in $known; do
		if ! grep -qE -- "^  (-., )?${o}[ ,]" "$work/out"; then failed "does not show $o"; fi
	done
done
run "$roost" __man sim man/sim.in
for words in ".SH WORKLOADS" ".SS schbench" ".SH WORKLOAD FILES" ".SH MACHINE FILES"; do expect 0 "$words"; done
keys=$(sed -n '/^\[topology\]/,/^\[costs\]/s/^\([a-z-]*\) *=.*/\1/p' machines/desktop-8.machine | sed 's/-/\\-/g')
for key in $keys; do
	expect 0 "$key"
done
sed -n '/^{ "global"/,/^\.fi/p' man/sim.in | sed '/^\.fi/d; s/\\-/-/g' >"$work/example.json"
run "$roost" sim -m guest-2 --until 5ms "$work/example.json"; expect 0 "simulated: file"

run "$roost" sim -m nowhere hackbench; refused 2 "no machine"
run "$roost" sim -m "pack:2 pu:9000" hackbench; refused 2 "8192"
run "$roost" sim -m guest-2 nobench; refused 2 "there is no workload"
run "$roost" sim -m guest-2 hackbench -g 0; refused 2 "-g"
run "$roost" sim -m guest-2 hackbench -g 25000 -f 1000; refused 2 "1000000"
run "$roost" sim -m guest-2 hackbench --walk; refused 2 "--walk"
run "$roost" sim -m guest-2 hackbench -g; refused 2 "hackbench -g needs a value: a whole number from 1 to 25000"
run "$roost" sim -m guest-2 lockfight -d; refused 2 "lockfight -d needs a value: a time with its unit"
run "$roost" sim -m guest-2 lockfight -d 5; refused 2 '"5" is not a time with its unit (ns, us, ms, s), from 1ms to 1000s'
run "$roost" sim -m guest-2 pingpong --work 5; refused 2 "from 0s to 1s"
mkdir "$work/dir.json" "$work/dir.xml" "$work/dir.machine"
run "$roost" sim -m guest-2 "$work/dir.json/"; refused 2 "dir.json/: Is a directory"
run "$roost" sim -m "$work/dir.xml" hackbench; refused 2 "dir.xml: Is a directory"
run "$roost" sim -m "$work/dir.machine" hackbench; refused 2 "dir.machine: Is a directory"
run "$roost" machines core:-1; refused 2 '"-1" is not how many there are'
run "$roost" sim -m guest-2 --compare mainline hackbench; refused 2 "nothing to compare"
run "$roost" sim -m guest-2 --compare mainline,nonsense hackbench; refused 2 "nonsense"
run "$roost" sim -m guest-2 --timeline /tmp/x --seeds 2 hackbench; refused 2 "--timeline"
run "$roost" sim -m guest-2 "$work/none.json"; refused 2 "none.json"
printf '[costs]\ncontext-switch = 5 us | measured: x\n' >"$work/bad.costs"
run "$roost" sim -m guest-2 --costs "$work/bad.costs" hackbench; refused 2 "bad.costs:2"
printf '[costs]\ncontext-switch = 90000 ns | assumed: slow\n' >"$work/slow.costs"
run "$roost" sim -m guest-2 --json hackbench -g 1 -f 4 -l 50 --pipe; cp "$work/out" "$work/fast"
run "$roost" sim -m guest-2 --json --costs "$work/slow.costs" hackbench -g 1 -f 4 -l 50 --pipe
if ! jq -es '.[0].variants[0].median.time_s > 2 * .[1].variants[0].median.time_s' "$work/out" "$work/fast" >/dev/null; then
	failed "a slow context switch changes nothing"; else passed; fi

# a run that --until cuts off says so
run "$roost" sim -m guest-2 --until 1ms hackbench -g 1; expect 0 "cut off by --until, 1 of 1 run:"
run "$roost" sim -m guest-2 --until 1ms --json hackbench -g 1; is_json '.variants[0].runs[0] | .cut_off and .simulated_ns == 1000000'
run "$roost" sim -m guest-2 --until 1000s hackbench -g 1 -f 2 -l 5; expect 0 "simulated"
if grep -q "cut off" "$work/out"; then failed "a whole run counts as cut off"; else passed; fi
run "$roost" sim -m guest-2 --json hackbench -g 1 -f 2 -l 5; is_json '.variants[0].runs[0].cut_off == false'
run "$roost" sim -m desktop-8 --json hackbench -g 1 -f 2 -l 50; is_json '.variants[0].runs[0] | .wakeups > 0 and .targets == {"sync": .wakeups}'
# and where nobody goes to sleep after waking, by their own names
run "$roost" sim -m desktop-8 --json schbench -m 1 -t 8 -d 20ms
is_json '.variants[0].runs[0] | (.targets | .["prev-idle"] > 0 and has("sync") == false) and ([.targets[]] | add) == .wakeups'

# a workload that can never finish is named; one that deadlocks on the way fails with the command that repeats it
printf '{"tasks":{"a":{"loop":1,"suspend":"x","resume":"y"},"b":{"loop":1,"suspend":"y","resume":"x"}}}' >"$work/circle.json"
run "$roost" sim -m guest-2 "$work/circle.json"; refused 2 "can never finish"
printf '{"tasks":{"a":{"loop":1,"lock":"m","sleep":10,"lock1":"n"},"b":{"loop":1,"lock":"n","sleep":10,"lock1":"m"}}}' >"$work/dead.json"
run "$roost" sim -m guest-2 "$work/dead.json"; expect 1 "waits for itself"
expect 1 "to repeat: roost sim"
# what is printed can be pasted: it fails in the same way, quotes, blanks and --until included
mkdir "$work/it's a"
cp "$work/dead.json" "$work/it's a/dead lock.json"
run "$roost" sim -m "core:2  pu:1" --until 40ms --set idle-grace=1ms --seed 3 "$work/it's a/dead lock.json"; expect 1 "--until 40ms"
sed '/to repeat/d' "$work/err" >"$work/said"
sed -n "s|^roost sim: to repeat: roost |'$roost' |p" "$work/err" >"$work/again"
run sh "$work/again"
sed '/to repeat/d' "$work/err" | cmp -s - "$work/said" || failed "the command to repeat it does something else"
expect 1 "waits for itself"

run "$roost" sim -m guest-2 --timeline "$work/trace.json" hackbench -g 1 -f 2 -l 20 --pipe; expect 0
cp "$work/trace.json" "$work/out"
is_json '.traceEvents | map(.ph) | (index("X") and index("s") and index("f") and index("M"))'

# the file is touched only by a run that starts; where it cannot be written, none does; what cannot be written is told
printf '{"tasks":{"a":{"run":10,"cpus":[500],"loop":1}}}' >"$work/cpus.json"
echo kept >"$work/kept"
run "$roost" sim -m desktop-8 --timeline "$work/kept" "$work/cpus.json"; refused 2 "cpus"
if [ "$(cat "$work/kept")" != kept ]; then failed "a refused run emptied the timeline"; else passed; fi
run "$roost" sim -m desktop-8 --timeline "$work/new" "$work/cpus.json"; refused 2 "cpus"
if [ -e "$work/new" ]; then failed "a refused run made a timeline"; else passed; fi
run "$roost" sim -m desktop-8 --timeline "$work/none/t.json" hackbench; refused 2 "$work/none/t.json: No such file"
run "$roost" sim -m desktop-8 --timeline /dev/full hackbench -g 1 -f 2 -l 5; refused 1 "--timeline /dev/full: No space left on device"
run "$roost" sim -m desktop-8 --timeline /dev/full hackbench -g 10 -l 100; refused 1 "--timeline /dev/full: No space left on device"
run sh -c '"$@" | cat' sh "$roost" sim -m desktop-8 --timeline /dev/stdout hackbench -g 1 -f 2 -l 5; expect 0 "displayTimeUnit"
run "$roost" sim -m desktop-8 --timeline /dev/stdout hackbench -g 1 -f 2 -l 5; expect 0 "displayTimeUnit"; expect 0 "simulated: hackbench"
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/piped" &
run "$roost" sim -m desktop-8 --timeline "$work/pipe" hackbench -g 1 -f 2 -l 5; expect 0 "simulated"
wait $!
cp "$work/piped" "$work/out"; is_json '.traceEvents'

# a machine may be called anything
for name in 'a "b" \\ c' "$(printf 'caf\303\251')" "$(printf '\377x')"; do
	{ echo "[machine]"; echo "name = $name"; sed '/^\[machine\]/d; /^name/d' machines/desktop-8.machine; } >"$work/odd.machine"
	run "$roost" sim -m "$work/odd.machine" --timeline "$work/trace.json" hackbench -g 1 -f 2 -l 5; expect 0 "simulated"
	cp "$work/trace.json" "$work/out"; is_json '.traceEvents[0].args.name | endswith(", simulated")'
	run "$roost" sim -m "$work/odd.machine" --json hackbench -g 1 -f 2 -l 5; is_json '.machine | length > 1'
	run "$roost" machines --json "$work/odd.machine"; is_json '.name | length > 1'
done
is_json '.name == "\ufffdx"'
odd=$work/$(printf '\377g.json')
printf '{"tasks":{"a":{"run":10,"loop":1}}}' >"$odd"
run "$roost" sim -m desktop-8 --json "$odd"; is_json '.workload[0] | endswith("\ufffdg.json")'

run "$roost" reproduce --row slice-ext; expect 0 "lock rounds"
run "$roost" reproduce --json --row idle-spin; is_json '.simulated and (.rows | length) == 3 and (.rows | all(has("within")))'
run "$roost" reproduce --row nothing; refused 2 "nothing"
finish
