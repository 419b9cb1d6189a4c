/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed amounts of CPU work. Never calibrated by a clock: a loop that is timed first does less work on a
 * busy machine, and would hide what is to be measured.
 */
#ifndef ROOST_LOAD_WORK_H
#define ROOST_LOAD_WORK_H

#include <stddef.h>
#include <stdint.h>

/*
 * @steps steps of a dependent chain over @buf of @words words (a power of two): about 1 ns a step on a
 * 4 GHz machine while the buffer is in L2.
 */
static inline uint64_t work_chain(uint64_t *buf, size_t words, uint64_t steps, uint64_t x)
{
	for (uint64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		buf[(x >> 33) & (words - 1)] ^= x;
	}
	return x + buf[x & (words - 1)];
}

/* c += a * b for matrices of @n by @n words, which stand one behind the other in @m. */
static inline uint64_t work_matrix(uint64_t *m, unsigned n)
{
	const uint64_t *a = m, *b = m + (size_t)n * n;
	uint64_t *c = m + 2 * (size_t)n * n;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			uint64_t sum = 0;

			for (unsigned k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] += sum;
		}
	return c[0];
}

#endif
