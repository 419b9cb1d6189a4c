# SPDX-License-Identifier: GPL-2.0-only
# Weights of 3 and 88761 on one CPU, $1 seconds: by its weight alone the light one would wait longer than the kernel's watchdog lets
# a task wait (30 s), and roost would be thrown out.
# shellcheck shell=sh
roost_up
hog "$1" 1:cpu=1:nice=-20 1:cpu=1:policy=idle >/tmp/hogs || fail "hogs failed"
note "$(tr '\n' ';' </tmp/hogs)"
roost_alive "after $1 s"
wait_ms=$(($(counter wait_max_ns) / 1000000))
within "$wait_ms" 0 15000 "longest wait, ms"
roost_down
pass
