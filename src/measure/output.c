/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the numbers output.h speaks of. */
#include "measure/output.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of a plain name before "=", or 0. */
static size_t name_length(const char *text)
{
	size_t n = strcspn(text, "=");

	if (!text[n] || !n || n >= PATTERN_NAME_MAX || !isalpha((unsigned char)text[0]))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int last = i + 1 == n;

		if (!isalnum((unsigned char)text[i]) && !strchr(last ? "_/.%-+" : "_/.%-", text[i]))
			return 0;
	}
	return n;
}

int pattern_compile(struct pattern *p, const char *text, char *err, size_t err_len)
{
	size_t n = name_length(text);
	const char *re = n ? text + n + 1 : text;
	int rc;

	memset(p, 0, sizeof(*p));
	if (n) {
		char end = text[n - 1];

		p->better = end == '+' ? BETTER_MORE : end == '-' ? BETTER_LESS : BETTER_UNKNOWN;
		snprintf(p->name, sizeof(p->name), "%.*s", (int)(n - (p->better != BETTER_UNKNOWN)), text);
	} else {
		snprintf(p->name, sizeof(p->name), "%.31s", text);
		for (char *c = p->name; *c; c++)
			*c = iscntrl((unsigned char)*c) ? '?' : *c; /* it heads a row */
	}
	rc = regcomp(&p->regex, re, REG_EXTENDED | REG_NEWLINE);
	if (rc) {
		char why[120];

		regerror(rc, &p->regex, why, sizeof(why));
		snprintf(err, err_len, "--metric '%s': not a POSIX extended regular expression: %s", re, why);
		return -EINVAL;
	}
	if (p->regex.re_nsub != 1) {
		snprintf(err, err_len, "--metric '%s': %zu groups; it needs exactly one, round the number: "
			 "'requests/s: ([0-9.]+)'", re, p->regex.re_nsub);
		regfree(&p->regex);
		return -EINVAL;
	}
	return 0;
}

void pattern_free(struct pattern *p)
{
	regfree(&p->regex);
}

/* "1,234.5" is a number to people; 3.5k is not taken for 3.5. */
static double to_number(const char *s, size_t len)
{
	char buf[64], *end;
	size_t n = 0;
	double v;

	for (size_t i = 0; i < len && n + 1 < sizeof(buf); i++)
		if (s[i] != ',')
			buf[n++] = s[i];
	buf[n] = 0;
	v = strtod(buf, &end);
	return end == buf || *end || !isfinite(v) ? NAN : v;
}

double pattern_find(const struct pattern *p, const char *output)
{
	double v = NAN;
	regmatch_t m[2];
	int flags = 0;

	while (*output && !regexec(&p->regex, output, 2, m, flags)) {
		if (m[1].rm_so >= 0)
			v = to_number(output + m[1].rm_so, (size_t)(m[1].rm_eo - m[1].rm_so));
		if (m[0].rm_eo > 0) {
			output += m[0].rm_eo;
			flags = output[-1] == '\n' ? 0 : REG_NOTBOL;
		} else {
			output++;
			flags = REG_NOTBOL;
		}
	}
	return v;
}

static double get(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take(struct load_line *l, json_t *o)
{
	json_t *lat = json_object_get(o, "latency_ns"), *cdf = json_object_get(lat, "cdf"), *point;
	size_t i;

	memset(l, 0, sizeof(*l));
	snprintf(l->load, sizeof(l->load), "%s", json_string_value(json_object_get(o, "load")));
	snprintf(l->unit, sizeof(l->unit), "%s", json_string_value(json_object_get(o, "unit")));
	l->ops_per_second = get(o, "ops_per_second");
	l->p50_s = get(lat, "p50") / 1e9;
	l->p95_s = get(lat, "p95") / 1e9;
	l->p99_s = get(lat, "p99") / 1e9;
	l->found = 1;
	json_array_foreach(cdf, i, point) {
		if (i == LATENCY_POINTS)
			break;
		l->q[i] = json_number_value(json_array_get(point, 0));
		l->latency_s[i] = json_number_value(json_array_get(point, 1)) / 1e9;
		l->points++;
	}
}

void load_line_find(struct load_line *l, const char *output)
{
	memset(l, 0, sizeof(*l));
	for (const char *p = output; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		json_t *o;

		if (strncmp(p, "{\"load\":", 8))
			continue;
		o = json_loadb(p, strcspn(p, "\n"), 0, NULL);
		if (json_is_string(json_object_get(o, "load")) && json_is_string(json_object_get(o, "unit")))
			take(l, o);
		json_decref(o);
	}
}
