# SPDX-License-Identifier: GPL-2.0-only
# The guest's side of kernel/figures: figures-guest.sh hackbench|pingpong ROUNDS KNOBS[;KNOBS]... LOAD-OPTION...
# A line a run: "run VARIANT NAME=VALUE...". What a variant needs and this kernel or roost has not got is left out, and
# said on stderr.
# shellcheck shell=sh
set -u
what=$1 rounds=$2 also=$3
shift 3
sched=/sys/kernel/debug/sched
spin=/sys/kernel/sched/idle_spin
event=/sys/kernel/tracing/events/sched/sched_migrate_task
switch=/sys/kernel/tracing/events/sched/sched_switch

field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" /tmp/load | head -n 1; }
# hits: "MIGRATIONS ACROSS-LLCS" of what the event's histogram has; a CPU is known by the first CPU of its LLC.
for c in /sys/devices/system/cpu/cpu[0-9]*; do
	echo "llc ${c##*cpu} $(sed 's/[-,].*//' "$c/cache/index3/shared_cpu_list")"
done >/tmp/llcs
hits() {
	awk '$1 == "llc" { llc[$2] = $3 }
		$1 == "{" { gsub(",", ""); from = to = ""
			for (i = 1; i < NF; i++) {
				if ($i == "orig_cpu:") from = $(i + 1)
				if ($i == "dest_cpu:") to = $(i + 1)
				if ($i == "hitcount:") n = $(i + 1)
			}
			all += n; if (llc[from] != llc[to]) far += n }
		END { printf "%d %d\n", all, far }' /tmp/llcs $event/hist
}
# "SLEPT PREEMPTED": how many times a task was switched out because it slept, and because another took its place.
outs() {
	awk '$1 == "{" { if ($3 + 0 == 0 || $3 + 0 == 256) preempted += $NF; else slept += $NF }
		END { printf "%d %d\n", slept, preempted }' $switch/hist
}
# Tasks that an idle or lighter CPU took from another: the fair class's balancer by the domains' own counters, roost by its.
pulled() {
	if [ "$(cat /sys/kernel/sched_ext/state 2>/dev/null)" = enabled ]; then
		roost stat | awk '$1 ~ /^steal-/ || $1 == "balance" { n += $2 } END { print n + 0 }'
	else
		awk '$1 == "version" && $2 < 17 { exit } /^domain/ { for (i = 11; i <= 33; i += 11) n += $i } END { print n + 0 }' /proc/schedstat
	fi
}
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

# Set once: to patch the tracepoint's code in and out for every run is what QEMU's emulation now and then dies of.
trigger=hist:keys=orig_cpu,dest_cpu:size=8192
switch_trigger='hist:keys=prev_state:size=128 if prev_pid != 0'

hackbench_once() { # VARIANT OPTION...
	variant=$1
	shift
	was=$(delay) kicked=$(ipis) took=$(pulled) moved=$(hits) out=$(outs)
	roost load hackbench "$@" >/tmp/load || {
		echo "$variant: roost load hackbench $* failed" >&2
		exit 1
	}
	waited=$(($(delay) - was)) kicked=$(($(ipis) - kicked)) took=$(($(pulled) - took))
	now=$(hits) outs=$(outs)
	echo "run $variant seconds=$(field seconds) migrations=$((${now% *} - ${moved% *})) across_llcs=$((${now#* } - ${moved#* })) pulled=$took slept=$((${outs% *} - ${out% *})) preempted=$((${outs#* } - ${out#* })) interrupts=$kicked user_s=$(field user_seconds) system_s=$(field system_seconds) run_delay_us=$waited p95_ns=$(field p95) p99_ns=$(field p99)"
}

once_roost() { # KNOBS OPTION...: the SMT step is on in the kernel, so it is in roost
	knobs=$1 name=roost$(echo "$1" | sed 's/^\(.\)/:\1/; s/=on//g; s/ /,/g')
	shift
	# shellcheck disable=SC2046
	if roost_up --set idle-smt=on $(for k in $knobs; do echo "--set $k"; done); then
		hackbench_once "$name" "$@"
		roost_down
	elif [ $r = 1 ]; then
		echo "$name: roost did not start" >&2
	fi
}

case $what in
hackbench)
	echo 1 >/proc/sys/kernel/sched_schedstats
	echo "$trigger" >$event/trigger
	echo "$switch_trigger" >$switch/trigger
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
		once_roost "" "$@"
		once_roost "bias-prev=on util-fits=on" "$@"
		once_roost "idle-grace=1ms" "$@"
		left=$also
		while [ -n "$left" ]; do
			once_roost "${left%%;*}" "$@"
			case $left in *";"*) left=${left#*;} ;; *) left='' ;; esac
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
