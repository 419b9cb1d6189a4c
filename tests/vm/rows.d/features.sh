# SPDX-License-Identifier: GPL-2.0-only
# What the placement features do to a load that leaves CPUs idle, against roost's base, $1 rounds in turn: util-fits with bias-prev
# makes migrations at least 60 % fewer and costs no time, and its rules count.
# The 16 CPUs take turns in one host thread: whoever waits there waits up to 16 times as long, and steal-delay is 16 times its
# default for all. A new task's first place is no migration.
# shellcheck shell=sh
roost_up --set steal-delay=8ms
off="idle-smt=off util-fits=off bias-prev=off idle-grace=0"
moved() { roost stat --json | awk '
	/": [{]/ { fork = /"fork-/ } !fork && /"(core|llc|node|far)": [0-9]/ { gsub(/[^0-9]/, ""); n += $0 } END { print n + 0 }'; }
cs() { awk '{ printf "%d", $1 * 100 }' /proc/uptime; }
run() { # LABEL KNOBS...: adds to the label's sums
	label=$1
	shift
	# shellcheck disable=SC2086
	roost set $off "$@" >/dev/null || fail "roost set $off $*"
	m=$(moved) k=$(counter nr_kicks_idle) w=$(counter nr_wakeups) b=$(rule bias-prev-idle) f=$(rule bias-prev-fits) t=$(cs)
	hackbench -g 1 -f 20 -l 200 -s 100 >/dev/null || fail "hackbench failed"
	t=$(($(cs) - t)) m=$(($(moved) - m)) k=$(($(counter nr_kicks_idle) - k)) w=$(($(counter nr_wakeups) - w))
	b=$(($(rule bias-prev-idle) - b)) f=$(($(rule bias-prev-fits) - f))
	note "$label: $w wakeups, $m migrations, $k CPUs woken from idle, bias-prev-idle $b, bias-prev-fits $f, $((t * 10)) ms"
	eval "${label}_m=\$((\${${label}_m:-0} + m)) ${label}_k=\$((\${${label}_k:-0} + k)) ${label}_t=\$((\${${label}_t:-0} + t))"
	eval "${label}_b=\$((\${${label}_b:-0} + b)) ${label}_f=\$((\${${label}_f:-0} + f))"
}
i=0
while [ $i -lt "$1" ]; do
	run base
	run both util-fits=on bias-prev=on
	i=$((i + 1))
done
# shellcheck disable=SC2154
within $base_b 0 0 "chosen by bias-prev while it is off"
within $((both_b > 0)) 1 1 "bias-prev-idle chose"
within $((both_f > 0)) 1 1 "bias-prev-fits chose"
within $((100 * both_m / base_m)) 0 40 "migrations with util-fits and bias-prev, % of the base"
within $((100 * both_t / base_t)) 0 110 "time with util-fits and bias-prev, % of the base"
roost_down
pass
