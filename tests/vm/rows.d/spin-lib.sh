# SPDX-License-Identifier: GPL-2.0-only
# What the rows about idle-spin share. Not a row.
# shellcheck shell=sh
spin_comms() { cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | grep '^roost-spin/' || true; }
spin_count() { spin_comms | wc -l; }
# spin_threads N WHEN: so many threads exist, within 10 s (they start and end a moment after the knob).
spin_threads() {
	i=0
	while [ "$(spin_count)" != "$1" ]; do
		i=$((i + 1))
		[ $i -lt 100 ] || fail "$(spin_count) spinner threads $2, and it must be $1"
		sleep 0.1
	done
}
spin_set() { roost set "$@" >/tmp/set 2>&1 || fail "roost set $*: $(cat /tmp/set)"; }
# spin_counter NAME [CPU]: the sum, or one CPU's. The sum comes first in the JSON, the CPUs follow in order.
spin_counter() {
	roost stat --json --per-cpu >/tmp/stat.json || fail "roost stat failed"
	tr ',{' '\n\n' </tmp/stat.json | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" | sed -n "$((${2:--1} + 2))p"
}
# The directory of a CPU's thread under /proc.
spin_task() {
	for d in /proc/[0-9]*/task/[0-9]*; do
		[ "$(cat "$d/comm" 2>/dev/null)" != "roost-spin/$1" ] || echo "$d"
	done
}
ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
