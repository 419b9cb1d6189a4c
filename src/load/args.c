/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loads' option tables: parsing and help. Option letters are those of the real tools, so that a
 * command line can be carried over. The whole string parses or it is refused.
 */
#include "load/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct load *const load_all[] = {
	&load_hackbench, &load_schbench, &load_pingpong, &load_lockfight, &load_memcache, &load_web, NULL,
};

const struct load *load_find(const char *name)
{
	for (unsigned i = 0; load_all[i]; i++)
		if (!strcmp(load_all[i]->name, name))
			return load_all[i];
	return NULL;
}

/* "1.5ms" in nanoseconds, or "64K" as a count; @unit is what a bare number is multiplied by. */
static int parse_number(const char *s, uint64_t unit, int is_time, uint64_t *out)
{
	static const struct { const char *suffix; double by; } times[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 },
	}, counts[] = {
		{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "", 1 }, { "", 1 },
	};
	char *end;
	double v;

	if (!(*s >= '0' && *s <= '9') && *s != '.')
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (errno || end == s || strpbrk(s, "xXpP"))
		return -EINVAL;
	if (!*end) {
		v *= (double)unit;
	} else {
		unsigned i;

		for (i = 0; i < 5; i++)
			if (!strcmp(end, is_time ? times[i].suffix : counts[i].suffix))
				break;
		if (i == 5)
			return -EINVAL;
		v *= is_time ? times[i].by : counts[i].by;
	}
	if (!(v >= 0 && v < 1e18) || (!is_time && v != (double)(uint64_t)v))
		return -EINVAL;
	*out = (uint64_t)v;
	return 0;
}

static int parse_word(const char *words, const char *s, uint64_t *out)
{
	size_t len = strlen(s);
	uint64_t i = 0;

	for (const char *w = words; ; i++) {
		size_t n = strcspn(w, "|");

		if (n == len && !strncmp(w, s, n)) {
			*out = i;
			return 0;
		}
		if (!w[n])
			return -EINVAL;
		w += n + 1;
	}
}

static int parse_pair(const char *s, int pair[2])
{
	char extra;

	if (strspn(s, "0123456789,") != strlen(s) || sscanf(s, "%4d,%4d%c", &pair[0], &pair[1], &extra) != 2)
		return -EINVAL;
	return 0;
}

static void show(const struct load_opt *o, uint64_t v, char *buf, size_t len)
{
	if (o->kind == LOAD_SECONDS)
		snprintf(buf, len, "%gs", (double)v / 1e9);
	else if (o->kind == LOAD_MICROS)
		snprintf(buf, len, "%gus", (double)v / 1e3);
	else
		snprintf(buf, len, "%" PRIu64, v);
}

static void range(const struct load_opt *o, char *buf, size_t len)
{
	char lo[32], hi[32];

	show(o, o->min, lo, sizeof(lo));
	show(o, o->max, hi, sizeof(hi));
	if (o->kind == LOAD_WORD)
		snprintf(buf, len, "one of %s", o->words);
	else if (o->kind == LOAD_CPU_PAIR)
		snprintf(buf, len, "two CPU numbers, A,B");
	else
		snprintf(buf, len, "%s to %s", lo, hi);
}

static int set(const struct load *l, const struct load_opt *o, const char *s, char *conf, char *err, size_t err_len)
{
	uint64_t v = 0;
	int rc = 0;

	switch (o->kind) {
	case LOAD_COUNT:
		rc = parse_number(s, 1, 0, &v);
		break;
	case LOAD_SECONDS:
		rc = parse_number(s, 1000000000, 1, &v);
		break;
	case LOAD_MICROS:
		rc = parse_number(s, 1000, 1, &v);
		break;
	case LOAD_WORD:
		rc = parse_word(o->words, s, &v);
		break;
	case LOAD_CPU_PAIR:
		rc = parse_pair(s, (int *)(conf + o->offset));
		break;
	case LOAD_FLAG:
		break;
	}
	if (rc || (o->kind < LOAD_FLAG && (v < o->min || v > o->max))) {
		char r[200];

		range(o, r, sizeof(r));
		snprintf(err, err_len, "%s: --%s: '%s' is not accepted; give %s", l->name, o->name, s, r);
		return -EINVAL;
	}
	if (o->kind != LOAD_CPU_PAIR)
		memcpy(conf + o->offset, &v, sizeof(v));
	return 0;
}

static const struct load_opt *match(const struct load *l, const char *arg, const char **value)
{
	*value = NULL;
	for (const struct load_opt *o = l->opts; o->name; o++) {
		size_t n = strlen(o->name);

		if (!strncmp(arg, "--", 2) && !strncmp(arg + 2, o->name, n) && (!arg[2 + n] || arg[2 + n] == '=')) {
			*value = arg[2 + n] ? arg + 2 + n + 1 : NULL;
			return o;
		}
		if (o->letter && arg[0] == '-' && arg[1] == o->letter && (!arg[2] || o->kind != LOAD_FLAG)) {
			*value = arg[2] ? arg + 2 : NULL;
			return o;
		}
	}
	return NULL;
}

int load_parse(const struct load *l, int argc, char **argv, void *conf, char *err, size_t err_len)
{
	memset(conf, 0, l->conf_size);
	for (const struct load_opt *o = l->opts; o->name; o++) {
		if (o->kind == LOAD_CPU_PAIR)
			((int *)((char *)conf + o->offset))[0] = -1;
		else if (o->kind != LOAD_FLAG)
			memcpy((char *)conf + o->offset, &o->def, sizeof(o->def));
	}
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct load_opt *o = match(l, argv[i], &value);

		if (!o) {
			snprintf(err, err_len, "%s: no such option: '%s'; see roost load %s --help", l->name, argv[i],
				 l->name);
			return -EINVAL;
		}
		if (o->kind == LOAD_FLAG) {
			if (value) {
				snprintf(err, err_len, "%s: --%s takes no value", l->name, o->name);
				return -EINVAL;
			}
			memcpy((char *)conf + o->offset, &o->def, sizeof(o->def));
			continue;
		}
		if (!value && i + 1 < argc)
			value = argv[++i];
		if (!value) {
			snprintf(err, err_len, "%s: --%s needs a value", l->name, o->name);
			return -EINVAL;
		}
		if (set(l, o, value, conf, err, err_len))
			return -EINVAL;
	}
	return 0;
}

void load_opt_text(const struct load_opt *o, char *typed, size_t typed_len, char *help, size_t help_len)
{
	char letter[8] = "    ", def[64] = "", v[32];

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(typed, typed_len, "%s--%s%s", letter, o->name, o->kind == LOAD_FLAG ? "" : o->kind == LOAD_WORD ? " WORD" :
		 o->kind == LOAD_CPU_PAIR ? " A,B" : o->kind == LOAD_COUNT ? " N" : " TIME");
	if (o->kind == LOAD_COUNT || o->kind == LOAD_SECONDS || o->kind == LOAD_MICROS) {
		show(o, o->def, v, sizeof(v));
		snprintf(def, sizeof(def), " (default %s%s)", v, o->kind == LOAD_SECONDS ? "; a bare number is s" :
			 o->kind == LOAD_MICROS ? "; a bare number is us" : "");
	}
	snprintf(help, help_len, "%s%s%s%s", o->help, o->words ? ": " : "", o->words ? o->words : "", def);
}

void load_help(const struct load *l, char *buf, size_t len)
{
	char typed[64], help[256];
	size_t n = 0;

	if (len)
		buf[0] = 0;
	for (const struct load_opt *o = l->opts; o->name && n < len; o++) {
		load_opt_text(o, typed, sizeof(typed), help, sizeof(help));
		n += (size_t)snprintf(buf + n, len - n, "  %-26s %s\n", typed, help);
	}
}
