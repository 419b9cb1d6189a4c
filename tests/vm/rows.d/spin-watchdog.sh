# SPDX-License-Identifier: GPL-2.0-only
# The kernel's watchdog (30 s) takes no spinner thread for starved: $1 = idle, busy or fifo (a real-time task keeps one CPU
# nearly all of the time), for $2 seconds.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
cpus=$(cpus_online)
roost_up --set idle-spin=50ms --set idle-spin-backend=spinner --set idle-spin-budget=100
spin_threads "$cpus" "with idle-spin on"
# every thread parks once
roost load pingpong -l 500 --think 100us >/dev/null || fail "pingpong failed"
[ "$(spin_counter spin_windows)" -gt 0 ] || fail "nothing spins"
case $1 in
busy) busy $((2 * cpus)) ;;
fifo)
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	# its CPU spins when it comes
	spin_set idle-spin=1s idle-spin-adapt=off
	roost load pingpong -l 500 --think 1ms -c 1,1 >/dev/null || fail "pingpong failed"
	hog "$2" 1:policy=fifo:cpu=1 >/tmp/fifo &
	;;
esac
end=$(($(ms) + $2 * 1000))
while [ "$(ms)" -lt $end ]; do
	sleep 5
	roost_alive "under the watchdog, $1"
	# now and then the machine is the other way round for a moment
	[ "$1" = fifo ] || roost load pingpong -l 50 >/dev/null || fail "pingpong failed"
done
note "$(spin_counter spin_windows) windows, $(spin_counter spin_hits) with work"
spin_threads "$cpus" "at the end"
roost_down
pass "$1"
