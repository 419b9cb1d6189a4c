# SPDX-License-Identifier: GPL-2.0-only
# A kernel of our own (docs/kernel.md): every feature is off as it boots, each goes on and off while a load runs, and a
# value that a knob does not take is refused and changes nothing.
# shellcheck shell=sh
sched=/sys/kernel/debug/sched
spin=/sys/kernel/sched/idle_spin
features="SELECT_BIAS_PREV UTIL_FITS_CAPACITY IDLE_GRACE"

state() { tr ' ' '\n' <$sched/features | grep -x "\(NO_\)\{0,1\}$1"; }
is() { # FEATURE EXPECTED
	[ "$(state "$1")" = "$2" ] || fail "$sched/features has '$(state "$1")' where $2 is right"
}
# refused FILE VALUE...: the write fails with EINVAL and what was there still is.
refused() {
	file=$1
	shift
	was=$(cat "$file")
	for value; do
		# dd, because the shell's own printf does not say why a write failed.
		if printf %s "$value" | dd of="$file" bs=64 2>/tmp/refused; then fail "$file took '$value'"; fi
		grep -q 'Invalid argument\|out of range' /tmp/refused || fail "$file with '$value': $(cat /tmp/refused)"
		[ "$(cat "$file")" = "$was" ] || fail "$file refused '$value' and changed from $was to $(cat "$file")"
	done
}
taken() { # FILE VALUE...
	file=$1
	shift
	for value; do
		echo "$value" >"$file" || fail "$file did not take $value"
		[ "$(cat "$file")" = "$value" ] || fail "$file holds $(cat "$file") after $value was written"
	done
}

for f in $features; do is $f NO_$f; done
is SELECT_IDLE_SMT SELECT_IDLE_SMT
[ "$(cat $spin)" = 0 ] || fail "idle_spin boots as $(cat $spin)"
[ "$(cat $sched/idle_grace_ns)" = 1000000 ] || fail "idle_grace_ns boots as $(cat $sched/idle_grace_ns)"
[ "$(cat $sched/idle_grace_max_queued)" = 0 ] || fail "idle_grace_max_queued boots as $(cat $sched/idle_grace_max_queued)"

# An empty write is no write at all, so it is not among these.
refused $spin -1 1000001 4294967296 18446744073709551616 +5 ' 5' 0x10 1e3 20us 5.0 on "5 5" ,
refused $sched/idle_grace_ns 1000000001 -1 18446744073709551616 1ms x
refused $sched/idle_grace_max_queued 65536 -1 many
was=$(cat $sched/features)
if echo SELECT_BIAS_PREF 2>/dev/null >$sched/features; then fail "features took SELECT_BIAS_PREF"; fi
[ "$(cat $sched/features)" = "$was" ] || fail "features changed by a name it does not know"
taken $spin 1 1000000 50 0
taken $sched/idle_grace_ns 0 1 1000000000 1000000
taken $sched/idle_grace_max_queued 1 65535 4 0

# On and off under load, each alone and all together, with tasks that come and go.
busy 2
(while hackbench -g 1 -f 4 -l 20 >/dev/null; do :; done; echo "hackbench failed" >/tmp/lost) &
for round in 1 2; do
	for f in $features NO_SELECT_IDLE_SMT; do
		echo $f >$sched/features
		is "${f#NO_}" $f
		sleep 0.5
	done
	for us in 20 1000000 220 0 50; do
		echo $us >$spin
		sleep 0.3
	done
	note "round $round: all on, idle_spin $(cat $spin)"
	sleep 1
	for f in $features; do
		echo NO_$f >$sched/features
		is $f NO_$f
	done
	echo SELECT_IDLE_SMT >$sched/features
	echo 0 >$spin
	sleep 0.3
done
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
pass
