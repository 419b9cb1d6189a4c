/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison's data, and what is concluded from it; study.h. */
#include "measure/study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum study_scope scope;
	enum study_unit unit;
	enum better better;
	int optional;
} fixed[M_FIXED] = {
	[M_TIME] = { "time", SCOPE_TREE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_CPU] = { "CPU time", SCOPE_TREE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_USER] = { "CPU time, user", SCOPE_TREE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_SYSTEM] = { "CPU time, system", SCOPE_TREE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_RUN_DELAY] = { "run delay", SCOPE_TREE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_MIGRATIONS] = { "migrations", SCOPE_TREE, UNIT_COUNT, BETTER_UNKNOWN, 0 },
	[M_SWITCHES] = { "context switches", SCOPE_TREE, UNIT_COUNT, BETTER_UNKNOWN, 0 },
	[M_L2] = { "L2 misses per 1000 instr.", SCOPE_TREE, UNIT_PLAIN, BETTER_LESS, 0 },
	[M_MACHINE_CPU] = { "CPU use", SCOPE_MACHINE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_MACHINE_USER] = { "CPU use, user", SCOPE_MACHINE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_MACHINE_SYSTEM] = { "CPU use, system", SCOPE_MACHINE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_MACHINE_RUN_DELAY] = { "run delay", SCOPE_MACHINE, UNIT_SECONDS, BETTER_LESS, 0 },
	[M_MACHINE_MIGRATIONS] = { "migrations", SCOPE_MACHINE, UNIT_COUNT, BETTER_UNKNOWN, 0 },
	[M_MACHINE_SWITCHES] = { "context switches", SCOPE_MACHINE, UNIT_COUNT, BETTER_UNKNOWN, 0 },
	[M_MACHINE_IDLE] = { "idle wakeups", SCOPE_MACHINE, UNIT_COUNT, BETTER_UNKNOWN, 0 },
	[M_MACHINE_MEMORY] = { "memory bandwidth", SCOPE_MACHINE, UNIT_BYTES_S, BETTER_UNKNOWN, 0 },
	[M_MACHINE_ENERGY] = { "energy", SCOPE_MACHINE, UNIT_JOULES, BETTER_LESS, 0 },
	[M_LOAD_RATE] = { "operations a second", SCOPE_OUTPUT, UNIT_PLAIN, BETTER_MORE, 1 },
	[M_LOAD_P50] = { "latency p50", SCOPE_OUTPUT, UNIT_SECONDS, BETTER_LESS, 1 },
	[M_LOAD_P95] = { "latency p95", SCOPE_OUTPUT, UNIT_SECONDS, BETTER_LESS, 1 },
	[M_LOAD_P99] = { "latency p99", SCOPE_OUTPUT, UNIT_SECONDS, BETTER_LESS, 1 },
};

void study_init(struct study *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < M_FIXED; i++) {
		struct study_metric *m = &s->metric[s->n_metrics++];

		snprintf(m->name, sizeof(m->name), "%s", fixed[i].name);
		m->scope = fixed[i].scope;
		m->unit = fixed[i].unit;
		m->better = fixed[i].better;
		m->optional = fixed[i].optional;
	}
	s->primary = M_TIME;
}

void study_free(struct study *s)
{
	free(s->command);
	free(s->repeat);
	free(s->run);
	memset(s, 0, sizeof(*s));
}

int study_add_variant(struct study *s, const char *name, const char *what)
{
	struct study_variant *v = &s->variant[s->n_variants];
	unsigned same = 1;

	if (s->n_variants == STUDY_VARIANTS_MAX)
		return -ENOSPC;
	snprintf(v->name, sizeof(v->name), "%s", name);
	/* kernel,kernel is a fair question; the rows must be told apart. */
	for (unsigned i = 0; i < s->n_variants; i++)
		if (!strcmp(s->variant[i].name, v->name)) {
			snprintf(v->name, sizeof(v->name), "%.48s#%u", name, ++same);
			i = (unsigned)-1;
		}
	snprintf(v->what, sizeof(v->what), "%s", what);
	return (int)s->n_variants++;
}

int study_add_metric(struct study *s, const char *name, enum better better)
{
	struct study_metric *m = &s->metric[s->n_metrics];

	if (s->n_metrics == STUDY_METRICS_MAX)
		return -ENOSPC;
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->scope = SCOPE_OUTPUT;
	m->unit = UNIT_PLAIN;
	m->better = better;
	return (int)s->n_metrics++;
}

void study_run_init(struct study_run *r)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < STUDY_METRICS_MAX; i++)
		r->value[i] = NAN;
}

int study_add_run(struct study *s, const struct study_run *r)
{
	if (s->n_runs == s->room) {
		unsigned want = s->room ? 2 * s->room : 64;
		struct study_run *more = realloc(s->run, want * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->run = more;
		s->room = want;
	}
	s->run[s->n_runs++] = *r;
	return 0;
}

void study_settle(struct study *s)
{
	for (unsigned i = 0; i < s->n_runs; i++) {
		struct load_line *l = &s->run[i].load;

		if (!l->found)
			continue;
		snprintf(s->metric[M_LOAD_RATE].name, sizeof(s->metric[0].name), "%.30s a second", l->unit);
		if (s->primary == M_TIME)
			s->primary = M_LOAD_RATE;
		return;
	}
}

unsigned study_values(const struct study *s, unsigned variant, unsigned metric, double *by_round)
{
	unsigned n = s->rounds < STAT_ROUNDS_MAX ? s->rounds : STAT_ROUNDS_MAX;

	for (unsigned i = 0; i < n; i++)
		by_round[i] = NAN;
	for (unsigned i = 0; i < s->n_runs; i++) {
		const struct study_run *r = &s->run[i];

		if (r->variant == variant && r->outcome == RUN_OK && r->round < n)
			by_round[r->round] = r->value[metric];
	}
	return n;
}

double study_median(const struct study *s, unsigned variant, unsigned metric)
{
	double v[STAT_ROUNDS_MAX];
	unsigned n = study_values(s, variant, metric, v);

	return stat_median(v, n);
}

int study_compare(const struct study *s, unsigned variant, unsigned metric, struct stat_ratio *out)
{
	double base[STAT_ROUNDS_MAX], other[STAT_ROUNDS_MAX];
	unsigned n = study_values(s, 0, metric, base);

	study_values(s, variant, metric, other);
	return stat_ratio(base, other, n, out);
}

unsigned study_count(const struct study *s, unsigned variant, enum study_outcome o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_runs; i++)
		n += s->run[i].variant == variant && s->run[i].outcome == o;
	return n;
}

int study_metric_seen(const struct study *s, unsigned metric)
{
	for (unsigned i = 0; i < s->n_runs; i++)
		if (s->run[i].outcome == RUN_OK && !isnan(s->run[i].value[metric]))
			return 1;
	return 0;
}

const char *study_format(enum study_unit unit, double v, char buf[static 32])
{
	if (isnan(v)) {
		snprintf(buf, 32, "-");
	} else if (unit == UNIT_SECONDS) {
		double a = fabs(v);

		snprintf(buf, 32, "%.4g %s", a >= 1 || a == 0 ? v : a >= 1e-3 ? v * 1e3 : a >= 1e-6 ? v * 1e6 : v * 1e9,
			 a >= 1 || a == 0 ? "s" : a >= 1e-3 ? "ms" : a >= 1e-6 ? "us" : "ns");
	} else if (unit == UNIT_BYTES_S) {
		snprintf(buf, 32, "%.4g GB/s", v / 1e9);
	} else if (unit == UNIT_JOULES) {
		snprintf(buf, 32, "%.4g J", v);
	} else if (unit == UNIT_COUNT || (fabs(v) >= 10000 && fabs(v) < 1e15)) {
		snprintf(buf, 32, "%.0f", v);
	} else {
		snprintf(buf, 32, "%.4g", v);
	}
	return buf;
}

const char *study_percent(double ratio, char buf[static 32])
{
	double percent = fabs(ratio - 1) * 100;

	if (ratio >= 3)
		snprintf(buf, 32, "%.1f times", ratio);
	else
		snprintf(buf, 32, percent < 10 ? "%.1f %% %s" : "%.0f %% %s", percent, ratio < 1 ? "less" : "more");
	return buf;
}

/* "takes 12 % less time", "serves 3.0 % more messages a second", "has 5 % more p99" */
static void primary_words(const struct study *s, const struct stat_ratio *q, char *buf, size_t len)
{
	const struct study_metric *m = &s->metric[s->primary];
	char percent[32];

	study_percent(q->ratio, percent);
	if (s->primary == M_TIME)
		snprintf(buf, len, "takes %s%s time than", percent, q->ratio >= 3 ? " as much" : "");
	else if (s->primary == M_LOAD_RATE)
		snprintf(buf, len, "does %s %s than", percent, m->name);
	else
		snprintf(buf, len, "shows %s %s than", percent, m->name);
}

/* What it costs or saves besides, where that is sure. */
static void side_words(const struct study *s, unsigned variant, char *buf, size_t len)
{
	static const unsigned side[] = { M_TIME, M_LOAD_P99, M_CPU, M_MIGRATIONS, M_RUN_DELAY };
	size_t n = 0;

	buf[0] = 0;
	for (unsigned i = 0; i < sizeof(side) / sizeof(side[0]) && n < len; i++) {
		struct stat_ratio q;
		char percent[32];

		if (side[i] == s->primary || (side[i] == M_TIME && s->primary == M_LOAD_RATE) ||
		    study_compare(s, variant, side[i], &q) || q.call == STAT_NO_DIFFERENCE)
			continue;
		n += (size_t)snprintf(buf + n, len - n, "%s%s: %s", n ? "; " : " Sure as well: ", s->metric[side[i]].name,
				      study_percent(q.ratio, percent));
	}
	if (n && n + 1 < len)
		strcat(buf, ".");
}

void study_verdict(const struct study *s, unsigned variant, char *buf, size_t len)
{
	const char *name = s->variant[variant].name, *base = s->variant[0].name;
	const struct study_metric *m = &s->metric[s->primary];
	char words[160], more[400];
	struct stat_ratio q;
	int rc = study_compare(s, variant, s->primary, &q);

	if (s->variant[variant].dropped || s->variant[0].dropped) {
		snprintf(buf, len, "%s cannot be compared with %s: one of them did not stay loaded.", name, base);
		return;
	}
	if (rc == -ENODATA) {
		snprintf(buf, len, "Nothing can be said about %s and %s: fewer than two rounds in which both ran and "
			 "gave a figure for %s.", name, base, m->name);
		return;
	}
	if (rc) {
		snprintf(buf, len, "Nothing can be said about %s and %s: %s is not above 0 in every run.", name, base,
			 m->name);
		return;
	}
	side_words(s, variant, more, sizeof(more));
	if (q.call == STAT_NO_DIFFERENCE && q.hi >= 100) {
		snprintf(buf, len, "No difference shown between %s and %s in %s: %u rounds are too few to tell.%s", name, base,
			 m->name, q.rounds, more);
		return;
	}
	if (q.call == STAT_NO_DIFFERENCE) {
		snprintf(buf, len, "No difference shown between %s and %s in %s: what there is lies between %+.1f %% and "
			 "%+.1f %% (95 %% interval, %u rounds).%s", name, base, m->name, (q.lo - 1) * 100,
			 (q.hi - 1) * 100, q.rounds, more);
		return;
	}
	primary_words(s, &q, words, sizeof(words));
	snprintf(buf, len, "%s %s %s (ratio %.3f, 95 %% interval %.3f to %.3f, %u rounds)%s.%s", name, words, base, q.ratio,
		 q.lo, q.hi, q.rounds, m->better == BETTER_UNKNOWN ? "" :
		 (q.call == STAT_LESS) == (m->better == BETTER_LESS) ? ": it helps" : ": it hurts", more);
}
