# SPDX-License-Identifier: GPL-2.0-only
# The loader is killed with SIGKILL under load: the kernel's own scheduler takes over, no task is lost, and it loads again.
# shellcheck shell=sh
roost_up
hackbench -g 2 -f 4 -l 60 >/tmp/hackbench 2>&1 &
bench=$!
hog 4 4 >/tmp/hogs &
hogs=$!
sleep 1
roost_killed
wait $bench || fail "hackbench did not survive: $(cat /tmp/hackbench)"
wait $hogs || fail "a hog did not survive"
roost_up
hackbench -g 1 -f 4 -l 20 >/dev/null || fail "hackbench fails after the second load"
roost_down
pass
