/* SPDX-License-Identifier: GPL-2.0-only */
/* compare_variants.c - what --variants says. */
#include "cli/compare.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASSIGN_MAX 32

static int refuse(char *refusal, size_t size, const char *what, const char *item, const char *right)
{
	snprintf(refusal, size, "--variants: '%.80s': %s; %s", item, what, right);
	return -EINVAL;
}

static bool good_name(const char *s)
{
	if (!isalnum((unsigned char)*s) || strlen(s) > 40)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+-", *s))
			return false;
	return true;
}

static int inline_variant(struct compare_variant *v, char *const *assign, size_t nr, char *refusal, size_t size)
{
	char why[KNOB_REFUSAL_MAX];
	size_t first = 0;

	knobs_default(&v->knobs);
	if (nr && !strncmp(assign[0], "profile=", 8)) {
		first = 1;
		if (knobs_profile(&v->knobs, assign[0] + 8, KNOB_PROFILE_DIR, why))
			goto refused;
	}
	if (nr > first && knobs_assign(&v->knobs, assign + first, nr - first, why))
		goto refused;
	return 0;
refused:
	snprintf(refusal, size, "--variants: %s: %.400s", v->name, why);
	return -EINVAL;
}

/* kernel:KEY=VALUE,... keeps its settings in its name: there may be several. */
static int kernel_variant(struct compare_variant *v, char *const *assign, size_t nr, char *refusal, size_t size)
{
	char why[KNOB_REFUSAL_MAX];
	size_t n = strlen(v->name);

	v->kernel = true;
	if (!nr)
		return refuse(refusal, size, "no setting", "kernel:", "give kernel alone, or as in kernel:bias-prev=on");
	if (fair_parse(&v->fair, assign, nr, why)) {
		snprintf(refusal, size, "--variants: %s: %.400s", v->name, why);
		return -EINVAL;
	}
	for (size_t i = 0; i < nr && n < sizeof(v->name); i++)
		n += (size_t)snprintf(v->name + n, sizeof(v->name) - n, "%c%s", i ? '+' : ':', assign[i]);
	return 0;
}

/* A variant and the KEY=VALUE items that follow it; item[0] is the name or NAME:KEY=VALUE. */
static int one_variant(struct compare_variant *v, char **item, size_t nr, char *refusal, size_t size)
{
	static const char right[] = "give kernel, a profile ('roost features' lists knobs), or NAME:KEY=VALUE,...";
	char *colon = strchr(item[0], ':'), why[KNOB_REFUSAL_MAX], *assign[ASSIGN_MAX];
	size_t n = 0;

	memset(v, 0, sizeof(*v));
	if (colon)
		*colon = 0;
	if (!good_name(item[0]))
		return refuse(refusal, size, "not a name", item[0], right);
	snprintf(v->name, sizeof(v->name), "%s", item[0]);
	if (colon) {
		if (colon[1])
			assign[n++] = colon + 1;
		for (size_t i = 1; i < nr; i++)
			assign[n++] = item[i];
		if (!strcmp(v->name, "kernel"))
			return kernel_variant(v, assign, n, refusal, size);
		return inline_variant(v, assign, n, refusal, size);
	}
	if (!strcmp(v->name, "kernel")) {
		v->kernel = true;
		return 0;
	}
	if (knobs_profile(&v->knobs, v->name, KNOB_PROFILE_DIR, why)) {
		snprintf(refusal, size, "--variants: %.400s", why);
		return -EINVAL;
	}
	return 0;
}

int compare_parse_variants(const char *text, struct compare_variant *v, unsigned *n, char *refusal, size_t size)
{
	char *copy = strdup(text), *item[256], *save, *w;
	size_t items = 0, i = 0, next;
	int rc = 0;

	*n = 0;
	if (!copy)
		return -ENOMEM;
	for (w = strtok_r(copy, ",", &save); w && items < 256; w = strtok_r(NULL, ",", &save))
		item[items++] = w;
	if (!items)
		rc = refuse(refusal, size, "empty", text, "give at least one, as in kernel,warm");
	for (; i < items && !rc; i = next) {
		/* key=value without a colon belongs to the inline variant before it */
		for (next = i + 1; strchr(item[i], ':') && next < items && strchr(item[next], '=') &&
		     !strchr(item[next], ':'); next++)
			;
		if (*n == STUDY_VARIANTS_MAX || next - i >= ASSIGN_MAX)
			rc = refuse(refusal, size, "too many", item[i], "16 variants of 31 knobs are the limit");
		else
			rc = one_variant(&v[(*n)++], item + i, next - i, refusal, size);
	}
	free(copy);
	return rc;
}

void compare_knobs_text(const struct roost_knobs *k, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < knob_count && n < size; i++) {
		u64 value = knob_get(k, &knob_table[i]);
		char text[KNOB_TEXT_MAX];

		if (value != knob_table[i].def)
			n += (size_t)snprintf(buf + n, size - n, "%s%s=%s", n ? " " : "", knob_table[i].key,
					      knob_format(&knob_table[i], value, text));
	}
	if (!n)
		snprintf(buf, size, "every knob at its default");
}
