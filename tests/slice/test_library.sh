#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# libroost-slice as its users meet it: from C11 and C++, shared and static, by pkg-config and by dlopen(); what it
# exports, under which version; and that neither it nor the shim prints or ends a program.
set -eu
b=build
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad() { echo "test_library: $*" >&2; exit 1; }

mkdir -p "$tmp/lib/pkgconfig" "$tmp/include/roost"
cp include/roost/slice.h "$tmp/include/roost/"
cp -P $b/libroost-slice.* "$tmp/lib/"
sed "s|^prefix=.*|prefix=$tmp|" $b/roost-slice.pc >"$tmp/lib/pkgconfig/roost-slice.pc"
flags=
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$tmp/lib/pkgconfig
	export PKG_CONFIG_PATH
	pkg-config --exists roost-slice || bad "pkg-config does not find it"
	flags=$(pkg-config --cflags --libs roost-slice)
else
	flags="-I$tmp/include -L$tmp/lib -lroost-slice"
fi

cat >"$tmp/use.c" <<'C'
#include <roost/slice.h>
#include <string.h>
int main(void)
{
	struct roost_slice_stats stats;
	char why[200];
	int rc = roost_slice_register_process();

	roost_slice_begin();
	if (roost_slice_end())
		return 1;
	if (rc >= 0 || roost_slice_backend() != ROOST_SLICE_NONE || roost_slice_thread_stats(&stats) >= 0)
		return 2;
	if (roost_slice_process_stats(&stats) || stats.granted || roost_slice_set_max_threads(1024))
		return 3;
	roost_slice_why(why, sizeof(why));
	return strncmp(why, "none: ", 6) ? 4 : 0;
}
C
cp "$tmp/use.c" "$tmp/use.cc"
ROOST_SLICE=none
export ROOST_SLICE
warn="-Wall -Wextra -Werror -Wshadow"
try() { # WHAT COMMAND...
	what=$1
	shift
	code=0
	"$@" >"$tmp/out" 2>&1 || code=$?
	[ $code = 0 ] || { cat "$tmp/out" >&2; bad "$what: exit code $code"; }
	[ ! -s "$tmp/out" ] || { cat "$tmp/out" >&2; bad "$what: it prints"; }
}
# shellcheck disable=SC2086
{
	try "C11" cc -std=c11 -pedantic $warn -Wstrict-prototypes "$tmp/use.c" $flags -o "$tmp/c-shared"
	try "C11, static" cc -std=c11 $warn "$tmp/use.c" -I"$tmp/include" $b/libroost-slice.a -lpthread -o "$tmp/c-static"
	try "C11, wholly static" cc -static -std=c11 $warn "$tmp/use.c" -I"$tmp/include" $b/libroost-slice.a -lpthread -o "$tmp/c-alone"
	for std in c++11 c++20; do
		try "$std" c++ -std=$std -pedantic $warn "$tmp/use.cc" $flags -o "$tmp/$std-shared"
		LD_LIBRARY_PATH=$tmp/lib try "$std runs" "$tmp/$std-shared"
	done
}
LD_LIBRARY_PATH=$tmp/lib try "shared runs" "$tmp/c-shared"
try "static runs" "$tmp/c-static"
try "wholly static runs" "$tmp/c-alone"

# dlopen(): its thread-local storage must fit into what is left for late comers.
cat >"$tmp/late.c" <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*reg)(void) = lib ? (int (*)(void))dlsym(lib, "roost_slice_register") : 0;

	return argc < 2 || !reg || reg() >= 0;
}
C
cc "$tmp/late.c" -ldl -o "$tmp/late"
try "dlopen" "$tmp/late" $b/libroost-slice.so

soname=$(objdump -p $b/libroost-slice.so | sed -n 's/ *SONAME *//p')
[ "$soname" = libroost-slice.so.1 ] || bad "soname is $soname"
nm -D --defined-only $b/libroost-slice.so | awk '$2 != "A" { print $3 }' | sort >"$tmp/exported"
sed -n 's/^\t\(roost_slice_[a-z_]*\);/\1@@ROOST_SLICE_1/p' src/slice/libroost-slice.map | sort >"$tmp/promised"
cmp -s "$tmp/exported" "$tmp/promised" || { diff "$tmp/promised" "$tmp/exported" >&2; bad "exports are not what the version script promises"; }
# each function of the header has its page
for f in $(sed -n 's/^\(static inline \)\{0,1\}[a-z].* \**\(roost_slice_[a-z_]*[a-z]\)(.*/\2/p' include/roost/slice.h); do
	[ -e "man/$f.3" ] || bad "no man page for $f"
done
[ "$(nm -D --defined-only $b/libroost-spin.so | awk '$2 == "T"' | wc -l)" = 3 ] || bad "the shim exports more than three functions"

# The shim under a program that knows nothing of it, with nobody to grant anything: same result, no word.
if [ -x $b/examples/spinqueue ]; then
	LD_PRELOAD=$b/libroost-spin.so $b/examples/spinqueue 3 1 >"$tmp/out" 2>"$tmp/err" || bad "spinqueue fails under the shim"
	[ ! -s "$tmp/err" ] || bad "the shim prints"
	grep -q '^jobs [1-9]' "$tmp/out" || bad "spinqueue does nothing under the shim"
fi
echo "test_library: C11, C++11, C++20, shared, static, dlopen, exports, man pages, shim"
