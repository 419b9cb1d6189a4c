# SPDX-License-Identifier: GPL-2.0-only
# roost compare in a real kernel: both variants run and are counted, a failing run is shown and not counted, an ejected variant
# is named with the kernel's reason, Ctrl-C leaves a partial table; and nothing is loaded afterwards.
# shellcheck shell=sh
nothing_loaded() {
	[ "$(scx_state)" = disabled ] || fail "after $1 the scheduler is $(scx_state)"
	pidof roost >/dev/null && fail "after $1 a roost runs on"
	return 0
}

roost compare --variants kernel,warm --runs 2 --warmup 0 --json -- roost load pingpong -l 30 -w 0 >/tmp/c.json 2>/tmp/c.err || fail "compare: exit $? $(cat /tmp/c.err)"
[ "$(grep -c '"outcome": "ok"' /tmp/c.json)" = 4 ] || fail "not four runs counted"
grep -q '"rules": {' /tmp/c.json || fail "no rules counted under warm"
grep -q '"command: migrations": ' /tmp/c.json || fail "migrations of the command are not counted"
grep -q '"command: run delay": ' /tmp/c.json || fail "run delay of the command is not counted"
nothing_loaded "a comparison"

# every second run fails
roost compare --variants kernel,kernel --runs 2 --warmup 0 -- sh -c 'if [ -e /tmp/odd ]; then rm /tmp/odd; exit 3; fi; >/tmp/odd' >/tmp/c.txt 2>&1
grep -q 'failed: exit code 3' /tmp/c.txt || fail "a failing run is not shown"

# The command takes the scheduler off, as the kernel's emergency key does: the variant is named, and the comparison ends.
roost compare --variants kernel,warm --runs 3 --warmup 0 -- sh -c '[ "$(cat /sys/kernel/sched_ext/state)" = disabled ] || echo S >/proc/sysrq-trigger; sleep 1' >/tmp/c.txt 2>&1
code=$?
note "$(grep ejected /tmp/c.txt)"
[ $code = 4 ] || fail "after an ejection the exit code is $code"
grep -q 'of warm: ejected: ' /tmp/c.txt || fail "the ejected variant is not named"
nothing_loaded "an ejection"

roost compare --variants kernel,warm --runs 50 --warmup 0 -- sleep 1 >/tmp/c.txt 2>&1 &
pid=$!
i=0
while [ "$(scx_state)" != enabled ] && [ $i -lt 1200 ]; do
	sleep 0.1
	i=$((i + 1))
done
kill -INT $pid
wait $pid
code=$?
[ $code = 1 ] || fail "after Ctrl-C the exit code is $code"
grep -q '^interrupted: ' /tmp/c.txt || fail "no partial table after Ctrl-C"
nothing_loaded "Ctrl-C"
pass
