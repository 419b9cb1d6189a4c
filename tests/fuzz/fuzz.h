/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h - a fuzz target is one C file with LLVMFuzzerTestOneInput. clang's libFuzzer drives it with inputs of
 * its own (make libfuzzer); replay.c drives the same function over the files kept in corpus/ (make fuzz, ./check), with
 * any compiler.
 */
#ifndef ROOST_TESTS_FUZZ_H
#define ROOST_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, never compiled out; libFuzzer and the replay both see the abort. */
#define MUST(x)                                                                     \
	do {                                                                        \
		if (!(x)) {                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			abort();                                                    \
		}                                                                   \
	} while (0)

#endif
