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
for budget in 100 50 20 5; do
	spin_set idle-spin-budget=$budget
	sleep 2
	m=$(ms) c=0
	while [ $c -lt "$cpus" ]; do
		eval "spun_$c=$(spin_counter spin_ns $c) ran_$c=$(cut -d' ' -f1 "$(spin_task $c)/schedstat")"
		c=$((c + 1))
	done
	stops=$(spin_counter spin_budget_stops)
	sleep "$seconds"
	m=$(($(ms) - m)) c=0
	while [ $c -lt "$cpus" ]; do
		eval "spun=\$(($(spin_counter spin_ns $c) - spun_$c)) ran=\$(($(cut -d' ' -f1 "$(spin_task $c)/schedstat") - ran_$c))"
		# thousandths of the CPU's time
		spun=$((spun / m / 1000)) ran=$((ran / m / 1000))
		if [ $budget = 100 ]; then
			# proves that the load asks for more than any of the budgets
			within $spun 600 1000 "thousandths of CPU $c's time spun without a budget"
		else
			within $spun $((budget * 10 - 20)) $((budget * 10 + 20)) "thousandths of CPU $c's time spun, budget $budget"
			within $ran 0 $((budget * 10 + 20)) "thousandths of CPU $c's time its thread ran, budget $budget"
		fi
		c=$((c + 1))
	done
	stops=$(($(spin_counter spin_budget_stops) - stops))
	[ $budget = 100 ] || [ $stops -gt 0 ] || fail "no window was refused for the budget of $budget"
done
roost_alive "while the budget was spent"
roost_down
pass
