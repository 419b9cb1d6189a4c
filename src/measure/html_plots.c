/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report's plots. All are drawn 400 units wide, so that the text is still readable on a telephone; nothing is said
 * by colour alone.
 */
#include "measure/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 400
#define SERIES 8

struct axis {
	double lo, hi;		/* of the data; logarithms when log is set */
	int from, to;		/* in the drawing */
	int log;
};

void html_text(FILE *out, const char *text)
{
	for (; text && *text; text++)
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fputc(*text, out);
		}
}

static double at(const struct axis *a, double v)
{
	double t = a->log ? log10(v) : v;

	return a->from + (t - a->lo) / (a->hi - a->lo) * (a->to - a->from);
}

/* Distances of 1, 2 or 5 times a power of ten, at most five of them. */
static double tick_step(double lo, double hi)
{
	double raw = (hi - lo) / 5, power = pow(10, floor(log10(raw))), m = raw / power;

	return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static void pad(struct axis *a)
{
	double room = (a->hi - a->lo) * 0.08;

	if (room <= 0)
		room = fabs(a->hi) > 0 ? fabs(a->hi) * 0.1 : 1;
	a->lo -= room;
	a->hi += room;
}

/* A circle, square, triangle or diamond: the variant's own. */
static void marker(FILE *out, unsigned series, double x, double y, double r)
{
	unsigned c = series % SERIES;

	switch (series % 4) {
	case 0:
		fprintf(out, "<circle class=f%u cx=%.1f cy=%.1f r=%.1f />", c, x, y, r);
		break;
	case 1:
		fprintf(out, "<rect class=f%u x=%.1f y=%.1f width=%.1f height=%.1f />", c, x - r, y - r, 2 * r, 2 * r);
		break;
	case 2:
		fprintf(out, "<path class=f%u d='M%.1f %.1fl%.1f %.1fh%.1fz'/>", c, x, y - 1.2 * r, 1.2 * r, 2.2 * r, -2.4 * r);
		break;
	default:
		fprintf(out, "<path class=f%u d='M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz'/>", c, x, y - 1.3 * r, 1.3 * r,
			1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r);
	}
}

/* The variants' marks; @shown, where not NULL, is not 0 for those that the plot shows. */
static void legend(const struct study *s, const u64 *shown, FILE *out)
{
	fputs("<ul class=legend>", out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		if (shown && !shown[k])
			continue;
		fputs("<li><svg viewBox='0 0 14 14' aria-hidden=true>", out);
		marker(out, k, 7, 7, 4.5);
		fputs("</svg>", out);
		html_text(out, s->variant[k].name);
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}

static void open_svg(FILE *out, int height, const char *what)
{
	fprintf(out, "<svg viewBox='0 0 %d %d' role=img aria-label='", WIDTH, height);
	html_text(out, what);
	fputs("'>", out);
}

static void y_ticks(const struct axis *y, int left, enum study_unit unit, FILE *out)
{
	double step = tick_step(y->lo, y->hi);
	char buf[32];

	for (double v = ceil(y->lo / step) * step; v <= y->hi; v += step)
		fprintf(out, "<line class=grid-line x1=%d x2=%d y1=%.1f y2=%.1f /><text class=dimtext x=%d y=%.1f "
			"text-anchor=end>%s</text>", left, WIDTH - 8, at(y, v), at(y, v), left - 5, at(y, v) + 4,
			study_format(unit, fabs(v) < step / 1e6 ? 0 : v, buf));
}

void html_plot_runs(const struct study *s, FILE *out)
{
	struct axis x = { 0, s->rounds + 1, 66, WIDTH - 10, 0 }, y = { INFINITY, -INFINITY, 200, 10, 0 };
	double v[STAT_ROUNDS_MAX];
	unsigned char flag[STAT_ROUNDS_MAX];

	for (unsigned k = 0; k < s->n_variants; k++)
		for (unsigned i = study_values(s, k, s->primary, v); i--; )
			if (!isnan(v[i])) {
				y.lo = fmin(y.lo, v[i]);
				y.hi = fmax(y.hi, v[i]);
			}
	if (!(y.lo <= y.hi))
		return;
	pad(&y);
	open_svg(out, 236, "every run");
	y_ticks(&y, x.from, s->metric[s->primary].unit, out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		double m = study_median(s, k, s->primary);

		if (!isnan(m))
			fprintf(out, "<line class=k%u x1=%d x2=%d y1=%.1f y2=%.1f stroke-opacity=.7 />", k % SERIES, x.from,
				x.to, at(&y, m), at(&y, m));
	}
	for (unsigned k = 0; k < s->n_variants; k++) {
		unsigned n = study_values(s, k, s->primary, v);
		double shift = ((double)k - (s->n_variants - 1) / 2.0) * fmin(6, 250.0 / (s->rounds + 1) / s->n_variants);

		stat_outliers(v, n, flag);
		for (unsigned i = 0; i < n; i++) {
			if (isnan(v[i]))
				continue;
			marker(out, k, at(&x, i + 1) + shift, at(&y, v[i]), s->rounds > 40 ? 2 : 3.2);
			if (flag[i])
				fprintf(out, "<circle class=ring cx=%.1f cy=%.1f r=7 />", at(&x, i + 1) + shift, at(&y, v[i]));
		}
	}
	for (unsigned i = 1, step = (s->rounds + 9) / 10; i <= s->rounds; i += step)
		fprintf(out, "<text class=dimtext x=%.1f y=214 text-anchor=middle>%u</text>", at(&x, i), i);
	fprintf(out, "<text class=dimtext x=%d y=231 text-anchor=middle>round</text></svg>\n", (x.from + x.to) / 2);
	legend(s, NULL, out);
}

static const char *ratio_class(const struct study_metric *m, const struct stat_ratio *q)
{
	if (q->call == STAT_NO_DIFFERENCE)
		return "flat-s";
	if (m->better == BETTER_UNKNOWN)
		return "diff-s";
	return (q->call == STAT_LESS) == (m->better == BETTER_LESS) ? "good-s" : "bad-s";
}

static int plotted(const struct study *s, unsigned variant, unsigned metric, struct stat_ratio *q)
{
	return !s->metric[metric].why_not[0] && !study_compare(s, variant, metric, q) && q->lo > 0 && isfinite(q->hi);
}

static void ratio_ticks(const struct axis *x, int bottom, FILE *out)
{
	static const double ticks[] = { .01, .02, .05, .1, .2, .3, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100 };
	double last = -100;

	for (unsigned i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		double t = log10(ticks[i]), p;

		if (t < x->lo || t > x->hi)
			continue;
		p = at(x, ticks[i]);
		if (ticks[i] != 1 && (p - last < 26 || fabs(p - at(x, 1)) < 26))
			continue;
		last = p;
		fprintf(out, "<line class=%s x1=%.1f x2=%.1f y1=4 y2=%d /><text class=dimtext x=%.1f y=%d text-anchor=middle>"
			"%g</text>", ticks[i] == 1 ? "one" : "grid-line", p, p, bottom, p, bottom + 14, ticks[i]);
	}
}

void html_plot_ratios(const struct study *s, unsigned variant, FILE *out)
{
	struct axis x = { log10(0.9), log10(1.1), 0, WIDTH - 12, 1 };
	static const char *const of[] = { "", " (machine)", "" };
	size_t longest = 20, length;
	unsigned rows = 0;
	struct stat_ratio q;
	int bottom, row = 0;

	for (unsigned i = 0; i < s->n_metrics; i++)
		if (plotted(s, variant, i, &q)) {
			/* One that is beyond all measure is cut off at the edge, and must not flatten the others. */
			x.lo = fmin(x.lo, fmax(log10(q.lo), -1.3));
			x.hi = fmax(x.hi, fmin(log10(q.hi), 1.3));
			length = strlen(s->metric[i].name) + strlen(of[s->metric[i].scope]);
			longest = length > longest ? length : longest;
			rows++;
		}
	if (!rows)
		return;
	/* the names' room: 6 units a letter, as wide as common fonts are at this size, and no more than half of all */
	x.from = longest < WIDTH / 2 / 6 ? (int)(6 * longest + 12) : WIDTH / 2;
	pad(&x);
	bottom = 8 + 19 * (int)rows;
	open_svg(out, bottom + 34, "ratios and their intervals");
	ratio_ticks(&x, bottom, out);
	for (unsigned i = 0; i < s->n_metrics; i++) {
		double y = 8 + 19 * row + 10, lo, hi;
		const char *class;

		if (!plotted(s, variant, i, &q))
			continue;
		class = ratio_class(&s->metric[i], &q);
		lo = fmin(fmax(at(&x, q.lo), x.from), x.to);
		hi = fmin(fmax(at(&x, q.hi), x.from), x.to);
		fprintf(out, "<text x=%d y=%.1f text-anchor=end>", x.from - 6, y + 4);
		html_text(out, s->metric[i].name);
		html_text(out, of[s->metric[i].scope]);
		fprintf(out, "</text><line class=%s x1=%.1f x2=%.1f y1=%.1f y2=%.1f stroke-width=2.5 /><circle class=%s cx=%.1f "
			"cy=%.1f r=3.6><title>%.3f (%.3f to %.3f)</title></circle>", class, lo, hi, y, y, class,
			fmin(fmax(at(&x, q.ratio), x.from), x.to), y, q.ratio, q.lo, q.hi);
		row++;
	}
	fprintf(out, "<text class=dimtext x=%d y=%d text-anchor=middle>ratio to ", (x.from + x.to) / 2, bottom + 30);
	html_text(out, s->variant[0].name);
	fputs("</text></svg>\n", out);
}

static int latency_median(const struct study *s, unsigned variant, double *q, double *v)
{
	unsigned points = 0;
	double list[STAT_ROUNDS_MAX];

	for (unsigned i = 0; i < s->n_runs; i++)
		if (s->run[i].variant == variant && s->run[i].outcome == RUN_OK && s->run[i].load.points) {
			points = s->run[i].load.points;
			memcpy(q, s->run[i].load.q, points * sizeof(*q));
		}
	for (unsigned p = 0; p < points; p++) {
		unsigned n = 0;

		for (unsigned i = 0; i < s->n_runs && n < STAT_ROUNDS_MAX; i++)
			if (s->run[i].variant == variant && s->run[i].outcome == RUN_OK && s->run[i].load.points == points)
				list[n++] = s->run[i].load.latency_s[p];
		v[p] = stat_median(list, n);
	}
	return (int)points;
}

int html_has_latency(const struct study *s)
{
	double q[LATENCY_POINTS], v[LATENCY_POINTS];

	for (unsigned k = 0; k < s->n_variants; k++)
		if (latency_median(s, k, q, v))
			return 1;
	return 0;
}

/* The tail takes half of the width: 0 at the left, then 90, 99, 99.9 ... at equal distances. */
static double percentile_at(double q)
{
	return q >= 0.99999 ? 5 : -log10(1 - q);
}

void html_plot_latency(const struct study *s, FILE *out)
{
	static const struct { double q; const char *label; } ticks[] = {
		{ 0, "0" }, { .5, "50" }, { .9, "90" }, { .99, "99" }, { .999, "99.9" }, { .9999, "99.99" },
	};
	struct axis x = { 0, 4, 66, WIDTH - 22, 0 }, y = { INFINITY, -INFINITY, 200, 10, 1 };
	double q[LATENCY_POINTS], v[LATENCY_POINTS];
	char buf[32];

	for (unsigned k = 0; k < s->n_variants; k++)
		for (int p = latency_median(s, k, q, v); p-- > 0; )
			if (v[p] > 0 && percentile_at(q[p]) <= x.hi) {
				y.lo = fmin(y.lo, log10(v[p]));
				y.hi = fmax(y.hi, log10(v[p]));
			}
	if (!(y.lo <= y.hi))
		return;
	pad(&y);
	open_svg(out, 236, "latency by percentile");
	for (double e = floor(y.lo); e <= y.hi; e++)
		for (int m = 1; m <= 5; m += m == 1 ? 1 : 3) {
			double t = pow(10, e) * m;

			if (log10(t) < y.lo || log10(t) > y.hi || (m > 1 && y.hi - y.lo > 3))
				continue;
			fprintf(out, "<line class=grid-line x1=%d x2=%d y1=%.1f y2=%.1f /><text class=dimtext x=%d y=%.1f "
				"text-anchor=end>%s</text>", x.from, x.to, at(&y, t), at(&y, t), x.from - 5, at(&y, t) + 4,
				study_format(UNIT_SECONDS, t, buf));
		}
	for (unsigned i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		fprintf(out, "<text class=dimtext x=%.1f y=214 text-anchor=middle>%s</text>", at(&x, percentile_at(ticks[i].q)),
			ticks[i].label);
	for (unsigned k = 0; k < s->n_variants; k++) {
		int points = latency_median(s, k, q, v), begun = 0;

		if (!points)
			continue;
		fprintf(out, "<path class='curve k%u' d='", k % SERIES);
		for (int p = 0; p < points; p++)
			if (v[p] > 0 && percentile_at(q[p]) <= x.hi)
				fprintf(out, "%c%.1f %.1f", begun++ ? 'L' : 'M', at(&x, percentile_at(q[p])), at(&y, v[p]));
		fputs("'/>", out);
		for (int p = 0; p < points; p++)
			if (v[p] > 0 && (q[p] == .5 || q[p] == .9 || q[p] == .99 || q[p] == .999))
				marker(out, k, at(&x, percentile_at(q[p])), at(&y, v[p]), 3.2);
	}
	fprintf(out, "<text class=dimtext x=%d y=231 text-anchor=middle>percentile</text></svg>\n", (x.from + x.to) / 2);
	legend(s, NULL, out);
}

static u64 rule_sums(const struct study *s, unsigned variant, u64 sum[ROOST_RULE_COUNT])
{
	u64 total = 0;

	memset(sum, 0, ROOST_RULE_COUNT * sizeof(*sum));
	for (unsigned i = 0; i < s->n_runs; i++)
		for (unsigned r = 0; r < ROOST_RULE_COUNT; r++)
			if (s->run[i].variant == variant && s->run[i].outcome == RUN_OK && s->run[i].has_rules) {
				sum[r] += s->run[i].rules[r];
				total += s->run[i].rules[r];
			}
	return total;
}

int html_has_rules(const struct study *s)
{
	u64 sum[ROOST_RULE_COUNT];

	for (unsigned k = 0; k < s->n_variants; k++)
		if (rule_sums(s, k, sum))
			return 1;
	return 0;
}

/* One group of bars a rule, for every rule that any variant used for at least one choice in a thousand. */
void html_plot_rules(const struct study *s, FILE *out)
{
	static const struct { const char *name, *help; } rules[] = {
#define RULE(id, name, help) { name, help },
#include "policy/rules.def"
#undef RULE
	};
	u64 (*sum)[ROOST_RULE_COUNT] = calloc(s->n_variants, sizeof(*sum)), total[STUDY_VARIANTS_MAX];
	unsigned rows = 0, bars = 0;
	double y = 6;

	if (!sum)
		return;
	for (unsigned k = 0; k < s->n_variants; k++) {
		total[k] = rule_sums(s, k, sum[k]);
		bars += total[k] > 0;
	}
	for (unsigned r = 0; r < ROOST_RULE_COUNT; r++)
		for (unsigned k = 0; k < s->n_variants; k++)
			if (total[k] && sum[k][r] * 1000 >= total[k]) {
				rows++;
				break;
			}
	open_svg(out, 12 + (int)rows * ((int)bars * 11 + 8), "which rules chose the CPUs");
	for (unsigned r = 0; r < ROOST_RULE_COUNT; r++) {
		double most = 0;

		for (unsigned k = 0; k < s->n_variants; k++)
			if (total[k])
				most = fmax(most, (double)sum[k][r] / (double)total[k]);
		if (most < 0.001)
			continue;
		fprintf(out, "<text x=108 y=%.1f text-anchor=end>%s<title>", y + bars * 5.5 + 4, rules[r].name);
		html_text(out, rules[r].help);
		fputs("</title></text>", out);
		for (unsigned k = 0; k < s->n_variants; k++) {
			double share = total[k] ? (double)sum[k][r] / (double)total[k] : 0;

			if (!total[k])
				continue;
			fprintf(out, "<rect class=f%u x=114 y=%.1f width=%.1f height=9 rx=1.5 /><text x=%.1f y=%.1f>%.1f %%</text>",
				k % SERIES, y, 0.5 + share * 230, 120 + share * 230, y + 8.5, share * 100);
			y += 11;
		}
		y += 8;
	}
	fputs("</svg>\n", out);
	legend(s, total, out);
	free(sum);
}
