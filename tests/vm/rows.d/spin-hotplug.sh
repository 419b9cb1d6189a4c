# SPDX-License-Identifier: GPL-2.0-only
# CPUs go off and come on, $1 times, while every idle CPU spins; afterwards each spins again.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
times=$1
cpus=$(cpus_online)
last=$((cpus - 1))
roost_up --set idle-spin=1s --set idle-spin-backend=spinner --set idle-spin-budget=100 --set idle-spin-adapt=off
spin_threads "$cpus" "with idle-spin on"
sleeper 1000 2 >/dev/null &
(while roost load pingpong -l 100 --think 100us >/dev/null; do :; done; echo "pingpong failed" >/tmp/lost) &
i=0
while [ $i -lt "$times" ]; do
	c=$((1 + i % last))
	echo 0 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not go off"
	echo 1 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not come on"
	i=$((i + 1))
	roost_alive "after CPUs went off and on $i times"
done
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
spin_threads "$cpus" "when all CPUs are back"
c=0
while [ $c -lt "$cpus" ]; do
	hits=$(spin_counter spin_hits $c)
	# a thread that was away comes home when its CPU is idle for the first time, and spins from the next time on
	roost load pingpong -l 200 --think 1ms -c "$c,$c" >/dev/null || fail "pingpong on CPU $c failed"
	hits=$(($(spin_counter spin_hits $c) - hits))
	note "CPU $c: $hits windows with work"
	[ $hits -gt 50 ] || fail "CPU $c spins no longer: $hits windows with work in 200 sleeps"
	c=$((c + 1))
done
roost_down
pass "$times times"
