# SPDX-License-Identifier: GPL-2.0-only
# A second load is refused, naming the first, which stays.
# shellcheck shell=sh
roost_up
roost run >/tmp/second.out 2>/tmp/second.err
code=$?
note "$(cat /tmp/second.err)"
case $code in 1 | 2) ;; *) fail "the second load exits with $code" ;; esac
grep -q "$(scx_ops)" /tmp/second.err || grep -qw roost /tmp/second.err || fail "the refusal does not name $(scx_ops)"
[ "$(wc -l </tmp/second.err)" = 1 ] || fail "the refusal is $(wc -l </tmp/second.err) lines long"
roost_down
pass
