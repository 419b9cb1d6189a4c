# SPDX-License-Identifier: GPL-2.0-only
# More CPUs possible than present, and a hole in those online, before roost starts; then the hole closes and another opens.
# Of a CPU that was off when roost came the machine tells nothing until it is on: roost loads itself anew then, and only then.
# shellcheck shell=sh
possible=$(cat /sys/devices/system/cpu/possible)
[ "$possible" != "$(cat /sys/devices/system/cpu/present)" ] || fail "this machine has no CPU that is possible and not present ($possible)"
echo 0 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 does not go off"
note "possible $possible, present $(cat /sys/devices/system/cpu/present), online $(cat /sys/devices/system/cpu/online)"
roost_up
hackbench -g 1 -f 4 -l 50 >/dev/null || fail "hackbench failed"
hog 4 6 >/tmp/hogs || fail "hogs failed"
within "$(awk 'm == "" || $5 < m { m = $5 } END { print m + 0 }' /tmp/hogs)" 400 4000 "least CPU time of a hog on 3 CPUs, ms"
roost_alive "with a hole in the CPU numbers"
echo 1 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 does not come on"
roost_anew "CPU 1 came, which it had never seen"
echo 0 >/sys/devices/system/cpu/cpu2/online || fail "CPU 2 does not go off"
hog 4 6 >/tmp/hogs || fail "hogs failed"
within "$(awk 'm == "" || $5 < m { m = $5 } END { print m + 0 }' /tmp/hogs)" 400 4000 "least CPU time of a hog after the hole has moved, ms"
echo 1 >/sys/devices/system/cpu/cpu2/online || fail "CPU 2 does not come on"
roost_alive "after a CPU that it knew came back"
roost_down
pass
