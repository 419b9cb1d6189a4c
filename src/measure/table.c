/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison as text and CSV. */
#include "measure/study.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const scope_names[] = { "the command and its children", "the whole machine", "as printed by the command" };
const char *const study_scope_keys[] = { "command", "machine", "output" };
const char *const study_outcome_keys[] = { "ok", "failed", "ejected", "not loaded", "stopped" };

#define COLUMNS 4u      /* variants beside the base in one table: 118 characters */

#define BOLD(on) ((on) ? "\033[1m" : "")
#define PLAIN(on) ((on) ? "\033[0m" : "")

static const char *call_words(const struct study_metric *m, const struct stat_ratio *q)
{
	if (q->call == STAT_NO_DIFFERENCE)
		return "no difference shown";
	if (m->better == BETTER_UNKNOWN)
		return q->call == STAT_LESS ? "less" : "more";
	if ((q->call == STAT_LESS) == (m->better == BETTER_LESS))
		return q->call == STAT_LESS ? "less, better" : "more, better";
	return q->call == STAT_LESS ? "less, worse" : "more, worse";
}

static bool shown(const struct study *s, unsigned metric)
{
	return !s->metric[metric].why_not[0] && (!s->metric[metric].optional || study_metric_seen(s, metric));
}

static void metric_row(const struct study *s, unsigned variant, unsigned metric, FILE *out, int color)
{
	const struct study_metric *m = &s->metric[metric];
	double base = study_median(s, 0, metric), other = study_median(s, variant, metric);
	char a[32], b[32];
	struct stat_ratio q;

	fprintf(out, "  %-25s %11s %11s", m->name, study_format(m->unit, base, a), study_format(m->unit, other, b));
	if (study_compare(s, variant, metric, &q))
		fprintf(out, "       -\n");
	else if (q.hi >= 100)
		fprintf(out, "  %6.3g  too wide to tell\n", q.ratio);
	else
		fprintf(out, "  %6.3f  %5.3f..%-5.3f  %s%s%s\n", q.ratio, q.lo, q.hi,
			BOLD(color && q.call != STAT_NO_DIFFERENCE), call_words(m, &q), PLAIN(color));
}

/* The text without the blanks at its end. */
static void put_line(FILE *out, char *line)
{
	size_t n = strlen(line);

	while (n && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	if (n)
		fprintf(out, "%s\n", line);
}

/* One metric of several variants, two lines: median and ratio of each, and below it the interval. */
static void metric_columns(const struct study *s, unsigned first, unsigned end, unsigned metric, FILE *out, int color)
{
	const struct study_metric *m = &s->metric[metric];
	char a[32], above[256], below[256];
	size_t na, nb;
	struct stat_ratio q;
	bool differs;

	na = (size_t)snprintf(above, sizeof(above), "  %-25s %11s", m->name, study_format(m->unit, study_median(s, 0, metric), a));
	nb = (size_t)snprintf(below, sizeof(below), "%39s", "");
	for (unsigned k = first; k < end && na < sizeof(above) && nb < sizeof(below); k++) {
		study_format(m->unit, study_median(s, k, metric), a);
		if (study_compare(s, k, metric, &q)) {
			na += (size_t)snprintf(above + na, sizeof(above) - na, " %11s       - ", a);
			nb += (size_t)snprintf(below + nb, sizeof(below) - nb, "%20s", "");
			continue;
		}
		differs = q.call != STAT_NO_DIFFERENCE && q.hi < 100;
		na += (size_t)snprintf(above + na, sizeof(above) - na, " %11s %s%6.3f%c%s", a, BOLD(color && differs), q.ratio,
				       differs ? '*' : ' ', PLAIN(color && differs));
		if (q.hi >= 100)
			snprintf(a, sizeof(a), "too wide to tell");
		else
			snprintf(a, sizeof(a), "%.3f..%.3f", q.lo, q.hi);
		nb += (size_t)snprintf(below + nb, sizeof(below) - nb, " %18s ", a);
	}
	put_line(out, above);
	put_line(out, below);
}

/* Variants @first to @end - 1 beside the base: one in words, several in a column each. */
static void against_base(const struct study *s, unsigned first, unsigned end, FILE *out, int color)
{
	int scope = -1;

	fprintf(out, "\n  %-25s %11.11s", "median of the runs", s->variant[0].name);
	if (s->n_variants == 2)
		fprintf(out, " %11.11s   ratio  95 %% interval\n", s->variant[first].name);
	for (unsigned k = first; s->n_variants > 2 && k < end; k++)
		fprintf(out, " %18.18s%c", s->variant[k].name, k + 1 < end ? ' ' : '\n');
	for (unsigned i = 0; i < s->n_metrics; i++) {
		const struct study_metric *m = &s->metric[i];

		if (!shown(s, i))
			continue;
		if ((int)m->scope != scope)
			fprintf(out, "%s%s:%s\n", BOLD(color), scope_names[m->scope], PLAIN(color));
		scope = (int)m->scope;
		if (s->n_variants == 2)
			metric_row(s, first, i, out, color);
		else
			metric_columns(s, first, end, i, out, color);
	}
}

static void medians_only(const struct study *s, FILE *out)
{
	char a[32];

	fprintf(out, "\n  %-25s %11.11s\n", "median of the runs", s->variant[0].name);
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (!s->metric[i].why_not[0] && study_metric_seen(s, i))
			fprintf(out, "  %-25s %11s\n", s->metric[i].name,
				study_format(s->metric[i].unit, study_median(s, 0, i), a));
}

static void not_counted(const struct study *s, FILE *out)
{
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (s->metric[i].why_not[0] && s->metric[i].scope == SCOPE_OUTPUT)
			fprintf(out, "%s: %s\n", s->metric[i].name, s->metric[i].why_not);
		else if (s->metric[i].why_not[0])
			fprintf(out, "not counted here: %s (%s): %s\n", s->metric[i].name,
				study_scope_keys[s->metric[i].scope], s->metric[i].why_not);
}

/* Runs that stand out in the metric the verdict is about. */
static void name_outliers(const struct study *s, FILE *out)
{
	double v[STAT_ROUNDS_MAX];
	unsigned char flag[STAT_ROUNDS_MAX];
	char a[32], b[32];

	for (unsigned k = 0; k < s->n_variants; k++) {
		unsigned n = study_values(s, k, s->primary, v);

		if (!stat_outliers(v, n, flag))
			continue;
		for (unsigned i = 0; i < n; i++)
			if (flag[i])
				fprintf(out, "outlier: round %u of %s: %s %s, where the median is %s (kept)\n", i + 1,
					s->variant[k].name, s->metric[s->primary].name,
					study_format(s->metric[s->primary].unit, v[i], a),
					study_format(s->metric[s->primary].unit, stat_median(v, n), b));
	}
}

static void name_failures(const struct study *s, FILE *out)
{
	for (unsigned i = 0; i < s->n_runs; i++) {
		const struct study_run *r = &s->run[i];

		if (r->outcome != RUN_OK && r->outcome != RUN_STOPPED)
			fprintf(out, "not counted: round %u of %s: %s: %s\n", r->round + 1, s->variant[r->variant].name,
				study_outcome_keys[r->outcome], r->note);
	}
}

/* The rules' shares, the largest first. */
static void rule_shares(const struct study *s, FILE *out)
{
	static const char *const names[] = {
#define RULE(id, name, help) name,
#include "policy/rules.def"
#undef RULE
	};

	for (unsigned k = 0; k < s->n_variants; k++) {
		u64 sum[ROOST_RULE_COUNT] = { 0 }, total = 0;

		for (unsigned i = 0; i < s->n_runs; i++)
			for (unsigned r = 0; r < ROOST_RULE_COUNT; r++)
				if (s->run[i].variant == k && s->run[i].outcome == RUN_OK && s->run[i].has_rules)
					sum[r] += s->run[i].rules[r];
		for (unsigned r = 0; r < ROOST_RULE_COUNT; r++)
			total += sum[r];
		if (!total)
			continue;
		fprintf(out, "rules of %s:", s->variant[k].name);
		for (unsigned shown = 0; shown < 6; shown++) {
			unsigned best = 0;

			for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
				if (sum[r] > sum[best])
					best = r;
			if (!sum[best])
				break;
			fprintf(out, "%s %s %.1f %%", shown ? "," : "", names[best], 100.0 * (double)sum[best] / (double)total);
			sum[best] = 0;
		}
		fputc('\n', out);
	}
}

static unsigned counted_runs(const struct study *s)
{
	unsigned n = 0;

	for (unsigned k = 0; k < s->n_variants; k++)
		n += study_count(s, k, RUN_OK);
	return n;
}

void study_table(const struct study *s, FILE *out, int color)
{
	unsigned counted = counted_runs(s);
	char verdict[1200];

	fprintf(out, "%s\n%s\n%s\n", s->command, s->machine, s->kernel);
	if (s->partial)
		fprintf(out, "interrupted: %u rounds were begun\n", s->rounds);
	for (unsigned k = 0; k < s->n_variants; k++)
		if (s->variant[k].what[0])
			fprintf(out, "%s: %s\n", s->variant[k].name, s->variant[k].what);
	if (counted && s->n_variants == 1)
		medians_only(s, out);
	for (unsigned k = 1; counted && k < s->n_variants; k += COLUMNS)
		against_base(s, k, k + COLUMNS < s->n_variants ? k + COLUMNS : s->n_variants, out, color);
	if (counted && s->n_variants > 2)
		fprintf(out, "Each with its ratio to %s and the 95 %% interval of that; *: the interval does not hold 1, a difference is shown.\n",
			s->variant[0].name);
	fputc('\n', out);
	if (counted)
		not_counted(s, out);
	else
		fputs("no run counted\n", out);
	rule_shares(s, out);
	name_outliers(s, out);
	name_failures(s, out);
	for (unsigned k = 1; k < s->n_variants; k++) {
		study_verdict(s, k, verdict, sizeof(verdict));
		fprintf(out, "%s%s%s\n", BOLD(color), verdict, PLAIN(color));
	}
}

static void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void study_csv(const struct study *s, FILE *out)
{
	fputs("round,position,variant,outcome,note", out);
	for (unsigned i = 0; i < s->n_metrics; i++) {
		char name[80];

		snprintf(name, sizeof(name), "%s: %s", study_scope_keys[s->metric[i].scope], s->metric[i].name);
		fputc(',', out);
		csv_text(out, name);
	}
	fputs("\r\n", out);
	for (unsigned i = 0; i < s->n_runs; i++) {
		const struct study_run *r = &s->run[i];

		fprintf(out, "%u,%u,", r->round + 1, r->position + 1);
		csv_text(out, s->variant[r->variant].name);
		fprintf(out, ",%s,", study_outcome_keys[r->outcome]);
		csv_text(out, r->note);
		for (unsigned k = 0; k < s->n_metrics; k++) {
			fputc(',', out);
			if (!isnan(r->value[k]))
				fprintf(out, "%.9g", r->value[k]);
		}
		fputs("\r\n", out);
	}
}
