/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that a seed repeats exactly: the order of runs, the bootstrap, the loads' arrivals.
 * A 64-bit counter through an avalanche (the "splitmix" construction); not for secrets.
 */
#ifndef ROOST_MEASURE_RNG_H
#define ROOST_MEASURE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_u64(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* 0 .. n-1; the bias of the multiply is below n / 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_u64(r) * n) >> 64);
}

/* In the open interval (0, 1). */
static inline double rng_unit(struct rng *r)
{
	return ((double)(rng_u64(r) >> 12) + 0.5) * 0x1p-52;
}

double rng_normal(struct rng *r);
double rng_exponential(struct rng *r, double mean);
/* Generalised Pareto with location 0. */
double rng_pareto(struct rng *r, double scale, double shape);
void rng_shuffle(struct rng *r, unsigned *a, unsigned n);

#endif
