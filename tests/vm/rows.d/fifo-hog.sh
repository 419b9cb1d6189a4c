# SPDX-License-Identifier: GPL-2.0-only
# A SCHED_FIFO hog takes one CPU for good: whatever waited there runs elsewhere, and others stay quick.
# shellcheck shell=sh
roost_up
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
hog 12 1:policy=fifo:cpu=1 >/tmp/fifo &
fifo=$!
sleep 1
sleeper 8 8 >/tmp/sleeper &
sleepers=$!
hog 8 6 >/tmp/hogs || fail "hogs failed"
wait $sleepers
note "$(cat /tmp/sleeper)"
within "$(awk '$7 > m { m = $7 } END { print m + 0 }' /tmp/hogs)" 0 2000 "longest wait of a hog beside it, ms"
within "$(awk 'm == "" || $5 < m { m = $5 } END { print m + 0 }' /tmp/hogs)" 1000 8000 "least CPU time of a hog beside it, ms"
within "$(field max_ms "$(cat /tmp/sleeper)")" 0 1000 "latest wakeup beside it, ms"
roost_alive "beside a FIFO hog"
wait $fifo || fail "the FIFO hog failed"
# It lasts 12 s and is never preempted, so it has nearly all of them.
within "$(field cpu_ms "$(cat /tmp/fifo)")" 9000 12500 "CPU time of the FIFO hog, ms"
roost_down
pass
