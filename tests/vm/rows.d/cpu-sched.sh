# SPDX-License-Identifier: GPL-2.0-only
# stress-ng moves its processes through every scheduling class, $1 seconds.
# shellcheck shell=sh
roost_up
stress-ng --sched-reclaim --cpu-sched 8 --timeout "$1" --metrics-brief --oomable >/tmp/stress 2>&1 ||
	stress-ng --cpu-sched 8 --timeout "$1" --metrics-brief --oomable >/tmp/stress 2>&1 ||
	fail "stress-ng: $(tail -n 3 /tmp/stress | tr '\n' ' ')"
note "$(grep -E 'cpu-sched' /tmp/stress | tail -n 1)"
roost_alive "after stress-ng"
roost_down
pass
