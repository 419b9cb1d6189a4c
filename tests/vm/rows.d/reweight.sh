# SPDX-License-Identifier: GPL-2.0-only
# A task that was SCHED_IDLE, or of nice 19, beside another on one CPU becomes one of nice 0: from then on it gets half of the CPU.
# What it ran in a slice is a second of virtual time in its old weight's measure, and no debt in the new one's.
# shellcheck shell=sh
roost_up
for was in policy=idle nice=19 nice=-20; do
	hog 4 1:cpu=1 1:cpu=1:$was:turn >/tmp/hogs || fail "hogs failed"
	note "$was, then nice 0: $(tr '\n' ';' </tmp/hogs)"
	share=$(awk '{ all += $5 } $2 == 1 { own = $5 } END { printf "%d", 1000 * own / all }' /tmp/hogs)
	within "$share" 470 530 "permille of the CPU as nice 0 ($was before)"
done
roost_down
pass
