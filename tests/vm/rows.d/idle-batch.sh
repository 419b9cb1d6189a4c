# SPDX-License-Identifier: GPL-2.0-only
# SCHED_IDLE yields to everything and still runs; SCHED_BATCH shares like a normal task.
# shellcheck shell=sh
roost_up
hog 10 1:cpu=1 1:cpu=1:policy=idle >/tmp/hogs || fail "hogs failed"
note "$(tr '\n' ';' </tmp/hogs)"
idle=$(awk '$2 == 0 { a = $5 } $2 == 1 { b = $5 } END { printf "%d", 1000 * b / (a + b) }' /tmp/hogs)
within "$idle" 1 30 "SCHED_IDLE beside a normal task, permille of the CPU"
hog 10 1:cpu=1 1:cpu=1:policy=batch >/tmp/hogs || fail "hogs failed"
note "$(tr '\n' ';' </tmp/hogs)"
batch=$(awk '$2 == 0 { a = $5 } $2 == 1 { b = $5 } END { printf "%d", 1000 * b / (a + b) }' /tmp/hogs)
within "$batch" 470 530 "SCHED_BATCH beside a normal task, permille of the CPU"
roost_down
pass
