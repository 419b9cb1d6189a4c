# SPDX-License-Identifier: GPL-2.0-only
# idle-spin and what belongs to it, changed $1 times under load.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
times=$1
roost_up
busy 1
(while hackbench -g 1 -f 4 -l 20 >/dev/null; do :; done; echo "hackbench failed" >/tmp/lost) &
(while roost load pingpong -l 100 --think 100us >/dev/null; do :; done; echo "pingpong failed" >/tmp/lost) &
i=0
begin=$(ms)
while [ $i -lt "$times" ]; do
	case $((i % 10)) in
	0) set -- idle-spin=220us idle-spin-backend=spinner ;;
	1) set -- idle-spin=20us ;;
	2) set -- idle-spin=1s idle-spin-budget=100 ;;
	3) set -- idle-spin=1us idle-spin-adapt=off ;;
	4) set -- idle-spin-budget=1 ;;
	5) set -- idle-spin=0 ;;
	6) set -- idle-spin=1ms idle-spin-budget=20 ;;
	7) set -- idle-spin-adapt=on idle-spin-backend=auto ;;
	8) set -- idle-spin-budget=0 ;;
	9) set -- idle-spin=50us idle-spin-budget=50 ;;
	esac
	spin_set "$@"
	i=$((i + 1))
	# now and then long enough for the threads to come and go
	[ $((i % 50)) != 0 ] || sleep 1
	[ $((i % 50)) != 5 ] || sleep 1
	roost_alive "after $i changes"
done
note "$times changes in $(($(ms) - begin)) ms; $(spin_counter spin_windows) windows, $(spin_counter spin_hits) with work"
[ "$(spin_counter spin_windows)" -gt 0 ] || fail "no window at all"
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
spin_set idle-spin=0
spin_threads 0 "with idle-spin off at the end"
roost_down
pass "$times times"
