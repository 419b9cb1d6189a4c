# slice-kernel.sh SECONDS: the kernel's own slice extension through libroost-slice, on a kernel that has it: with a C library
# that registers no rseq area (the library then does), and with one that registers the old short one, for which the kernel
# has no extension: that must be told, not be answered with a signal.
. /root/guest-lib.sh
line=$(GLIBC_TUNABLES=glibc.pthread.rseq=0 slice_stress kernel "$1") || fail "own rseq area: exit code $?: $line"
note "$line"
case $line in "kernel: "*) ;; *) fail "not the kernel's back end: $line" ;; esac
within "$(field sections $line)" 1 1000000000 "sections"
within "$(field granted $line)" 1 1000000000 "grants"
code=0
line=$(slice_stress kernel 1) || code=$?
note "$line"
case $code in
0) note "this C library registers the whole area" ;;
77) case $line in *"not for the area"*) ;; *) fail "the wrong reason: $line" ;; esac ;;
*) fail "the C library's own area: exit code $code" ;;
esac
pass
