# SPDX-License-Identifier: GPL-2.0-only
# stress-ng moves its processes through the scheduling classes, $1 seconds; so does our own, which knows all of them.
# shellcheck shell=sh
roost_up
policies "$1" 12 >/tmp/policies &
ours=$!
# Debian 12's stress-ng has the same as three older stressors.
if stress-ng --help | grep -q -e --cpu-sched; then
	set -- "$1" --cpu-sched 4
else
	set -- "$1" --schedpolicy 2 --race-sched 2 --resched 2
fi
seconds=$1
shift
stress-ng "$@" --timeout "$seconds" --metrics-brief --oomable >/tmp/stress 2>&1 ||
	fail "stress-ng $*: $(tail -n 5 /tmp/stress | tr '\n' ' ')"
wait $ours || fail "policies: $(cat /tmp/policies)"
note "$(cat /tmp/policies)"
within "$(field changes "$(cat /tmp/policies)")" 50 1000000 "changes of policy"
note "$(grep -cE 'metrc.* [a-z-]*sched' /tmp/stress) stressors: $*"
roost_alive "after stress-ng"
roost_down
pass
