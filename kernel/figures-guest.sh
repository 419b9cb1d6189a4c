# SPDX-License-Identifier: GPL-2.0-only
# The guest's side of kernel/figures: figures-guest.sh hackbench|pingpong ROUNDS LOAD-OPTION...
# A line a run: "run VARIANT NAME=VALUE...". What a variant needs and this kernel or roost has not got is left out, and
# said on stderr.
# shellcheck shell=sh
set -u
what=$1 rounds=$2
shift 2
sched=/sys/kernel/debug/sched
spin=/sys/kernel/sched/idle_spin
event=/sys/kernel/tracing/events/sched/sched_migrate_task

field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" /tmp/load | head -n 1; }
delay() { awk '/^cpu/ { n += $9 } END { printf "%.0f\n", n / 1000 }' /proc/schedstat; }
ipis() { awk '$1 == "RES:" || $1 == "CAL:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
set_features() {
	for f in SELECT_BIAS_PREV UTIL_FITS_CAPACITY IDLE_GRACE; do
		case " $* " in
		*" $f "*) ;;
		*) f=NO_$f ;;
		esac
		if grep -qw "${f#NO_}\|NO_${f#NO_}" $sched/features; then echo $f >$sched/features; fi
	done
}
roost_pid=''
roost_up() {
	roost run "$@" >/tmp/roost.out 2>/tmp/roost.err &
	roost_pid=$!
	i=0
	while [ "$(cat /sys/kernel/sched_ext/state 2>/dev/null)" != enabled ]; do
		if ! kill -0 $roost_pid 2>/dev/null || [ $i -gt 600 ]; then
			cat /tmp/roost.err >&2
			roost_pid=''
			return 1
		fi
		i=$((i + 1))
		sleep 0.1
	done
}
roost_down() {
	[ -n "$roost_pid" ] || return 0
	kill -INT $roost_pid
	wait $roost_pid
	roost_pid=''
}

hackbench_once() { # VARIANT OPTION...
	variant=$1
	shift
	echo 'hist:keys=common_type' >$event/trigger
	was=$(delay)
	roost load hackbench "$@" >/tmp/load || {
		echo "$variant: roost load hackbench $* failed" >&2
		exit 1
	}
	waited=$(($(delay) - was))
	moved=$(sed -n 's/^ *Hits: //p' $event/hist)
	echo '!hist:keys=common_type' >$event/trigger
	echo "run $variant seconds=$(field seconds) migrations=$moved switches=$(field switches) user_s=$(field user_seconds) system_s=$(field system_seconds) run_delay_us=$waited p95_ns=$(field p95) p99_ns=$(field p99)"
}

case $what in
hackbench)
	echo 1 >/proc/sys/kernel/sched_schedstats
	r=0
	while [ $r -lt "$rounds" ]; do
		r=$((r + 1))
		set_features
		hackbench_once kernel "$@"
		if [ -d $sched ] && grep -q BIAS_PREV $sched/features; then
			set_features SELECT_BIAS_PREV UTIL_FITS_CAPACITY
			hackbench_once kernel:bias-prev,util-fits "$@"
			set_features IDLE_GRACE
			hackbench_once kernel:idle-grace "$@"
			set_features
		fi
		for knobs in "" "bias-prev=on util-fits=on" "idle-grace=1ms"; do
			name=roost$(echo "$knobs" | sed 's/^\(.\)/:\1/; s/=[a-z0-9]*//g; s/ /,/')
			# shellcheck disable=SC2086
			if roost_up ${knobs:+--set "$knobs"}; then
				hackbench_once "$name" "$@"
				roost_down
			elif [ $r = 1 ]; then
				echo "$name: roost did not start" >&2
			fi
		done
	done
	;;
pingpong)
	[ -e $spin ] || {
		echo "this kernel has no $spin" >&2
		exit 1
	}
	r=0
	while [ $r -lt "$rounds" ]; do
		r=$((r + 1))
		for us in 0 20 50 220; do
			echo $us >$spin
			was=$(ipis)
			roost load pingpong "$@" >/tmp/load || exit 1
			n=$(($(ipis) - was))
			ops=$(field ops)
			echo "run idle_spin:${us}us seconds=$(field seconds) $(awk -v s="$(field seconds)" -v o="$ops" -v n=$n 'BEGIN { printf "us_per_trip=%.2f interrupts_per_trip=%.3f", s * 1e6 / o, n / o }') p95_ns=$(field p95) p99_ns=$(field p99)"
		done
		echo 0 >$spin
	done
	;;
esac
