# SPDX-License-Identifier: GPL-2.0-only
# The previous CPU has just left idle for the waker, other CPUs idle: with idle-grace=1ms the wakee waits there for the moment it
# takes, and fewer CPUs are woken from idle. $1 times, in turn with the feature off. (It is not to be stolen in the meantime.)
# shellcheck shell=sh
roost_up --set steal-delay=8ms
off=0 on=0
for grace in 0 1ms 0 1ms; do
	roost set idle-grace=$grace >/dev/null || fail "roost set idle-grace=$grace"
	was=$(counter nr_kicks_idle)
	line=$(wakewhere "$1" fresh) || fail "wakewhere failed"
	kicks=$(($(counter nr_kicks_idle) - was))
	note "idle-grace=$grace: $line; $kicks CPUs woken from idle"
	stayed=$(field cpu0 "$line")
	case $grace in
	0) off=$((off + kicks)); within "$stayed" 0 $(($1 / 4)) "woken on the CPU that is busy by now, without grace" ;;
	*) on=$((on + kicks)); within "$stayed" $(($1 / 2)) "$1" "woken on the CPU that has just left idle, with grace" ;;
	esac
done
within $((100 * on / off)) 0 90 "CPUs woken from idle with idle-grace, % of those without"
roost_down
pass
