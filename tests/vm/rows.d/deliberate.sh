# SPDX-License-Identifier: GPL-2.0-only
# Goes wrong on purpose, so that the runner proves that it would notice.
# shellcheck shell=sh
case $1 in
pass) pass "and the rows behind it still run" ;;
fail) fail "because it said so" ;;
nothing) exit 0 ;;
bug) echo "<1>BUG: not a real one, written by a test row" >/dev/kmsg; pass "but the log says otherwise" ;;
hang) sleep 60 ;;
stale) echo "<1>Oops: int3: not a real one, written by a test row" >/dev/kmsg; echo c >/proc/sysrq-trigger ;;
die) echo c >/proc/sysrq-trigger ;;
esac
