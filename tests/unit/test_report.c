/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTML report: self-contained, nothing of the user's text taken for markup, every part there when its data is
 * and absent when not, drawings within their frames. With ROOST_REPORT_OUT=FILE the report is kept for a look.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/html.h"
#include "measure/rng.h"

static void fill(struct study *s, unsigned variants, unsigned rounds, int full)
{
	static const char *const names[] = { "kernel", "warm", "mainline <b>", "grace1ms", "x5" };
	static const double factor[] = { 1, 0.82, 1.01, 1.15, 0.99 };
	struct rng r = { 11 };

	study_init(s);
	s->command = strdup("roost load hackbench -g 4 '<script>alert(1)</script>' & \"echo\"");
	s->repeat = strdup("roost compare --variants kernel,warm --runs 12 -- roost load hackbench -g 4");
	snprintf(s->machine, sizeof(s->machine), "16 CPUs: 2 sockets, 4 LLCs, 8 cores, SMT 2");
	snprintf(s->kernel, sizeof(s->kernel), "Linux 7.3.4+deb13-cloud-amd64");
	snprintf(s->when, sizeof(s->when), "2026-11-30 21:00 UTC");
	for (unsigned k = 0; k < variants; k++)
		study_add_variant(s, names[k], k ? "idle-smt=on util-fits=on bias-prev=on" : "");
	snprintf(s->metric[M_L2].why_not, sizeof(s->metric[0].why_not), "no counter");
	s->rounds = rounds;
	for (unsigned i = 0; i < rounds * variants; i++) {
		unsigned k = i % variants;
		double f = factor[k] * exp(0.03 * rng_normal(&r));
		struct study_run run;

		study_run_init(&run);
		run.variant = k;
		run.round = i / variants;
		for (unsigned m = 0; m < M_LOAD_RATE; m++)
			run.value[m] = f * (m + 1) * (1 + 0.02 * rng_normal(&r));
		run.value[M_L2] = NAN;
		run.value[M_MIGRATIONS] = 5000 * pow(f, 6);
		if (i == 5)
			run.value[M_TIME] *= 1.6;
		if (full) {
			run.load = (struct load_line){ .found = 1, .unit = "messages", .points = 30 };
			for (unsigned p = 0; p < 30; p++) {
				run.load.q[p] = p < 20 ? p / 20.0 : 1 - 0.05 * pow(0.5, p - 20);
				run.load.latency_s[p] = f * 1e-5 * -log(1 - run.load.q[p] * 0.99999) + 1e-6;
			}
			run.value[M_LOAD_RATE] = 1e6 / f;
			run.value[M_LOAD_P99] = 1e-4 * f;
			run.has_rules = k > 0;
			run.rules[ROOST_RULE_PREV_IDLE] = 600;
			run.rules[ROOST_RULE_SCAN_CORE] = 250 + 40 * k;
			run.rules[ROOST_RULE_TARGET_LAST] = 100;
		}
		if (i == 7) {
			run.outcome = RUN_FAILED;
			snprintf(run.note, sizeof(run.note), "exit code 3");
		}
		study_add_run(s, &run);
	}
	study_settle(s);
}

static char *report_of(const struct study *s)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(study_report(s, f), 0);
	fclose(f);
	return text;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* Every element that is not void is closed, in order. */
static void assert_balanced(const char *html)
{
	static const char *const voids[] = { "meta", "!doctype", "line", "circle", "rect", "path" };
	char stack[64][16];
	unsigned depth = 0;

	for (const char *p = html; (p = strchr(p, '<')); p++) {
		int closing = p[1] == '/', skip = 0;
		const char *end = strchr(p, '>');
		char name[16] = "";
		unsigned n = 0;

		for (const char *c = p + 1 + closing; n < 15 && (isalnum((unsigned char)*c) || *c == '!'); c++)
			name[n++] = *c;
		name[n] = 0;
		assert_true(n > 0);
		for (unsigned i = 0; i < sizeof(voids) / sizeof(voids[0]); i++)
			skip |= !strcmp(name, voids[i]) && (end[-1] == '/' || i < 2);
		if (closing) {
			assert_true(depth > 0);
			assert_string_equal(name, stack[--depth]);
		} else if (!skip) {
			assert_true(depth < 64);
			strcpy(stack[depth++], name);
		}
	}
	assert_int_equal(depth, 0);
}

/* No coordinate is off the drawing, or not a number. */
static void assert_inside(const char *html)
{
	static const char *const attrs[] = { " x1=", " x2=", " cx=", " cy=", " y1=", " y2=", " x=", " y=" };

	assert_null(strstr(html, "nan"));
	assert_null(strstr(html, "=inf"));
	for (unsigned i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		for (const char *p = html; (p = strstr(p, attrs[i])); p++) {
			double v = atof(p + strlen(attrs[i]));

			assert_true(v >= -2 && v <= (strchr(attrs[i], 'x') ? 402 : 700));
		}
}

static void all_parts(void **state)
{
	struct study s;
	char *html, *keep = getenv("ROOST_REPORT_OUT");

	fill(&s, 3, 12, 1);
	html = report_of(&s);
	assert_balanced(html);
	assert_inside(html);
	assert_null(strstr(html, "<script"));
	assert_null(strstr(html, "http"));
	assert_null(strstr(html, "url("));
	assert_non_null(strstr(html, "&lt;script&gt;alert(1)"));
	assert_non_null(strstr(html, "mainline &lt;b&gt;"));
	assert_non_null(strstr(html, "Latency distribution"));
	assert_non_null(strstr(html, "Which rule chose the CPU"));
	assert_non_null(strstr(html, "Not counted here: L2 misses"));
	assert_non_null(strstr(html, "failed: exit code 3"));
	assert_non_null(strstr(html, s.repeat));
	assert_int_equal(count(html, "class='card verdict"), 2);
	assert_true(strlen(html) < 100000);
	if (keep) {
		FILE *f = fopen(keep, "w");

		fputs(html, f);
		fclose(f);
	}
	free(html);
	study_free(&s);
}

static void parts_without_data_are_absent(void **state)
{
	struct study s;
	char *html;

	fill(&s, 2, 6, 0);
	html = report_of(&s);
	assert_balanced(html);
	assert_inside(html);
	assert_null(strstr(html, "Latency distribution"));
	assert_null(strstr(html, "Which rule"));
	free(html);
	study_free(&s);
	/* Not one run, one variant, a single round, many variants: it must still be a page. */
	study_init(&s);
	html = report_of(&s);
	assert_balanced(html);
	free(html);
	study_free(&s);
	for (unsigned v = 1; v <= 5; v++) {
		fill(&s, v, v == 5 ? 300 : 1, 1);
		html = report_of(&s);
		assert_balanced(html);
		assert_inside(html);
		free(html);
		study_free(&s);
	}
}

/* Extremes: a metric a million times larger, one that never varies. */
static void extremes(void **state)
{
	struct study s;
	char *html;

	fill(&s, 2, 8, 0);
	for (unsigned i = 0; i < s.n_runs; i++) {
		s.run[i].value[M_TIME] = 1;
		s.run[i].value[M_MIGRATIONS] = s.run[i].variant ? 1e6 : 1;
		s.run[i].value[M_RUN_DELAY] = 0;
	}
	html = report_of(&s);
	assert_balanced(html);
	assert_inside(html);
	free(html);
	study_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts),
		cmocka_unit_test(parts_without_data_are_absent),
		cmocka_unit_test(extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
