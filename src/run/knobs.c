/* SPDX-License-Identifier: GPL-2.0-only */
/* knobs.c - the knobs by name; see knobs.h. Everything about a knob comes from policy/knobs.def. */
#include "run/knobs.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "run/units.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

const struct knob knob_table[] = {
#define KNOB(field, key, alias, kind, min, max, def, help, origin) \
	{ key, alias, KNOB_##kind, min, max, def, help, origin, #field, offsetof(struct roost_knobs, field) },
#include "policy/knobs.def"
#undef KNOB
};
const size_t knob_count = COUNT_OF(knob_table);

_Static_assert(sizeof(struct roost_knobs) == COUNT_OF(knob_table) * sizeof(u64), "a knob is one u64");

static const char *const backends[] = {
	[ROOST_BACKEND_AUTO] = "auto",
	[ROOST_BACKEND_HALTPOLL] = "haltpoll",
	[ROOST_BACKEND_SPINNER] = "spinner",
};

const struct knob_profile knob_profiles[] = {
	{ "pre-5.13", "NO_idle-smt NO_idle-grace NO_util-fits NO_bias-prev NO_idle-spin NO_slice-ext",
	  "every feature off: the wakeup path of Linux 5.12" },
	{ "mainline", "idle-smt NO_idle-grace NO_util-fits NO_bias-prev NO_idle-spin NO_slice-ext",
	  "idle-smt on, the rest off: the wakeup path of Linux 5.13 and later" },
	{ "warm", "idle-smt util-fits bias-prev",
	  "keep tasks on warm CPUs: for loads of many short wakeups on many cores" },
};
const size_t knob_profile_count = COUNT_OF(knob_profiles);

__attribute__((format(printf, 2, 3)))
static int refuse(char *refusal, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(refusal, KNOB_REFUSAL_MAX, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void knobs_default(struct roost_knobs *k)
{
	for (size_t i = 0; i < knob_count; i++)
		knob_put(k, &knob_table[i], knob_table[i].def);
}

u64 knob_get(const struct roost_knobs *k, const struct knob *knob)
{
	/* relaxed: the struct may be the map that the kernel's side reads */
	return __atomic_load_n((const u64 *)((const char *)k + knob->offset), __ATOMIC_RELAXED);
}

void knob_put(struct roost_knobs *k, const struct knob *knob, u64 value)
{
	__atomic_store_n((u64 *)((char *)k + knob->offset), value, __ATOMIC_RELAXED);
}

/* Without case, '-' and '_' alike. */
static bool same_name(const char *a, const char *b, size_t b_len)
{
	size_t i;

	for (i = 0; a[i] && i < b_len; i++) {
		char x = a[i] == '_' ? '-' : (char)tolower((unsigned char)a[i]);
		char y = b[i] == '_' ? '-' : (char)tolower((unsigned char)b[i]);

		if (x != y)
			return false;
	}
	return !a[i] && i == b_len;
}

static const struct knob *find(const char *name, size_t len)
{
	if (!len)
		return NULL;
	for (size_t i = 0; i < knob_count; i++) {
		const struct knob *k = &knob_table[i];

		if (same_name(k->key, name, len) || (*k->alias && same_name(k->alias, name, len)))
			return k;
	}
	return NULL;
}

const struct knob *knob_find(const char *name)
{
	return find(name, strlen(name));
}

bool knob_is_on(const struct knob *knob, u64 value)
{
	return value != 0 || knob->kind == KNOB_BACKEND;
}

const char *knob_format(const struct knob *knob, u64 value, char buf[static KNOB_TEXT_MAX])
{
	_Static_assert(KNOB_TEXT_MAX >= UNITS_TEXT_MAX, "a time fits");

	switch (knob->kind) {
	case KNOB_TIME:
		units_format_time(value, buf);
		break;
	case KNOB_BOOL:
		snprintf(buf, KNOB_TEXT_MAX, "%s", value ? "on" : "off");
		break;
	case KNOB_PERCENT:
		snprintf(buf, KNOB_TEXT_MAX, "%llu%%", value);
		break;
	case KNOB_BACKEND:
		if (value < COUNT_OF(backends)) {
			snprintf(buf, KNOB_TEXT_MAX, "%s", backends[value]);
			break;
		}
		/* fall through */
	case KNOB_COUNT:
		snprintf(buf, KNOB_TEXT_MAX, "%llu", value);
		break;
	}
	return buf;
}

const char *knob_range(const struct knob *knob, char buf[static 2 * KNOB_TEXT_MAX])
{
	char lo[KNOB_TEXT_MAX], hi[KNOB_TEXT_MAX];

	if (knob->kind == KNOB_BOOL)
		snprintf(buf, 2 * KNOB_TEXT_MAX, "on|off");
	else if (knob->kind == KNOB_BACKEND)
		snprintf(buf, 2 * KNOB_TEXT_MAX, "auto|haltpoll|spinner");
	else
		snprintf(buf, 2 * KNOB_TEXT_MAX, "%s..%s", knob_format(knob, knob->min, lo),
			 knob_format(knob, knob->max, hi));
	return buf;
}

static int parse_value(const struct knob *knob, const char *text, u64 *value)
{
	double percent;
	int err = -EINVAL;

	switch (knob->kind) {
	case KNOB_TIME:
		if (strcasecmp(text, "off") == 0) {
			*value = 0;
			err = 0;
		} else {
			err = units_parse_time(text, value);
		}
		break;
	case KNOB_BOOL:
		err = units_parse_bool(text, value);
		break;
	case KNOB_COUNT:
		err = units_parse_count(text, value);
		break;
	case KNOB_PERCENT:
		err = units_parse_percent(text, &percent);
		if (!err && (percent > (double)knob->max || percent != (double)(u64)percent))
			err = -ERANGE;
		if (!err)
			*value = (u64)percent;
		break;
	case KNOB_BACKEND:
		for (size_t i = 0; i < COUNT_OF(backends); i++) {
			if (strcasecmp(text, backends[i]) == 0) {
				*value = i;
				err = 0;
			}
		}
		break;
	}
	if (!err && (*value < knob->min || *value > knob->max))
		err = -ERANGE;
	return err;
}

static int refuse_value(const struct knob *knob, const char *text, char *refusal)
{
	static const char *const takes[] = {
		[KNOB_TIME] = "a time with its unit (ns, us, ms, s), ",
		[KNOB_BOOL] = "",
		[KNOB_COUNT] = "a whole number, ",
		[KNOB_PERCENT] = "a whole percentage, ",
		[KNOB_BACKEND] = "",
	};
	char range[2 * KNOB_TEXT_MAX];

	return refuse(refusal, "%s=%.80s: takes %s%s", knob->key, text, takes[knob->kind],
		      knob_range(knob, range));
}

static int refuse_name(const char *name, size_t len, char *refusal)
{
	struct units_hint hint;
	char typed[64];

	snprintf(typed, sizeof(typed), "%.*s", (int)(len < 60 ? len : 60), name);
	units_hint_start(&hint, typed);
	for (size_t i = 0; i < knob_count; i++) {
		units_hint_offer(&hint, knob_table[i].key);
		units_hint_offer(&hint, knob_table[i].alias);
	}
	if (units_hint_best(&hint))
		return refuse(refusal, "unknown knob '%s'; did you mean '%s'?", typed, units_hint_best(&hint));
	return refuse(refusal, "unknown knob '%s'; 'roost features' lists them", typed);
}

/* "NO_x" and "no-x" switch x off. */
static bool is_negated(const char *name, size_t len)
{
	return len > 3 && strncasecmp(name, "no", 2) == 0 && (name[2] == '_' || name[2] == '-');
}

static int assign_bare(struct roost_knobs *k, const char *name, char *refusal)
{
	size_t len = strlen(name);
	const struct knob *knob = find(name, len);
	char range[2 * KNOB_TEXT_MAX];

	if (knob) {
		if (knob->kind != KNOB_BOOL)
			return refuse(refusal, "%s needs a value: %s=VALUE, %s", knob->key, knob->key,
				      knob_range(knob, range));
		knob_put(k, knob, 1);
		return 0;
	}
	if (!is_negated(name, len))
		return refuse_name(name, len, refusal);
	knob = find(name + 3, len - 3);
	if (!knob)
		return refuse_name(name + 3, len - 3, refusal);
	if (knob->min > 0 || knob->kind == KNOB_BACKEND)
		return refuse(refusal, "%.60s: %s cannot be switched off; takes %s", name, knob->key,
			      knob_range(knob, range));
	knob_put(k, knob, 0);
	return 0;
}

static int assign(struct roost_knobs *k, const char *assignment, char *refusal)
{
	const char *eq = strchr(assignment, '=');
	const struct knob *knob;
	size_t len;
	u64 value;

	if (!eq)
		return assign_bare(k, assignment, refusal);
	len = (size_t)(eq - assignment);
	knob = find(assignment, len);
	if (!knob) {
		if (is_negated(assignment, len) && find(assignment + 3, len - 3))
			return refuse(refusal, "%.60s: NO_ takes no value; write %s=VALUE", assignment,
				      find(assignment + 3, len - 3)->key);
		return refuse_name(assignment, len, refusal);
	}
	if (parse_value(knob, eq + 1, &value))
		return refuse_value(knob, eq + 1, refusal);
	knob_put(k, knob, value);
	return 0;
}

int knobs_check(const struct roost_knobs *k, char refusal[static KNOB_REFUSAL_MAX])
{
	char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];

	if (k->slice_min_ns > k->slice_ns)
		return refuse(refusal, "slice-min=%s is longer than slice=%s; it must not be",
			      units_format_time(k->slice_min_ns, a), units_format_time(k->slice_ns, b));
	return 0;
}

void knobs_copy(struct roost_knobs *to, const struct roost_knobs *from)
{
	for (size_t i = 0; i < knob_count; i++) {
		u64 v = knob_get(from, &knob_table[i]);

		if (v != knob_get(to, &knob_table[i]))
			knob_put(to, &knob_table[i], v);
	}
}

int knobs_parse(struct roost_knobs *k, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX])
{
	struct roost_knobs new = *k;
	int err;

	for (size_t i = 0; i < nr; i++) {
		err = assign(&new, assignments[i], refusal);
		if (err)
			return err;
	}
	knobs_copy(k, &new);
	return 0;
}

int knobs_assign(struct roost_knobs *k, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX])
{
	struct roost_knobs new = *k;
	int err;

	err = knobs_parse(&new, assignments, nr, refusal);
	if (!err)
		err = knobs_check(&new, refusal);
	if (!err)
		knobs_copy(k, &new);
	return err;
}
