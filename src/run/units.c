/* SPDX-License-Identifier: GPL-2.0-only */
/* units.c - text to numbers and back; see units.h. Integers all the way, so that no value is rounded. */
#include "run/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	u64 factor;
};

/* Shortest first is not needed: a suffix must match whole. The first of equal factor is the one printed. */
static const struct unit time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "\302\265s", 1000 },  /* micro sign */
	{ "\316\274s", 1000 },  /* Greek mu */
	{ "ms", 1000000 },
	{ "s", 1000000000ull },
	{ "min", 60 * 1000000000ull },
	{ "h", 3600 * 1000000000ull },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1ull << 10 }, { "KiB", 1ull << 10 },
	{ "M", 1ull << 20 }, { "MiB", 1ull << 20 },
	{ "G", 1ull << 30 }, { "GiB", 1ull << 30 },
	{ "T", 1ull << 40 }, { "TiB", 1ull << 40 },
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* digits [. digits], kept exact as mantissa / 10^decimals. Moves *s past it. */
static int parse_decimal(const char **s, u64 *mantissa, unsigned int *decimals)
{
	const char *p = *s;
	u64 m = 0;
	unsigned int d = 0;
	int seen_dot = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p) || (*p == '.' && !seen_dot); p++) {
		if (*p == '.') {
			if (!isdigit((unsigned char)p[1]))
				return -EINVAL;
			seen_dot = 1;
			continue;
		}
		if (__builtin_mul_overflow(m, 10ull, &m) ||
		    __builtin_add_overflow(m, (u64)(*p - '0'), &m))
			return -ERANGE;
		d += seen_dot;
	}
	*s = p;
	*mantissa = m;
	*decimals = d;
	return 0;
}

/* mantissa / 10^decimals * factor; refused unless the result is whole. */
static int scale_exact(u64 mantissa, unsigned int decimals, u64 factor, u64 *out)
{
	unsigned __int128 v = (unsigned __int128)mantissa * factor;

	for (; decimals; decimals--) {
		if (v % 10)
			return -EINVAL;
		v /= 10;
	}
	if (v > UINT64_MAX)
		return -ERANGE;
	*out = (u64)v;
	return 0;
}

static int parse_with_units(const char *s, const struct unit *units, size_t nr_units, u64 *out)
{
	u64 mantissa;
	unsigned int decimals;
	int err = parse_decimal(&s, &mantissa, &decimals);

	if (err)
		return err;
	for (size_t i = 0; i < nr_units; i++) {
		if (strcmp(s, units[i].name) == 0)
			return scale_exact(mantissa, decimals, units[i].factor, out);
	}
	return -EINVAL;
}

int units_parse_time(const char *s, u64 *ns)
{
	if (strcmp(s, "0") == 0) {
		*ns = 0;
		return 0;
	}
	return parse_with_units(s, time_units, COUNT_OF(time_units), ns);
}

int units_parse_size(const char *s, u64 *bytes)
{
	return parse_with_units(s, size_units, COUNT_OF(size_units), bytes);
}

int units_parse_count(const char *s, u64 *n)
{
	u64 mantissa;
	unsigned int decimals;
	int err = parse_decimal(&s, &mantissa, &decimals);

	if (err)
		return err;
	if (*s || decimals)
		return -EINVAL;
	*n = mantissa;
	return 0;
}

int units_parse_percent(const char *s, double *percent)
{
	u64 mantissa;
	unsigned int decimals;
	double v;
	int err = parse_decimal(&s, &mantissa, &decimals);

	if (err)
		return err;
	if (*s == '%')
		s++;
	if (*s)
		return -EINVAL;
	for (v = (double)mantissa; decimals; decimals--)
		v /= 10;
	*percent = v;
	return 0;
}

int units_parse_bool(const char *s, u64 *on)
{
	static const char *const words[][2] = {
		{ "off", "on" }, { "no", "yes" }, { "false", "true" }, { "0", "1" },
	};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		for (u64 v = 0; v < 2; v++) {
			if (strcasecmp(s, words[i][v]) == 0) {
				*on = v;
				return 0;
			}
		}
	}
	return -EINVAL;
}

const char *units_format_time(u64 ns, char buf[static UNITS_TEXT_MAX])
{
	const char *name = "ns";
	u64 factor = 1;

	/* up to seconds: "90s" is read faster than "1.5min" */
	for (size_t i = 0; i < COUNT_OF(time_units); i++) {
		if (time_units[i].factor <= 1000000000ull && time_units[i].factor > factor &&
		    ns % time_units[i].factor == 0) {
			factor = time_units[i].factor;
			name = time_units[i].name;
		}
	}
	if (ns == 0)
		snprintf(buf, UNITS_TEXT_MAX, "0");
	else
		snprintf(buf, UNITS_TEXT_MAX, "%llu%s", ns / factor, name);
	return buf;
}

const char *units_format_size(u64 bytes, char buf[static UNITS_TEXT_MAX])
{
	static const char names[] = "KMGT";
	u64 v = bytes;
	int i = -1;

	while (v && v % 1024 == 0 && i < 3) {
		v /= 1024;
		i++;
	}
	if (i < 0)
		snprintf(buf, UNITS_TEXT_MAX, "%llu", v);
	else
		snprintf(buf, UNITS_TEXT_MAX, "%llu%c", v, names[i]);
	return buf;
}

/* Edits (insert, delete, replace, swap neighbours) between two short names, without case; '_' equals '-'. */
#define HINT_NAME_MAX 48

static int fold(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

static unsigned int edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned int rows[3][HINT_NAME_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2];

	if (la > HINT_NAME_MAX || lb > HINT_NAME_MAX)
		return HINT_NAME_MAX;
	for (size_t j = 0; j <= lb; j++)
		above[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int cost = fold(a[i - 1]) != fold(b[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		unsigned int *free_row = before;

		before = above;
		above = row;
		row = free_row;
	}
	return above[lb];
}

void units_hint_start(struct units_hint *h, const char *typed)
{
	h->typed = typed;
	h->best = NULL;
	h->best_distance = HINT_NAME_MAX;
}

void units_hint_offer(struct units_hint *h, const char *name)
{
	size_t len = strlen(h->typed);
	unsigned int d;

	if (!len || !*name)
		return;
	/* a beginning of the name is what people type who hope for abbreviations */
	if (len >= 2 && len < strlen(name) && strncasecmp(h->typed, name, len) == 0)
		d = 1;
	else
		d = edit_distance(h->typed, name);
	if (d < h->best_distance) {
		h->best_distance = d;
		h->best = name;
	}
}

const char *units_hint_best(const struct units_hint *h)
{
	size_t len = strlen(h->typed);
	unsigned int most = len < 4 ? 1 : len < 8 ? 2 : 3;

	return h->best && h->best_distance <= most ? h->best : NULL;
}
