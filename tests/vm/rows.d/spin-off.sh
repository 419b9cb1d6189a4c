# SPDX-License-Identifier: GPL-2.0-only
# idle-spin off means off: no spinner thread exists and no window is counted, as loaded and after it was on.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
cpus=$(cpus_online)
roost_up
roost load pingpong -l 300 >/dev/null || fail "pingpong failed"
spin_threads 0 "as loaded"
[ "$(spin_counter spin_windows)" = 0 ] || fail "$(spin_counter spin_windows) windows with idle-spin off"
for round in 1 2 3; do
	spin_set idle-spin=50ms idle-spin-backend=spinner idle-spin-budget=100
	spin_threads "$cpus" "with idle-spin on"
	before=$(spin_counter spin_windows)
	roost load pingpong -l 300 >/dev/null || fail "pingpong failed"
	windows=$(($(spin_counter spin_windows) - before))
	[ $windows -gt 0 ] || fail "no window with idle-spin on"
	# each CPU that spun has its line: windows, hits, kicks avoided, time, stops
	lines=$(roost stat --per-cpu | awk '$2 == "SPIN-WINDOWS" { on = 1; next } on && NF >= 6 && $2 > 0 { n++ } END { print n + 0 }')
	[ "$lines" -gt 0 ] || fail "roost stat --per-cpu has no line about a CPU that spun"
	spin_set idle-spin=0
	spin_threads 0 "with idle-spin off again"
	before=$(spin_counter spin_windows)
	roost load pingpong -l 300 >/dev/null || fail "pingpong failed"
	[ "$(spin_counter spin_windows)" = "$before" ] || fail "windows with idle-spin off again"
	note "round $round: $windows windows while it was on"
done
roost_down
spin_threads 0 "after the unloading"
pass
