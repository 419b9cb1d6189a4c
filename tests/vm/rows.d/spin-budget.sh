# SPDX-License-Identifier: GPL-2.0-only
# idle-spin-budget holds within two points: a load that would have every CPU spin nearly all the time, for $1 seconds a
# budget; by roost's own count and by the CPU time the kernel charges to the threads.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
seconds=$1
cpus=$(cpus_online)
roost_up --set idle-spin=50ms --set idle-spin-backend=spinner --set idle-spin-adapt=off
spin_threads "$cpus" "with idle-spin on"
# a sleeper on each CPU: it runs for a moment and lets the CPU spin for two milliseconds
c=0
while [ $c -lt "$cpus" ]; do
	roost load pingpong -l 1000000 --think 2ms -c "$c,$c" >/dev/null &
	c=$((c + 1))
done
# The budget is spent in the first part of each second: what is counted over $seconds seconds may hold one such part more or
# fewer, which for these budgets is less than the two points.
# counts NAME: notes what each CPU has spun, and when that was read, in variables that begin with NAME
counts() {
	c=0
	while [ $c -lt "$cpus" ]; do
		eval "$1_spun_$c=$(spin_counter spin_ns $c) $1_ran_$c=$(cut -d' ' -f1 "$(spin_task $c)/schedstat") $1_ms_$c=$(ms)"
		c=$((c + 1))
	done
}
# part WHAT: thousandths of CPU $c's time between the two counts
part() { eval "echo \$(((after_$1_$c - before_$1_$c) / (after_ms_$c - before_ms_$c) / 1000))"; }
for budget in 100 20 5; do
	spin_set idle-spin-budget=$budget
	sleep 2
	stops=$(spin_counter spin_budget_stops)
	counts before
	if [ $budget = 100 ]; then sleep 5; else sleep "$seconds"; fi
	counts after
	stops=$(($(spin_counter spin_budget_stops) - stops))
	c=0
	while [ $c -lt "$cpus" ]; do
		if [ $budget = 100 ]; then
			# proves that the load asks for more than any of the budgets
			within "$(part spun)" 500 1000 "thousandths of CPU $c's time spun without a budget"
		else
			within "$(part spun)" $((budget * 10 - 20)) $((budget * 10 + 20)) "thousandths of CPU $c's time spun, budget $budget"
			within "$(part ran)" 0 $((budget * 10 + 20)) "thousandths of CPU $c's time its thread ran, budget $budget"
		fi
		c=$((c + 1))
	done
	[ $budget = 100 ] || [ $stops -gt 0 ] || fail "no window was refused for the budget of $budget"
done
roost_alive "while the budget was spent"
roost_down
pass
