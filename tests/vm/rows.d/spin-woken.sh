# SPDX-License-Identifier: GPL-2.0-only
# A SCHED_FIFO task and an ordinary one each get a spinning CPU within $1 us of the guest's time, at the median.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
most=$1
count=500
roost_up
note "idle, ordinary: $(woken $count 1)"
note "idle, SCHED_FIFO: $(woken $count 1 fifo)"
spin_set idle-spin=1s idle-spin-backend=spinner idle-spin-budget=100 idle-spin-adapt=off
spin_threads "$(cpus_online)" "with idle-spin on"
for kind in ordinary fifo; do
	windows=$(spin_counter spin_windows 1) hits=$(spin_counter spin_hits 1)
	line=$(woken $count 1 ${kind#ordinary}) || fail "woken failed"
	windows=$(($(spin_counter spin_windows 1) - windows)) hits=$(($(spin_counter spin_hits 1) - hits))
	note "spinning, $kind: $line; $windows windows, $hits with work for roost"
	# it did spin when the task was woken
	[ $windows -ge $((count * 9 / 10)) ] || fail "CPU 1 spun $windows times for $count wakeups of the $kind task"
	within "$(field median_us "$line")" 0 "$most" "us until the $kind task runs"
done
roost_down
pass
