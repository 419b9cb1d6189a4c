# SPDX-License-Identifier: GPL-2.0-only
# CPUs go off and on, $1 times, under load.
# shellcheck shell=sh
times=$1
last=$(($(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l) - 1))
roost_up
busy $last
sleeper 1000 2 >/dev/null &
(while hackbench -g 1 -f 4 -l 20 >/dev/null; do :; done; echo "hackbench failed" >/tmp/lost) &
i=0
while [ $i -lt "$times" ]; do
	# Mostly one at a time; every twentieth time all but CPU 0.
	if [ $((i % 20)) = 19 ]; then
		for c in $(seq 1 "$last"); do echo 0 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not go off"; done
		for c in $(seq 1 "$last"); do echo 1 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not come on"; done
	else
		c=$((1 + i % last))
		echo 0 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not go off"
		echo 1 >/sys/devices/system/cpu/cpu$c/online || fail "CPU $c does not come on"
	fi
	i=$((i + 1))
	roost_alive "after $i rounds of CPUs going off and on"
done
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
# Every CPU is used again.
set -- $(hog 3 $((2 * (last + 1))) | awk '{ t += $5; if (min == "" || $5 < min) min = $5 } END { print t, min }')
note "hogs after it: $1 ms in all, the least $2 ms"
[ "$2" -gt 100 ] || fail "after it a hog got $2 ms in 3 s"
roost_down
pass "$times times"
