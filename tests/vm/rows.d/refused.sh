# SPDX-License-Identifier: GPL-2.0-only
# A kernel that cannot: exit code 3, and words that a person understands, naming $1.
# shellcheck shell=sh
roost run >/tmp/roost.out 2>/tmp/roost.err
code=$?
[ $code = 3 ] || fail "roost run exits with $code, not 3"
[ "$(wc -l </tmp/roost.err)" -le 3 ] || fail "the refusal is $(wc -l </tmp/roost.err) lines long"
grep -qiE "$1" /tmp/roost.err || fail "the refusal does not speak of $1"
case $(scx_state) in enabled) fail "and yet something is loaded" ;; esac
roost doctor --json >/tmp/doctor
code=$?
[ $code = 3 ] || fail "roost doctor exits with $code, not 3"
[ -s /tmp/doctor ] || fail "roost doctor --json prints nothing"
pass "refused: $(head -n 1 /tmp/roost.err)"
