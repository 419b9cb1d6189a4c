# SPDX-License-Identifier: GPL-2.0-only
# Values that idle-spin does not take are refused with exit code 2 and a reason, and change nothing: on the running
# scheduler, at its start, and in a file.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
state() { roost get --json 2>/dev/null || fail "roost get failed"; }
roost_up --set idle-spin=50us --set idle-spin-backend=spinner
was=$(state)
refused() { # EXIT-CODE-OF... WHAT COMMAND...: it must be 2, with one line of reason
	what=$1
	shift
	"$@" >/tmp/refused 2>&1
	code=$?
	[ $code = 2 ] || fail "$what: exit code $code, and it must be 2: $(cat /tmp/refused)"
	[ "$(wc -l </tmp/refused)" = 1 ] || fail "$what: no single line of reason: $(cat /tmp/refused)"
	grep -q 'idle-spin' /tmp/refused || fail "$what: the reason does not name the knob: $(cat /tmp/refused)"
	[ "$(state)" = "$was" ] || fail "$what: refused, and changed something"
	note "$(cat /tmp/refused)"
}
for v in -1 1000001us 1001ms "10 apples" "" 99999999999999999999 18446744073709551616ns 1e3us 0x10 " 5us" nan; do
	refused "idle-spin='$v'" roost set "idle-spin=$v"
	echo "idle-spin = $v" >/tmp/bad.conf
	[ "$v" = " 5us" ] || refused "idle-spin = $v in a file" roost set -c /tmp/bad.conf
done
refused "budget" roost set idle-spin-budget=101
refused "budget below 0" roost set idle-spin-budget=-1
refused "back end" roost set idle-spin-backend=poll
refused "adapt" roost set idle-spin-adapt=maybe
# one wrong value among right ones: none is taken
refused "one of three" roost set idle-spin=100us idle-spin-budget=101 bias-prev=on
roost_down
for v in -1 1000001us "10 apples" ""; do
	roost run --set "idle-spin=$v" >/tmp/refused 2>&1
	code=$?
	[ $code = 2 ] || fail "roost run --set 'idle-spin=$v': exit code $code, and it must be 2"
	[ "$(scx_state)" = disabled ] || fail "roost run --set 'idle-spin=$v' was refused and sched_ext is $(scx_state)"
done
pass
