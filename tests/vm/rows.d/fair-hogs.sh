# SPDX-License-Identifier: GPL-2.0-only
# N+1 equal hogs on N CPUs, 10 s: equal shares within 5 %.
# shellcheck shell=sh
n=$(nproc)
roost_up "$@"
hog 10 $((n + 1)) >/tmp/hogs || fail "hogs failed"
set -- $(awk '{ t += $5; if (min == "" || $5 < min) min = $5; if ($5 > max) max = $5 }
	END { m = t / NR; printf "%d %d %d", m, 1000 * (m - min) / m, 1000 * (max - m) / m }' /tmp/hogs)
note "mean $1 ms; least $2 permille below, most $3 permille above"
within "$1" 1000 10000 "mean CPU time, ms"
within "$2" 0 50 "least share, permille below the mean"
within "$3" 0 50 "greatest share, permille above the mean"
roost_down
pass
