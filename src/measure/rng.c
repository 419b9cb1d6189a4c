/* SPDX-License-Identifier: GPL-2.0-only */
/* Distributions on top of rng.h. */
#include "measure/rng.h"

#include <math.h>

double rng_normal(struct rng *r)
{
	double radius = sqrt(-2 * log(rng_unit(r)));

	return radius * cos(2 * M_PI * rng_unit(r));
}

double rng_exponential(struct rng *r, double mean)
{
	return -mean * log(rng_unit(r));
}

double rng_pareto(struct rng *r, double scale, double shape)
{
	if (fabs(shape) < 1e-12)
		return rng_exponential(r, scale);
	return scale * (pow(rng_unit(r), -shape) - 1) / shape;
}

void rng_shuffle(struct rng *r, unsigned *a, unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned j = rng_below(r, i), t = a[i - 1];

		a[i - 1] = a[j];
		a[j] = t;
	}
}
