# SPDX-License-Identifier: GPL-2.0-only
# The loader is killed with SIGKILL while CPUs spin: the kernel's own scheduler takes over, no thread and no task is left
# behind, and it loads again.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
cpus=$(cpus_online)
for round in 1 2 3; do
	begin=$(ms)
	roost_up --set idle-spin=1s --set idle-spin-backend=spinner --set idle-spin-budget=100
	spin_threads "$cpus" "with idle-spin on"
	roost load pingpong -l 2000 --think 200us >/tmp/pingpong 2>&1 &
	bench=$!
	sleep 1
	windows=$(spin_counter spin_windows)
	[ "$windows" -gt 0 ] || fail "nothing spins"
	roost_killed
	spin_threads 0 "after SIGKILL"
	wait $bench || fail "pingpong did not survive: $(cat /tmp/pingpong)"
	note "round $round: killed after $windows windows; all of it took $(($(ms) - begin)) ms"
done
begin=$(ms)
took() { note "$1: $(($(ms) - begin)) ms"; }
roost_up --set idle-spin=220us --set idle-spin-backend=spinner
took "loaded again"
spin_threads "$cpus" "after it was loaded again"
roost load pingpong -l 300 >/dev/null || fail "pingpong fails after it was loaded again"
took "300 round trips later"
roost_down
spin_threads 0 "after the unloading"
took "unloaded"
pass
