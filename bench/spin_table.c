/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the runs that bench/idle-spin left, a line each:
 *	ROUND VARIANT NAME VALUE [NAME VALUE]...
 * and prints a table, a line a variant: the median round trip of a run, its median over the rounds with the 95 % interval
 * that order statistics give (exact, whatever the distribution), its ratio to the variant "off" (measure/stats.h), and
 * sums over the rounds of what was counted.
 */
#include "measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VARIANTS 16
#define MAX_ROUNDS 200
#define MAX_NAMES 24

static struct variant {
	char name[32];
	double value[MAX_NAMES][MAX_ROUNDS];    /* NaN: no such run */
} variants[MAX_VARIANTS];
static char names[MAX_NAMES][32];
static int nr_variants, nr_names;

static struct variant *variant_of(const char *name)
{
	struct variant *v;
	int i;

	for (i = 0; i < nr_variants; i++)
		if (!strcmp(variants[i].name, name))
			return &variants[i];
	if (nr_variants == MAX_VARIANTS) {
		fprintf(stderr, "spin_table: more variants than there is room for\n");
		exit(1);
	}
	v = &variants[nr_variants++];
	snprintf(v->name, sizeof(v->name), "%s", name);
	for (int n = 0; n < MAX_NAMES; n++)
		for (int r = 0; r < MAX_ROUNDS; r++)
			v->value[n][r] = NAN;
	return v;
}

static int name_of(const char *name)
{
	int i;

	for (i = 0; i < nr_names; i++)
		if (!strcmp(names[i], name))
			return i;
	if (nr_names == MAX_NAMES) {
		fprintf(stderr, "spin_table: more values in a line than there is room for\n");
		exit(1);
	}
	snprintf(names[nr_names], sizeof(names[0]), "%s", name);
	return nr_names++;
}

static unsigned gather(const struct variant *v, const char *name, double *out)
{
	int i = name_of(name);
	unsigned n = 0;

	for (int r = 0; r < MAX_ROUNDS; r++)
		if (!isnan(v->value[i][r]))
			out[n++] = v->value[i][r];
	return n;
}

static double sum(const struct variant *v, const char *name)
{
	double all[MAX_ROUNDS], s = 0;
	unsigned n = gather(v, name, all);

	while (n)
		s += all[--n];
	return s;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* How many of n values to leave out at each end: the rest holds the median with a probability of 95 % or more. */
static unsigned left_out(unsigned n)
{
	double p = pow(0.5, n), below = 0;
	unsigned k = 0;

	while (k < n / 2 && below + p <= 0.025) {
		below += p;
		p = p * (n - k) / (k + 1);
		k++;
	}
	return k;       /* 0: too few values for 95 % */
}

static void print_trip(const struct variant *v)
{
	double all[MAX_ROUNDS];
	unsigned n = gather(v, "p50_ns", all), k = left_out(n);

	qsort(all, n, sizeof(*all), ascending);
	printf("| %s | %.1f us", v->name, stat_median(all, n) / 1e3);
	if (k)
		printf(" (%.1f..%.1f)", all[k - 1] / 1e3, all[n - k] / 1e3);
	printf(" |");
}

static void print_ratio(const struct variant *v, const struct variant *off)
{
	struct stat_ratio q;
	int i = name_of("p50_ns");

	if (v == off || stat_ratio(off->value[i], v->value[i], MAX_ROUNDS, &q))
		printf(" |");
	else
		printf(" %.3f (%.3f..%.3f)%s |", q.ratio, q.lo, q.hi, q.call == STAT_NO_DIFFERENCE ? ", no difference shown" : "");
}

static void print_variant(const struct variant *v, const struct variant *off)
{
	double trips = sum(v, "trips"), windows = sum(v, "spin_windows"), p99[MAX_ROUNDS];
	double kicks = sum(v, "nr_kicks_idle") + sum(v, "nr_kicks_preempt"), spared = sum(v, "spin_kicks_avoided");
	unsigned n = gather(v, "p99_ns", p99);

	print_trip(v);
	print_ratio(v, off);
	printf(" %.0f us |", stat_median(p99, n) / 1e3);
	if (kicks + spared > 0)
		printf(" %.1f %% |", 100 * spared / (kicks + spared));
	else
		printf(" not counted |");
	printf(" %.2f |", trips > 0 ? sum(v, "ipis") / trips : 0);
	if (windows > 0)
		printf(" %.2f | %.1f %% | %.0f %% | %.0f |\n", windows / trips, 100 * sum(v, "spin_hits") / windows,
		       100 * sum(v, "spin_ns") / 2e9 / sum(v, "seconds"), sum(v, "spin_budget_stops"));
	else
		printf(" | | | |\n");
}

int main(void)
{
	const struct variant *off = NULL;
	char line[2048];

	while (fgets(line, sizeof(line), stdin)) {
		char *at = line, *round = strtok_r(line, " \n", &at), *which = strtok_r(NULL, " \n", &at), *name, *value;
		int r = round ? atoi(round) : -1;
		struct variant *v;

		if (!which || r < 0 || r >= MAX_ROUNDS)
			continue;
		v = variant_of(which);
		while ((name = strtok_r(NULL, " \n", &at)) && (value = strtok_r(NULL, " \n", &at)))
			v->value[name_of(name)][r] = atof(value);
	}
	for (int i = 0; i < nr_variants; i++)
		if (!strcmp(variants[i].name, "off"))
			off = &variants[i];
	if (!off) {
		fprintf(stderr, "spin_table: no run of the variant \"off\"\n");
		return 1;
	}
	printf("| idle-spin | round trip, median (95 %%) | ratio to off (95 %%) | p99 | wakeups without a kick | interrupts a round trip "
	       "| windows a round trip | of these with work | of CPU time spun | budget stops |\n|---|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < nr_variants; i++)
		print_variant(&variants[i], off);
	return 0;
}
