# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# lib.sh - what the command-line tests share. A test sources it, calls the functions, and ends with `finish`.
roost=${ROOST:-build/roost}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nr_failed=0 nr_passed=0

# Run a command; keep its output and exit code.
run() {
	code=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
	what=$*
}
failed() {
	nr_failed=$((nr_failed + 1))
	echo "FAILED: $what: $1 (exit code $code)"
	sed 's/^/    out: /' "$work/out" | head -n 10
	sed 's/^/    err: /' "$work/err" | head -n 10
}
passed() { nr_passed=$((nr_passed + 1)); }

# It exited so, and standard error (or output, when it succeeded) has these words in it.
expect() { # CODE [WORDS]
	if [ "$code" != "$1" ]; then failed "expected exit code $1"; return 0; fi
	if [ "$1" = 0 ]; then from=$work/out; else from=$work/err; fi
	if [ $# -gt 1 ] && ! grep -qF -- "$2" "$from"; then failed "does not say '$2'"; return 0; fi
	passed
}
# A refusal: the exit code, the words, one line on standard error, nothing on standard output.
refused() { # CODE WORDS
	if [ -s "$work/out" ]; then failed "a refusal wrote to standard output"; return 0; fi
	if [ "$(wc -l <"$work/err")" != 1 ]; then failed "the refusal is not one line"; return 0; fi
	expect "$@"
}
is_json() { # [JQ-CONDITION]
	if ! jq -e . "$work/out" >/dev/null 2>&1; then failed "not JSON"; return 0; fi
	if [ $# -gt 0 ] && ! jq -e "$1" "$work/out" >/dev/null 2>&1; then failed "JSON, but not: $1"; return 0; fi
	passed
}
finish() {
	# the runner counts cases by these lines
	echo "[  PASSED  ] $nr_passed test(s)."
	[ $nr_failed = 0 ] || { echo "[  FAILED  ] $nr_failed test(s)"; exit 1; }
}
