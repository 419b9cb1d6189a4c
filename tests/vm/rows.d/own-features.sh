# SPDX-License-Identifier: GPL-2.0-only
# What each feature does to placement, counted by the kernel's own tracepoint: the same load, features off and on,
# interleaved; bias-prev with util-fits must make migrations fewer.
# shellcheck shell=sh
sched=/sys/kernel/debug/sched
event=/sys/kernel/tracing/events/sched/sched_migrate_task
# Switched on once: QEMU's emulation may die of code that is patched while other CPUs run it.
echo 'hist:keys=common_type' >$event/trigger
hits() { sed -n 's/^ *Hits: //p' $event/hist; }
migrations() { # COMMAND...
	before=$(hits)
	"$@" >/dev/null || fail "$* failed"
	echo $(($(hits) - before))
}
off() { for f in NO_SELECT_BIAS_PREV NO_UTIL_FITS_CAPACITY NO_IDLE_GRACE; do echo $f >$sched/features; done; }
on() { for f; do echo "$f" >$sched/features; done; }
# shellcheck disable=SC2086
load="roost load hackbench -g 8 -f 4 -l 1000 -s 100 -T -p"
total_off=0 total_fits=0 total_grace=0
for i in 1 2 3; do
	off
	n=$(migrations $load); total_off=$((total_off + n)); line=$n
	on SELECT_BIAS_PREV UTIL_FITS_CAPACITY
	n=$(migrations $load); total_fits=$((total_fits + n)); line="$line $n"
	off
	on IDLE_GRACE
	n=$(migrations $load); total_grace=$((total_grace + n)); line="$line $n"
	note "migrations: off, bias-prev+util-fits, idle-grace: $line"
done
off
[ $total_off -gt 0 ] || fail "no migration at all with the features off: nothing to compare"
[ $((total_fits * 10)) -le $((total_off * 9)) ] ||
	fail "bias-prev and util-fits on: $total_fits migrations, off: $total_off"
note "in all: $total_off off, $total_fits with bias-prev and util-fits, $total_grace with idle-grace"
pass
