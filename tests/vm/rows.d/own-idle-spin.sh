# SPDX-License-Identifier: GPL-2.0-only
# idle_spin: a wakeup that arrives while the CPU busy-waits needs no interrupt. Two threads wake each other across two
# CPUs; the interrupts a round trip takes are counted with and without. With 1 s, an idle machine still takes its work.
# shellcheck shell=sh
spin=/sys/kernel/sched/idle_spin
# Reschedule and function call interrupts, all CPUs.
ipis() { awk '$1 == "RES:" || $1 == "CAL:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
rounds=2000
trip() { # US: interrupts for $rounds round trips
	echo "$1" >$spin
	before=$(ipis)
	roost load pingpong -l $rounds -c 0,1 >/tmp/pingpong || fail "pingpong failed with idle_spin $1"
	echo $(($(ipis) - before))
}
without=$(trip 0)
with=$(trip 100000)
note "interrupts for $rounds round trips: $without without, $with with idle_spin"
[ "$without" -ge $rounds ] || fail "without idle_spin $rounds round trips took only $without interrupts: nothing to save here"
[ "$with" -le $((without / 4)) ] || fail "with idle_spin $with interrupts, without $without: the polling flag does not spare them"

# A second of waiting delays no timer and no task.
echo 1000000 >$spin
begin=$(awk '{ printf "%d", $1 * 100 }' /proc/uptime)
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done
took=$(($(awk '{ printf "%d", $1 * 100 }' /proc/uptime) - begin))
within $took 40 300 "hundredths of a second for ten sleeps of 0.05 s beside idle_spin 1000000"

echo 0 >$spin
pass
