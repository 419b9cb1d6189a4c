#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A short run of every libFuzzer target, from a fixed seed. `make libfuzzer` runs them for longer.
# Skipped where clang has no libFuzzer: tools/deps gets that of clang-19 alone.
set -eu
dir=build/fuzz
mkdir -p $dir
clang=$(for c in clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16; do command -v $c && break; done) || clang=
probe=$dir/probe
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { (void)d; (void)n; return 0; }' >$probe.c
if [ -z "$clang" ] || ! "$clang" -fsanitize=fuzzer,address,undefined $probe.c -o $probe 2>/dev/null; then
	echo "skipped: clang without libFuzzer; Debian has it in libclang-rt-19-dev"
	exit 77
fi
for c in tests/fuzz/fuzz_*.c; do
	name=${c##*/fuzz_}
	name=${name%.c}
	make -s $dir/fuzz_"$name"
	rm -rf $dir/short/"$name"
	mkdir -p $dir/short/"$name"
	if ! $dir/fuzz_"$name" -seed=1 -runs=4000 -max_len=1024 -timeout=10 -artifact_prefix=$dir/ \
		$dir/short/"$name" tests/fuzz/corpus/"$name" >$dir/"$name".log 2>&1; then
		tail -n 30 $dir/"$name".log
		echo "repeat: $dir/fuzz_$name $dir/crash-..."
		exit 1
	fi
	echo "$name: $(grep '^Done' $dir/"$name".log)"
done
