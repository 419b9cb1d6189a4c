# SPDX-License-Identifier: GPL-2.0-only
# Features are switched while a load runs, every combination of $1 rounds.
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
[ ! -e /tmp/lost ] || fail "$(cat /tmp/lost)"
roost_down
pass
