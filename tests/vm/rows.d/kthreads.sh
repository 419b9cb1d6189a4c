# SPDX-License-Identifier: GPL-2.0-only
# ksoftirqd of a CPU with a flood and hogs on it, and tasks preempted while migration is disabled: none starves.
# shellcheck shell=sh
roost_up
cpu=1
ksoftirqd=$(ps -o pid,comm | awk -v n="ksoftirqd/$cpu" '$2 == n { print $1 }')
[ -n "$ksoftirqd" ] || fail "no ksoftirqd/$cpu"
before=$(cut -d' ' -f3 /proc/"$ksoftirqd"/schedstat)
waited=$(cut -d' ' -f2 /proc/"$ksoftirqd"/schedstat)
softirq 10 $cpu >/tmp/softirq &
flood=$!
migdis 10 8 /root/migdis.bpf.o >/tmp/migdis &
disabled=$!
hog 10 1:cpu=$cpu 1:cpu=$cpu:nice=19 4 >/tmp/hogs || fail "hogs failed"
wait $flood || fail "the flood failed: $(cat /tmp/softirq)"
wait $disabled || fail "migdis failed"
runs=$(($(cut -d' ' -f3 /proc/"$ksoftirqd"/schedstat) - before))
wait_ms=$((($(cut -d' ' -f2 /proc/"$ksoftirqd"/schedstat) - waited) / 1000000))
note "$(cat /tmp/softirq), $(cat /tmp/migdis)"
note "ksoftirqd/$cpu ran $runs times and waited $wait_ms ms in all"
within "$(field min_rounds "$(cat /tmp/migdis)")" 2 1000000000 "rounds of the unluckiest migration-disabled task"
within "$(field max_round_ms "$(cat /tmp/migdis)")" 0 5000 "longest round of a migration-disabled task, ms"
within "$(awk '$2 != 1 && $7 > m { m = $7 } END { print m + 0 }' /tmp/hogs)" 0 3000 "longest wait of a nice 0 hog, ms"
# A datagram is only done with when ksoftirqd has run: without it the socket buffer, 277 of them, stays full.
within "$(field sent "$(cat /tmp/softirq)")" 556 100000000 "datagrams sent"
within "$wait_ms" 0 9000 "wait of ksoftirqd in 10 s, ms"
roost_down
pass
