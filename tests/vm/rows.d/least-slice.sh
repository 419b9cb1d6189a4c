# SPDX-License-Identifier: GPL-2.0-only
# least-slice.sh COUNT: a hog of nice 19 runs on CPU 1, and a task of nice 0 is woken there every 2 ms. Its deadline is always earlier:
# it preempts at once where the hog has had its least slice by then, and waits for the next tick where it has not.
# shellcheck shell=sh
. /root/guest-lib.sh
field() { echo "$2" | sed -n "s/.* $1 \([0-9]*\).*/\1/p"; }
roost_up --set slice=6ms
hog 120 1:nice=19:cpu=1 >/dev/null &
hog=$!
sleep 1.2 # until it counts
roost set slice-min=500us >/dev/null || fail "roost set slice-min=500us"
short=$(woken "$1" 1) || fail "woken failed"
note "least slice 500 us: $short"
roost set slice-min=6ms >/dev/null || fail "roost set slice-min=6ms"
long=$(woken "$1" 1) || fail "woken failed"
note "least slice 6 ms: $long"
kill $hog
within "$(field median_us "$short")" 0 1000 "us until it runs where the hog has had its least slice"
within "$(field median_us "$long")" 2000 12000 "us until it runs where the hog has not"
roost_down
pass
