# SPDX-License-Identifier: GPL-2.0-only
# Nice 0 against nice 5 on one CPU: the weights' ratio, 1024 to 335, within 3 %.
# shellcheck shell=sh
roost_up
hog 20 1:cpu=1 1:cpu=1:nice=5 >/tmp/hogs || fail "hogs failed"
ratio=$(awk '$2 == 0 { a = $5 } $2 == 1 { b = $5 } END { printf "%d", 1000 * a / b }' /tmp/hogs)
note "$(tr '\n' ';' </tmp/hogs)"
within "$ratio" 2966 3148 "nice 0 : nice 5, thousandths (3057 is right)"
roost_down
pass
