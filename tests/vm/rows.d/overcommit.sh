# SPDX-License-Identifier: GPL-2.0-only
# Four times more runnable tasks than CPUs for $1 seconds: nobody waits longer than 2 s.
# shellcheck shell=sh
n=$(($(nproc) * 4))
roost_up
sleeper "$1" 4 >/tmp/sleeper &
sleepers=$!
hog "$1" $n >/tmp/hogs || fail "hogs failed"
wait $sleepers
note "$(cat /tmp/sleeper)"
within "$(wc -l </tmp/hogs)" $n $n "hogs that came to their end"
within "$(awk '$7 > m { m = $7 } END { print m + 0 }' /tmp/hogs)" 0 2000 "longest wait of a hog, ms"
within "$(field max_ms "$(cat /tmp/sleeper)")" 0 2000 "latest wakeup, ms"
roost_down
pass
