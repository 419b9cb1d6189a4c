# SPDX-License-Identifier: GPL-2.0-only
# Cpuset partitions appear and go under load, root and isolated ones, one of which splits the SMT siblings of a core.
# shellcheck shell=sh
cd /sys/fs/cgroup || fail "no cgroup2"
grep -qw cpuset cgroup.subtree_control || fail "no cpuset controller"
roost_up
busy 6
mkdir part || fail "cannot make a cgroup"
# 1: half of core 0 (its sibling stays outside); 2-3: a whole core; 1-2: parts of two cores.
for cpus in 1 2-3 1-2 1; do
	for kind in root isolated; do
		echo $cpus >part/cpuset.cpus || fail "cpuset.cpus $cpus is refused"
		echo $kind >part/cpuset.cpus.partition || fail "partition $kind is refused"
		[ "$(cat part/cpuset.cpus.partition)" = $kind ] || fail "partition of $cpus: $(cat part/cpuset.cpus.partition)"
		sh -c 'echo 0 >/sys/fs/cgroup/part/cgroup.procs && exec sleeper 2 2' >/tmp/sleeper &
		sleepers=$!
		sh -c 'echo 0 >/sys/fs/cgroup/part/cgroup.procs && exec hog 1 3' >/tmp/inside || fail "hogs inside $cpus ($kind) fail"
		wait $sleepers || fail "sleepers inside $cpus ($kind) fail"
		awk '$5 < 20 { bad = 1 } END { exit bad || NR != 3 }' /tmp/inside ||
			fail "inside $cpus ($kind) a hog starved: $(tr '\n' ';' </tmp/inside)"
		within "$(field min_wakeups "$(cat /tmp/sleeper)")" 10 2000 "wakeups in $cpus ($kind)"
		echo member >part/cpuset.cpus.partition
		roost_alive "after partition $cpus ($kind)"
	done
done
i=0
while ! rmdir part 2>/dev/null; do
	i=$((i + 1))
	[ $i -lt 50 ] || fail "the partition cannot be removed"
	sleep 0.1
done
roost_down
pass
