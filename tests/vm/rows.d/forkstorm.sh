# SPDX-License-Identifier: GPL-2.0-only
# $1 short tasks, some of which exec: every one is reaped with its exit code.
# shellcheck shell=sh
roost_up
forkstorm "$1" 200 >/tmp/storm || fail "$(cat /tmp/storm)"
note "$(cat /tmp/storm)"
roost_down
pass
