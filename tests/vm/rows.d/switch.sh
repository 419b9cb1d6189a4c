# SPDX-License-Identifier: GPL-2.0-only
# Features are switched while a load runs: one after the other, $1 rounds, then all of them on and off at once, $2 times.
# shellcheck shell=sh
roost_up
busy 3
(while hackbench -g 1 -f 4 -l 20 >/dev/null; do :; done; echo "hackbench failed" >/tmp/lost) &
roost features >/tmp/features 2>/dev/null || true
i=0
while [ $i -lt "$1" ]; do
	for f in idle-smt=off idle-grace=1ms util-fits=on idle-grace=0 idle-smt=on util-fits=off steal-delay=0 steal-delay=500us slice=1ms slice=3ms; do
		roost set $f >/tmp/set 2>&1 || fail "roost set $f: $(cat /tmp/set)"
		sleep 0.1
	done
	i=$((i + 1))
	roost_alive "after switching features"
done
i=0
while [ $i -lt "$2" ]; do
	roost set idle-smt=on idle-grace=1ms util-fits=on bias-prev=on >/tmp/set 2>&1 || fail "roost set, all on: $(cat /tmp/set)"
	roost set idle-smt=off idle-grace=0 util-fits=off bias-prev=off >/tmp/set 2>&1 || fail "roost set, all off: $(cat /tmp/set)"
	i=$((i + 1))
done
roost_alive "after switching all features on and off $2 times"
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
roost_down
pass
