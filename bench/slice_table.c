/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the runs that bench/slice-ext left, a line each:
 *	WHAT ROUND without|with NAME VALUE [NAME VALUE]...
 * and prints a table: WHAT, NAME, medians without and with, their ratio and its 95 % interval (measure/stats.h).
 * A value that is 0 somewhere has no ratio: then the sums over the rounds are compared, and no interval is given.
 */
#include "measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 200
#define MAX_ROUNDS 200

static struct row {
	char what[64], name[32];
	double value[2][MAX_ROUNDS];
	int has[2][MAX_ROUNDS];
} rows[MAX_ROWS];
static int nr_rows;

static struct row *row_of(const char *what, const char *name)
{
	int i;

	for (i = 0; i < nr_rows; i++)
		if (!strcmp(rows[i].what, what) && !strcmp(rows[i].name, name))
			return &rows[i];
	if (nr_rows == MAX_ROWS) {
		fprintf(stderr, "slice_table: more rows than there is room for\n");
		exit(1);
	}
	snprintf(rows[i].what, sizeof(rows[i].what), "%s", what);
	snprintf(rows[i].name, sizeof(rows[i].name), "%s", name);
	nr_rows++;
	return &rows[i];
}

static void print_row(const struct row *r)
{
	double v[2][MAX_ROUNDS], sum[2] = { 0, 0 };
	struct stat_ratio ratio;
	unsigned n = 0;
	int zero = 0;

	for (int i = 0; i < MAX_ROUNDS; i++) {
		if (!r->has[0][i] || !r->has[1][i])
			continue;
		for (int w = 0; w < 2; w++) {
			v[w][n] = r->value[w][i];
			sum[w] += v[w][n];
			zero |= v[w][n] <= 0;
		}
		n++;
	}
	if (!n)
		return;
	if (zero || stat_ratio(v[0], v[1], n, &ratio)) {
		printf("| %s | %s, sum of %u | %.4g | %.4g | %s%.0f %% | |\n", r->what, r->name, n, sum[0], sum[1],
		       sum[1] <= sum[0] ? "-" : "+", sum[0] > 0 ? 100 * fabs(sum[1] - sum[0]) / sum[0] : 0);
		return;
	}
	printf("| %s | %s, median of %u | %.4g | %.4g | %.3f | %.3f..%.3f%s |\n", r->what, r->name, n, stat_median(v[0], n),
	       stat_median(v[1], n), ratio.ratio, ratio.lo, ratio.hi,
	       ratio.call == STAT_NO_DIFFERENCE ? ", no difference shown" : "");
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		char *at = line, *what = strtok_r(line, " \n", &at), *round = strtok_r(NULL, " \n", &at);
		char *which = strtok_r(NULL, " \n", &at), *name, *value;
		int i = round ? atoi(round) : -1, w = which && !strcmp(which, "with");

		if (!which || i < 0 || i >= MAX_ROUNDS)
			continue;
		while ((name = strtok_r(NULL, " \n", &at)) && (value = strtok_r(NULL, " \n", &at))) {
			struct row *r = row_of(what, name);

			r->value[w][i] = atof(value);
			r->has[w][i] = 1;
		}
	}
	printf("| load | what | without | with | ratio or change | 95 %% interval |\n|---|---|---|---|---|---|\n");
	for (int i = 0; i < nr_rows; i++)
		print_row(&rows[i]);
	return nr_rows ? 0 : 1;
}
