# SPDX-License-Identifier: GPL-2.0-only
# A node with memory and no CPU: roost loads and uses every CPU.
# shellcheck shell=sh
[ -d /sys/devices/system/node/node2 ] || fail "this machine has no third node"
[ -z "$(tr -d '\n' </sys/devices/system/node/node2/cpulist)" ] || fail "node 2 has CPUs: $(cat /sys/devices/system/node/node2/cpulist)"
roost_up
hackbench -g 1 -f 4 -l 50 >/dev/null || fail "hackbench failed"
hog 4 $(($(nproc) * 2)) >/tmp/hogs || fail "hogs failed"
within "$(awk 'm == "" || $5 < m { m = $5 } END { print m + 0 }' /tmp/hogs)" 400 4000 "least CPU time of a hog, ms"
roost_down
pass
