# SPDX-License-Identifier: GPL-2.0-only
# Partial mode: only tasks that chose SCHED_EXT are scheduled by roost, and they share like the others.
# shellcheck shell=sh
roost_up --partial
[ "$(cat $scx/switch_all)" = 0 ] || fail "--partial switches every task"
hog 6 2:policy=ext:cpu=1 >/tmp/hogs || fail "hogs failed"
note "$(tr '\n' ';' </tmp/hogs)"
within "$(awk 'm == "" || $5 < m { m = $5 } END { print m + 0 }' /tmp/hogs)" 2400 3600 "least CPU time of two SCHED_EXT hogs on a CPU, ms"
hackbench -g 1 -f 4 -l 20 >/dev/null || fail "hackbench failed"
roost_down
pass
