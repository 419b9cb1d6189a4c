# SPDX-License-Identifier: GPL-2.0-only
# No idle core, the previous CPU busy, its sibling idle, and an idle CPU next to the waker too: with idle-smt the task lands
# on the sibling of its previous CPU, $1 times in turn with the feature off.
# shellcheck shell=sh
roost_up
for state in off on off on; do
	roost set idle-smt=$state >/dev/null || fail "roost set idle-smt=$state"
	was=$(rule idle-smt)
	line=$(wakewhere "$1") || fail "wakewhere failed"
	chose=$(($(rule idle-smt) - was))
	note "idle-smt=$state: $line; chosen by the rule: $chose"
	case $state in
	off) within $chose 0 0 "chosen by idle-smt while it is off" ;;
	on)
		within $chose $(($1 * 8 / 10)) $(($1 * 2)) "chosen by idle-smt"
		within "$(field cpu1 "$line")" $(($1 * 8 / 10)) "$1" "woken on the previous CPU's sibling"
		;;
	esac
done
roost_down
pass
