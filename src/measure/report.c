/* SPDX-License-Identifier: GPL-2.0-only */
/* The HTML report of a comparison: one file, no network, no script. */
#include "measure/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const scope_names[] = { "The command and its children", "The whole machine", "As printed by the command" };
static const char *const outcome_names[] = { "", "failed", "ejected", "not loaded", "stopped" };

static const char *call_class(const struct study_metric *m, const struct stat_ratio *q)
{
	if (q->call == STAT_NO_DIFFERENCE)
		return "";
	if (m->better == BETTER_UNKNOWN)
		return "diff";
	return (q->call == STAT_LESS) == (m->better == BETTER_LESS) ? "good" : "bad";
}

static void verdicts(const struct study *s, FILE *out)
{
	char text[1200];

	for (unsigned k = 1; k < s->n_variants; k++) {
		struct stat_ratio q;
		const char *class = study_compare(s, k, s->primary, &q) ? "" : call_class(&s->metric[s->primary], &q);

		study_verdict(s, k, text, sizeof(text));
		fprintf(out, "<div class='card verdict %s'><p>", class);
		html_text(out, text);
		fputs("</p></div>\n", out);
	}
	if (s->partial)
		fprintf(out, "<p class=dim>Interrupted: %u rounds were begun.</p>\n", s->rounds);
}

static void table_row(const struct study *s, unsigned metric, FILE *out)
{
	const struct study_metric *m = &s->metric[metric];
	char buf[32];

	fputs("<tr><td>", out);
	html_text(out, m->name);
	fputs("</td>", out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		struct stat_ratio q;

		fprintf(out, "<td>%s</td>", study_format(m->unit, study_median(s, k, metric), buf));
		if (!k)
			continue;
		if (study_compare(s, k, metric, &q))
			fputs("<td class=dim>-</td>", out);
		else if (q.hi >= 100)
			fprintf(out, "<td>%.3g <span class=dim>too wide to tell</span></td>", q.ratio);
		else
			fprintf(out, "<td class='%s'>%.3f <span class=dim>(%.3f&hairsp;&ndash;&hairsp;%.3f)</span></td>",
				call_class(m, &q), q.ratio, q.lo, q.hi);
	}
	fputs("</tr>\n", out);
}

static void table(const struct study *s, FILE *out)
{
	int scope = -1;

	fputs("<section class=card><h2>Medians, ratios and 95 % intervals</h2><div class=wide><table><thead><tr><th>Median of "
	      "the runs</th>", out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		fputs("<th>", out);
		html_text(out, s->variant[k].name);
		fputs(k ? "</th><th>ratio (95 %)</th>" : "</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (unsigned i = 0; i < s->n_metrics; i++) {
		const struct study_metric *m = &s->metric[i];

		if (m->why_not[0] || (m->optional && !study_metric_seen(s, i)))
			continue;
		if ((int)m->scope != scope)
			fprintf(out, "<tr class=scope><td colspan=%u>%s</td></tr>\n", 2 * s->n_variants, scope_names[m->scope]);
		scope = (int)m->scope;
		table_row(s, i, out);
	}
	fputs("</tbody></table></div><p class=dim>A ratio is printed in colour when its interval does not hold 1: only then is a "
	      "difference shown.</p></section>\n", out);
}

static void notes(const struct study *s, FILE *out)
{
	double v[STAT_ROUNDS_MAX];
	unsigned char flag[STAT_ROUNDS_MAX];
	char a[32], b[32];

	fputs("<section class=card><h2>Notes</h2><ul class=notes>\n", out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		unsigned n = study_values(s, k, s->primary, v);

		stat_outliers(v, n, flag);
		for (unsigned i = 0; i < n; i++) {
			if (!flag[i])
				continue;
			fprintf(out, "<li>Outlier: round %u of ", i + 1);
			html_text(out, s->variant[k].name);
			fprintf(out, ", %s where the median is %s (ringed, and kept).</li>\n",
				study_format(s->metric[s->primary].unit, v[i], a),
				study_format(s->metric[s->primary].unit, stat_median(v, n), b));
		}
	}
	for (unsigned i = 0; i < s->n_runs; i++) {
		const struct study_run *r = &s->run[i];

		if (r->outcome == RUN_OK || r->outcome == RUN_STOPPED)
			continue;
		fprintf(out, "<li>Round %u of ", r->round + 1);
		html_text(out, s->variant[r->variant].name);
		fprintf(out, " %s: ", outcome_names[r->outcome]);
		html_text(out, r->note);
		fputs(". Not counted.</li>\n", out);
	}
	for (unsigned i = 0; i < s->n_metrics; i++) {
		if (!s->metric[i].why_not[0])
			continue;
		fputs("<li>Not counted here: ", out);
		html_text(out, s->metric[i].name);
		fputs(s->metric[i].scope == SCOPE_MACHINE ? " (machine): " : ": ", out);
		html_text(out, s->metric[i].why_not);
		fputs(".</li>\n", out);
	}
	fputs("<li>Variants ran interleaved, in an order drawn anew in each round. The ratio is the Hodges-Lehmann estimate over the "
	      "rounds, the interval that of the signed-rank test.</li></ul></section>\n", out);
}

static void facts(const struct study *s, FILE *out)
{
	fputs("<section class=card><h2>Machine and command</h2><dl><dt>Machine</dt><dd>", out);
	html_text(out, s->machine);
	fputs("</dd><dt>Kernel</dt><dd>", out);
	html_text(out, s->kernel);
	fputs("</dd><dt>When</dt><dd>", out);
	html_text(out, s->when);
	fputs("</dd>", out);
	for (unsigned k = 0; k < s->n_variants; k++) {
		fputs("<dt>", out);
		html_text(out, s->variant[k].name);
		fputs("</dt><dd>", out);
		html_text(out, s->variant[k].what[0] ? s->variant[k].what : "the kernel's own scheduler, roost not loaded");
		fprintf(out, " &middot; %u runs counted</dd>", study_count(s, k, RUN_OK));
	}
	fputs("</dl><p style='margin-top:12px'>To repeat it:</p><pre>", out);
	html_text(out, s->repeat);
	fputs("</pre></section>\n", out);
}

static void raw(const struct study *s, FILE *out)
{
	char buf[32];

	fputs("<section class=card><details><summary>Every run</summary><div class=wide><table><thead><tr><th>Variant</th><th>round"
	      "</th><th>at</th><th>outcome</th>", out);
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (study_metric_seen(s, i)) {
			fputs("<th>", out);
			html_text(out, s->metric[i].name);
			fputs("</th>", out);
		}
	fputs("</tr></thead><tbody>\n", out);
	for (unsigned i = 0; i < s->n_runs; i++) {
		const struct study_run *r = &s->run[i];

		fputs("<tr><td>", out);
		html_text(out, s->variant[r->variant].name);
		fprintf(out, "</td><td>%u</td><td>%.1f s</td><td>%s</td>", r->round + 1, r->at_s,
			r->outcome == RUN_OK ? "ok" : outcome_names[r->outcome]);
		for (unsigned k = 0; k < s->n_metrics; k++)
			if (study_metric_seen(s, k))
				fprintf(out, "<td>%s</td>", study_format(s->metric[k].unit, r->value[k], buf));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div></details></section>\n", out);
}

int study_report(const struct study *s, FILE *out)
{
	fputs("<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
	      "content='width=device-width,initial-scale=1'><title>roost compare: ", out);
	html_text(out, s->command);
	fprintf(out, "</title><style>%s</style></head><body><main>\n<header><p class=dim>roost compare</p><h1>Does it help "
		"<code>", html_style);
	html_text(out, s->command);
	fputs("</code>?</h1></header>\n", out);
	verdicts(s, out);
	fputs("<div class=grid><section class=card><h2>Every run: ", out);
	html_text(out, s->metric[s->primary].name);
	fputs("</h2>\n", out);
	html_plot_runs(s, out);
	fputs("</section>\n", out);
	for (unsigned k = 1; k < s->n_variants; k++) {
		fputs("<section class=card><h2>", out);
		html_text(out, s->variant[k].name);
		fputs(" against ", out);
		html_text(out, s->variant[0].name);
		fputs("</h2>\n", out);
		html_plot_ratios(s, k, out);
		fputs("</section>\n", out);
	}
	if (html_has_latency(s)) {
		fputs("<section class=card><h2>Latency distribution</h2>\n", out);
		html_plot_latency(s, out);
		fputs("</section>\n", out);
	}
	if (html_has_rules(s)) {
		fputs("<section class=card><h2>Which rule chose the CPU</h2>\n", out);
		html_plot_rules(s, out);
		fputs("</section>\n", out);
	}
	fputs("</div>\n", out);
	table(s, out);
	notes(s, out);
	facts(s, out);
	raw(s, out);
	fputs("<p class=dim>Made by roost " ROOST_VERSION ".</p></main></body></html>\n", out);
	return ferror(out) ? -EIO : 0;
}
