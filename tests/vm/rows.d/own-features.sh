# SPDX-License-Identifier: GPL-2.0-only
# What each feature does to placement, counted by the kernel's own tracepoint: the same load, features off and on,
# interleaved; bias-prev with util-fits must make migrations fewer.
# shellcheck shell=sh
sched=/sys/kernel/debug/sched
event=/sys/kernel/tracing/events/sched/sched_migrate_task
migrations() { # COMMAND...
	echo 'hist:keys=common_type' >$event/trigger
	"$@" >/dev/null || fail "$* failed"
	sed -n 's/^ *Hits: //p' $event/hist
	echo '!hist:keys=common_type' >$event/trigger
}
off() { for f in NO_SELECT_BIAS_PREV NO_UTIL_FITS_CAPACITY NO_IDLE_GRACE; do echo $f >$sched/features; done; }
on() { for f; do echo "$f" >$sched/features; done; }
load="hackbench -g 2 -f 4 -l 100 -s 100"
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
