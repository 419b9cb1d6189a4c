# SPDX-License-Identifier: GPL-2.0-only
# slice-kernel.sh SECONDS: the kernel's own slice extension through libroost-slice, on a kernel that has it, with the three
# kinds of C library there are: one that registers no rseq area (the library then does), one that registers the whole
# area, and one that registers the old short one, for which the kernel has no extension: that must be told, not be
# answered with a signal. What the library counts is compared with what the kernel counts.
# shellcheck shell=sh
debug=/sys/kernel/debug/rseq
kernel_count() { sed -n "s/^$1: *//p" $debug/stats; }
[ -e $debug/slice_ext_nsec ] || fail "this kernel has no rseq slice extension"
[ -n "$(kernel_count sgrant)" ] || fail "this kernel keeps no rseq statistics (CONFIG_RSEQ_STATS)"
# The most it may be: emulated, a section takes many times what it does on a real machine.
echo 50000 >$debug/slice_ext_nsec || fail "slice_ext_nsec did not take 50000"

granted() { # WHAT SECONDS COMMAND...: one run that must get grants
	what=$1 seconds=$2
	shift 2
	g=$(kernel_count sgrant) y=$(kernel_count syield)
	line=$("$@" kernel "$seconds" 2>/tmp/stress.err) || fail "$what: exit code $?: $line $(cat /tmp/stress.err)"
	g=$(($(kernel_count sgrant) - g)) y=$(($(kernel_count syield) - y))
	note "$what: $line"
	note "$what: the kernel itself counts $g granted, $y yielded, $(kernel_count sexpir) expired, $(kernel_count srevok) revoked, $(kernel_count sabort) aborted in all"
	case $line in "kernel: "*) ;; *) fail "$what: not the kernel's back end: $line" ;; esac
	within "$(field sections "$line")" 1 1000000000 "sections"
	within "$(field granted "$line")" 1 "$g" "grants that the library saw, of those the kernel gave"
	within "$(field given_back "$line")" 1 "$y" "given back in time; yields that the kernel saw"
	[ "$(field given_back "$line")" = "$y" ] || fail "$what: $y yields by the kernel's count, $(field given_back "$line") by the library's"
}

granted "no area from the C library" "$1" env GLIBC_TUNABLES=glibc.pthread.rseq=0 slice_stress
short=0
for how in static dynamic newer; do
	case $how in
	static) set -- "$1" slice_stress ;;
	dynamic) set -- "$1" slice_stress_dynamic ;;
	newer)
		[ -e /root/libc/ld-linux-x86-64.so.2 ] || continue
		set -- "$1" /root/libc/ld-linux-x86-64.so.2 --library-path /root/libc /bin/slice_stress_dynamic
		;;
	esac
	seconds=$1
	shift
	line=$("$@" kernel 1 2>&1)
	code=$?
	case $code in
	0)
		granted "$how: the C library's whole area" "$seconds" "$@"
		whole=1
		;;
	77)
		note "$how: $line"
		case $line in *"not for the area"*) short=1 ;; *) fail "$how: the wrong reason: $line" ;; esac
		;;
	*) fail "$how, the C library's own area: exit code $code: $line" ;;
	esac
	set -- "$seconds"
done
[ -n "${whole:-}" ] || fail "no C library here registers the whole area"
[ $short = 1 ] || note "no C library here registers the short area"

# Its bounds are the kernel's: refused, and what was there stays.
for ns in 4999 50001; do
	if echo $ns 2>/dev/null >$debug/slice_ext_nsec; then fail "slice_ext_nsec took $ns"; fi
done
[ "$(cat $debug/slice_ext_nsec)" = 50000 ] || fail "slice_ext_nsec changed to $(cat $debug/slice_ext_nsec)"
echo 5000 >$debug/slice_ext_nsec
pass "the kernel granted $(kernel_count sgrant), $(kernel_count syield) given back"
