# SPDX-License-Identifier: GPL-2.0-only
# An idle machine stays idle with idle-spin on: in $1 seconds roost wakes no CPU more than once a second on average, by the
# switches of each of its threads and by the spinners' own counts, and /proc/stat shows no more work than without.
# shellcheck shell=sh
. /root/rows.d/spin-lib.sh
seconds=$1
cpus=$(cpus_online)
# CPU time used by all, in hundredths of a second.
used() { awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }
# Switches to threads of roost's: all of them, or one CPU's spinner.
switches() { cat "$@" 2>/dev/null | awk '/ctxt_switches/ { n += $2 } END { print n + 0 }'; }
all() { switches /proc/$roost_pid/task/*/status; }
watch() { # WHAT: sets busy (thousandths of the CPUs' time) and woken (by roost, in all)
	sleep 3
	u=$(used) w=$(all) m=$(ms)
	sleep "$seconds"
	woken=$(($(all) - w))
	m=$(($(ms) - m))
	busy=$((($(used) - u) * 10000 / m / cpus))
	note "$1: $busy thousandths of the CPUs' time used, roost's threads ran $woken times in $m ms"
}
roost_up
watch "off"
off=$busy
for adapt in on off; do
	spin_set idle-spin=220us idle-spin-backend=spinner idle-spin-adapt=$adapt
	spin_threads "$cpus" "with idle-spin on"
	# some work first, which earns them credit
	roost load pingpong -l 300 >/dev/null || fail "pingpong failed"
	windows=$(spin_counter spin_windows) spun=$(spin_counter spin_ns)
	watch "220us, adapt $adapt"
	windows=$(($(spin_counter spin_windows) - windows)) spun=$(($(spin_counter spin_ns) - spun))
	# a millisecond of one CPU is a thousandth of a second
	note "adapt $adapt: $windows windows, $((spun / 1000)) us spun"
	within $busy 0 $((off + 20)) "thousandths of the CPUs' time used, adapt $adapt"
	within $woken 0 $((m * cpus / 1000)) "times that a thread of roost's ran in $m ms, adapt $adapt"
	within $windows 0 $(((m / 1000 + 3) * cpus)) "windows, adapt $adapt"
done
roost_down
pass
