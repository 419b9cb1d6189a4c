# SPDX-License-Identifier: GPL-2.0-only
# Loads, schedules a hackbench, unloads; says so in one line of state; every counter has gone up; leaves nothing.
# shellcheck shell=sh
roost_up
[ "$(wc -l </tmp/roost.out)" = 1 ] || fail "one line of state on stdout expected, got $(wc -l </tmp/roost.out)"
note "$(cat /tmp/roost.out)"
case $(scx_ops) in roost*) ;; *) fail "the loaded scheduler calls itself '$(scx_ops)'" ;; esac
hackbench -g 1 -f 4 -l 50 >/dev/null || fail "hackbench failed"
roost stat --json >/tmp/stat || fail "roost stat --json exits with $?"
[ -s /tmp/stat ] || fail "roost stat --json prints nothing"
grep -q '[1-9]' /tmp/stat || fail "roost stat --json shows no count at all"
roost_down
[ -z "$(ls /sys/fs/bpf)" ] || fail "left in /sys/fs/bpf: $(ls /sys/fs/bpf)"
roost_up
roost_down TERM
pass
