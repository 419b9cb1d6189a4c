/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers in integers, the parsing of workload options, refusals. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

int sim_error(struct sim_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	/* a name out of a file may hold any character, and a refusal is one line */
	for (char *c = err->text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return code;
}

uint64_t sim_rand(struct sim *s)
{
	uint64_t z = s->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sim_rand_below(struct sim *s, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sim_rand(s) * n) >> 64);
}

uint64_t sim_jitter(struct sim *s, uint64_t ns)
{
	uint64_t j = (uint64_t)sim_cost(s, COST_JITTER);

	return j ? ns * (1000 - j + sim_rand_below(s, 2 * j + 1)) / 1000 : ns;
}

/* -ln(u) in 1/2^32, for u = x / 2^64, x > 0. From log2 by repeated squaring: 24 bits after the point. */
static uint64_t minus_ln(uint64_t x)
{
	int lead = __builtin_clzll(x);
	uint64_t m = x << lead, frac = 0; /* m / 2^63 in [1, 2) */

	for (int i = 0; i < 24; i++) {
		unsigned __int128 sq = (unsigned __int128)m * m; /* in [2^126, 2^128) */

		frac <<= 1;
		if (sq >> 127) {
			frac |= 1;
			m = (uint64_t)(sq >> 64);
		} else {
			m = (uint64_t)(sq >> 63);
		}
	}
	/* -log2(u) = lead + 1 - frac/2^24; times ln 2 = 2977044472 / 2^32 */
	return (uint64_t)((((unsigned __int128)(lead + 1) << 24) - frac) * 2977044472u >> 24);
}

uint64_t sim_rand_exp(struct sim *s, uint64_t mean)
{
	return (uint64_t)((unsigned __int128)mean * minus_ln(sim_rand(s) | 1) >> 32);
}

/* 2^(v / 2^24), of 2^32; v below 31 * 2^24. */
static uint64_t power_of_two(uint64_t v)
{
	/* 2^(2^-i), i = 1..24, of 2^32, by repeated integer square roots of 2. */
	static uint64_t root[25];
	uint64_t out = UINT64_C(1) << 32;

	if (!root[1]) {
		unsigned __int128 r = (unsigned __int128)2 << 32;

		for (int i = 1; i <= 24; i++) {
			unsigned __int128 target = r << 32, x = (unsigned __int128)1 << 33, lo = 0;

			while (x - lo > 1) {
				unsigned __int128 mid = (lo + x) / 2;

				if (mid * mid <= target)
					lo = mid;
				else
					x = mid;
			}
			root[i] = (uint64_t)lo;
			r = lo;
		}
	}
	for (int i = 1; i <= 24; i++)
		if (v >> (24 - i) & 1)
			out = (uint64_t)((unsigned __int128)out * root[i] >> 32);
	return out << (v >> 24);
}

/* Generalised Pareto, location 0: scale / shape * (u^-shape - 1). */
uint64_t sim_rand_pareto(struct sim *s, uint64_t scale_ns_e4, uint32_t shape_e6)
{
	uint64_t ln = minus_ln(sim_rand(s) | 1); /* 1/2^32 */
	/* u^-shape = 2^(shape * -log2 u); -log2 u = ln / ln 2 */
	unsigned __int128 log2_e24 = ((unsigned __int128)ln << 24) / 2977044472u;
	uint64_t v = (uint64_t)(log2_e24 * shape_e6 / 1000000);

	if (v >= UINT64_C(31) << 24)
		v = (UINT64_C(31) << 24) - 1;
	return (uint64_t)((unsigned __int128)(power_of_two(v) - (UINT64_C(1) << 32)) * scale_ns_e4 * 100 / shape_e6 >> 32);
}

int sim_opt_u64(const char *w, const char *opt, const char *text, uint64_t min, uint64_t max, uint64_t *out,
		struct sim_error *err)
{
	unsigned long long v;
	char *end;

	if (!text)
		return sim_error(err, -EINVAL, "%s %s needs a value: a whole number from %llu to %llu", w, opt,
				 (unsigned long long)min, (unsigned long long)max);
	errno = 0;
	v = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (*text < '0' || *text > '9' || errno || *end || v < min || v > max)
		return sim_error(err, -EINVAL, "%s %s: \"%.40s\" is not a whole number from %llu to %llu", w, opt,
				 text, (unsigned long long)min, (unsigned long long)max);
	*out = v;
	return 0;
}

static const struct { const char *unit; uint64_t ns; } units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
};

/* In the largest unit that it is a whole number of. */
static const char *time_text(uint64_t ns, char buf[static 24])
{
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	snprintf(buf, 24, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].unit);
	return buf;
}

int sim_opt_time(const char *w, const char *opt, const char *text, uint64_t min, uint64_t max, uint64_t *out,
		 struct sim_error *err)
{
	char lo[24], hi[24];
	unsigned long long v;
	char *end;

	if (text && *text >= '0' && *text <= '9') {
		errno = 0;
		v = strtoull(text, &end, 10);
		for (size_t i = 0; !errno && i < sizeof(units) / sizeof(*units); i++)
			if (!strcmp(end, units[i].unit) && v <= max / units[i].ns && v * units[i].ns >= min) {
				*out = v * units[i].ns;
				return 0;
			}
	}
	if (!text)
		return sim_error(err, -EINVAL, "%s %s needs a value: a time with its unit (ns, us, ms, s), from %s to %s", w, opt,
				 time_text(min, lo), time_text(max, hi));
	return sim_error(err, -EINVAL, "%s %s: \"%.40s\" is not a time with its unit (ns, us, ms, s), from %s to %s", w, opt, text,
			 time_text(min, lo), time_text(max, hi));
}
