# SPDX-License-Identifier: GPL-2.0-only
# Random affinity masks on $1 busy threads for $2 seconds: none outside its mask, none left behind.
# shellcheck shell=sh
roost_up
affinity "$1" "$2" >/tmp/affinity || fail "$(cat /tmp/affinity)"
note "$(cat /tmp/affinity)"
within "$(field changes "$(cat /tmp/affinity)")" 100 100000000 "changes of mask"
roost_down
pass
