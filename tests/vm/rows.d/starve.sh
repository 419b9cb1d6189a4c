# SPDX-License-Identifier: GPL-2.0-only
# Weights of 3 and 88761 on one CPU, $1 seconds, and of 3 behind forty of 1024 on another: by its weight alone the light one would wait
# longer than the kernel's watchdog lets a task wait (30 s), and roost would be thrown out; so would it where RCU waits for a task
# that was preempted in a read-side section (26 s, a preemptible kernel). Alone in its queue it is the first, the other the last.
# shellcheck shell=sh
roost_up
hog "$1" 1:cpu=1:nice=-20 1:cpu=1:policy=idle 40:cpu=2 1:cpu=2:policy=idle >/tmp/hogs || fail "hogs failed"
note "$(grep -v 'hog 2' /tmp/hogs | tr '\n' ';')"
roost_alive "after $1 s"
wait_ms=$(($(counter wait_max_ns) / 1000000))
within "$wait_ms" 0 7000 "longest wait, ms"
roost_down
pass
