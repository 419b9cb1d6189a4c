# SPDX-License-Identifier: GPL-2.0-only
# What a person does with a running roost: set, get, stat, explain, features, a new configuration, and what each says once
# roost is gone.
# shellcheck shell=sh
says() { # CODE WORDS COMMAND...
	want=$1 words=$2
	shift 2
	"$@" >/tmp/talk.out 2>/tmp/talk.err
	code=$?
	[ $code = "$want" ] || fail "$* exits with $code, not $want: $(cat /tmp/talk.err)"
	if [ "$want" = 0 ]; then from=/tmp/talk.out; else from=/tmp/talk.err; fi
	[ -z "$words" ] || grep -qF -- "$words" $from || fail "$* does not say '$words' but: $(head -n 3 $from)"
}
printf 'profile = mainline\nidle-grace = 1ms\n' >/tmp/roost.conf
roost_up --config /tmp/roost.conf --set util-fits
grep -q 'idle-smt=on idle-grace=1ms util-fits=on' /tmp/roost.out || fail "the line of state: $(cat /tmp/roost.out)"
says 0 "idle-grace=1ms" roost get idle-grace
says 0 "idle-smt=on" roost get SELECT_IDLE_SMT

# all or nothing; what is refused changes nothing
roost get >/tmp/before
for bad in idle-spin=-1 idle-spin=1000001us 'idle-spin=10 apples' idle-spin= idle-spin=99999999999999999999s; do
	says 2 "0..1s" roost set "$bad"
done
says 2 "unknown knob 'bias-perv'" roost set idle-smt=off bias-perv
says 2 "longer than slice=" roost set idle-smt=off slice=200us
roost get >/tmp/after
cmp -s /tmp/before /tmp/after || fail "a refused value changed something: $(diff /tmp/before /tmp/after)"
says 0 "" roost set slice=200us slice-min=100us NO_IDLE_GRACE select_bias_prev
says 0 "slice-min=100us" roost get slice-min
says 0 "bias-prev=on" roost get bias-prev
says 0 "idle-grace=0" roost get idle-grace
# what get prints, a configuration takes
says 0 "" roost set --config /tmp/before
roost get >/tmp/after
cmp -s /tmp/before /tmp/after || fail "set --config of what get printed: $(diff /tmp/before /tmp/after)"
says 0 "STATE and VALUE are those of the running roost" roost features

# a new configuration by SIGHUP; a wrong one is refused and changes nothing
printf 'profile = mainline\nidle-grace = 2ms\n' >/tmp/roost.conf
kill -HUP $roost_pid
i=0
until [ "$(roost get idle-grace)" = idle-grace=2ms ]; do
	i=$((i + 1))
	[ $i -lt 100 ] || fail "SIGHUP did not bring idle-grace=2ms: $(roost get idle-grace)"
	sleep 0.1
done
printf 'profile = mainline\nidle-grace = 3\n' >/tmp/roost.conf
kill -HUP $roost_pid
i=0
until grep -q 'roost.conf:2: idle-grace=3' /tmp/roost.err; do
	i=$((i + 1))
	[ $i -lt 100 ] || fail "SIGHUP with a wrong file was not refused: $(cat /tmp/roost.err)"
	sleep 0.1
done
says 0 "idle-grace=2ms" roost get idle-grace
roost_alive "after SIGHUP"

# counters and decisions
(i=0; while [ $i -lt 60 ]; do sleep 0.1; i=$((i + 1)); done) &
says 0 "nr_wakeups" roost stat
grep -q '^RULE' /tmp/talk.out || fail "stat shows no rules"
says 0 "wakeups/s" roost stat --interval 500ms --count 2
[ "$(wc -l </tmp/talk.out)" = 3 ] || fail "stat --count 2 prints $(wc -l </tmp/talk.out) lines, not a heading and 2"
says 0 " woken by " roost explain --seconds 2
grep -qE -- '-> CPU [0-9]+( \(idle\))? by [a-z]' /tmp/talk.out || fail "explain shows no rule: $(head -n 2 /tmp/talk.out)"
says 0 "PASSED OVER" roost explain --seconds 1 --summary
roost explain >/dev/null 2>&1 &
first=$!
sleep 1
says 1 "another 'roost explain' is reading" roost explain --seconds 1
kill -9 $first
sleep 3
says 0 "" roost explain --seconds 1

# gone: the kernel is asked, nothing is remembered
roost_killed
for c in "get" "stat" "explain" "set idle-smt"; do
	# shellcheck disable=SC2086
	says 1 "roost is not running" roost $c
done
says 0 "roost is not running" roost features
pass
