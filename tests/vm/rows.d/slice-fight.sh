# slice-fight.sh PAIRS SECONDS: threads fight for a lock, one more than there are CPUs and twice as many, with sections that say so and
# without. Whoever holds the lock is preempted a tenth as often at most, and a grant takes no longer than it must: one that was not
# closed when its thread went on would hold what the thread ran from then on, and use up the CPU's share for grants.
# shellcheck shell=sh
. /root/guest-lib.sh
roost_up
number() { tr ',{' '\n\n' <"$1" | sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" | head -n 1; }
for threads in $(($(cpus_online) + 1)) $((2 * $(cpus_online))); do
	with=0 without=0
	i=0
	while [ $i -lt "$1" ]; do
		roost load lockfight --threads $threads --runtime "$2s" --hold 0us --slice none >/tmp/none || fail "lockfight failed"
		roost load lockfight --threads $threads --runtime "$2s" --hold 0us --slice roost >/tmp/with || fail "lockfight failed"
		without=$((without + $(number /tmp/none preempted_holding))) with=$((with + $(number /tmp/with preempted_holding)))
		i=$((i + 1))
	done
	note "$threads threads: the holder preempted $without times, with slice-ext $with"
	[ $without -ge 20 ] || fail "preempted $without times without slice-ext: nothing to be seen"
	within $with 0 $((without / 10)) "times with slice-ext, $threads threads"
done
roost stat --json >/tmp/stat.json || fail "roost stat"
grants=$(number /tmp/stat.json ext_grants)
within "$grants" 1 1000000000 "grants"
# one that the timer ends late, in this machine of two CPUs that take turns, has lasted 2 ms
within $(($(number /tmp/stat.json ext_ns) / grants / 1000)) 0 60 "microseconds a grant took, on average"
roost_down
pass
