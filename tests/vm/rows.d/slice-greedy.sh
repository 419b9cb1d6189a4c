# slice-greedy.sh SECONDS: a thread that sets its bit for ever, and one that also cheats the protocol, gain nothing: within
# 5 % of half of the CPU they share with one that only computes, at the default slice-ext and at the longest.
. /root/guest-lib.sh
roost_up
for ext in 30us 1ms; do
	roost set slice-ext=$ext >/dev/null || fail "roost set slice-ext=$ext"
	for how in bit clear; do
		line=$(slice_stress greedy "$1" $how) || fail "slice_stress greedy $how: exit code $?"
		note "slice-ext=$ext $how: $line"
		within "$(field greedy_permille $line)" 475 525 "share of the greedy one, permille"
	done
done
roost_down
pass
