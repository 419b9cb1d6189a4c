#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Same seed, same bytes: with gcc and clang, -O0 and -O2, and at any number of jobs.
. tests/cli/lib.sh
dir=build/sim-same
mkdir -p $dir
make -s build/gen/machines.c build/roost >/dev/null
src="tests/sim/digest.c build/gen/machines.c src/measure/hist.c src/run/knobs.c src/run/knobs_config.c src/run/units.c"
src="$src $(echo src/sim/*.c src/topology/*.c)"
clang=$(for c in clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang; do command -v $c && break; done) || clang=
first=
for cc in gcc ${clang:+"$clang"}; do
	for level in -O0 -O2; do
		name=$dir/digest-$(basename "$cc")$level
		# shellcheck disable=SC2086
		$cc -std=gnu11 -D_GNU_SOURCE $level -w -Isrc -Iinclude $src -o "$name" -lhwloc -ljansson -lm
		run "$name"
		cp "$work/out" "$name.txt"
		expect 0 "hackbench"
		: "${first:=$name.txt}"
		if ! cmp -s "$first" "$name.txt"; then failed "differs from $first"; else passed; fi
	done
done
set -- sim --machine zen3-64x2 --compare mainline,warm,idle-grace=1ms --seeds 3 --json
for jobs in 1 2 7; do
	run "$roost" "$@" --jobs $jobs hackbench -g 2 -f 10 -l 50 --pipe
	is_json '.simulated'
	cp "$work/out" "$work/jobs$jobs"
	if ! cmp -s "$work/jobs1" "$work/jobs$jobs"; then failed "--jobs $jobs changes the output"; else passed; fi
done
run "$roost" sim --machine guest-2 --seed 5 --json hackbench -g 1 -f 4 -l 100 --pipe
cp "$work/out" "$work/five"
run "$roost" sim --machine guest-2 --seed 6 --json hackbench -g 1 -f 4 -l 100 --pipe
if cmp -s "$work/five" "$work/out"; then failed "another seed gives the same run"; else passed; fi
finish
