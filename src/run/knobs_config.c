/* SPDX-License-Identifier: GPL-2.0-only */
/* knobs_config.c - named sets of knobs: built-in profiles, the user's profiles, configuration files. */
#include "run/knobs.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/units.h"

#define LINE_MAX_LEN 400
#define FILE_MAX_LEN (1u << 20)
#define ASSIGNMENTS_MAX 64

__attribute__((format(printf, 2, 3)))
static int refuse(char *refusal, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(refusal, KNOB_REFUSAL_MAX, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- profiles ---- */

static int apply_builtin(struct roost_knobs *k, const struct knob_profile *profile, char *refusal)
{
	char words[256], *list[ASSIGNMENTS_MAX], *rest, *word;
	struct roost_knobs new;
	size_t n = 0;
	int err;

	snprintf(words, sizeof(words), "%s", profile->knobs);
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		list[n++] = word;
	knobs_default(&new);
	err = knobs_assign(&new, list, n, refusal);
	if (!err)
		*k = new;
	return err;
}

static int refuse_profile(const char *name, const char *dir, char *refusal)
{
	struct units_hint hint;
	char names[256] = "";
	size_t at = 0;

	units_hint_start(&hint, name);
	for (size_t i = 0; i < knob_profile_count; i++) {
		units_hint_offer(&hint, knob_profiles[i].name);
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", knob_profiles[i].name);
	}
	if (units_hint_best(&hint))
		return refuse(refusal, "unknown profile '%.60s'; did you mean '%s'?", name, units_hint_best(&hint));
	return refuse(refusal, "unknown profile '%.60s'; there are %s%s%s%s", name, names,
		      dir ? ", and the .conf files of " : "", dir ? dir : "", "");
}

/* A profile's name is a file name, never a path. */
static bool is_file_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 64;
}

static int config_file(struct roost_knobs *k, const char *path, const char *profile_dir, bool nested,
		       bool *missing, char *refusal);

static int apply_profile(struct roost_knobs *k, const char *name, const char *dir, bool nested, char *refusal)
{
	struct roost_knobs new;
	char path[512];
	bool missing = false;
	int err;

	for (size_t i = 0; i < knob_profile_count; i++) {
		if (strcmp(knob_profiles[i].name, name) == 0)
			return apply_builtin(k, &knob_profiles[i], refusal);
	}
	if (!dir || nested || !is_file_name(name))
		return refuse_profile(name, nested ? NULL : dir, refusal);
	snprintf(path, sizeof(path), "%s/%s.conf", dir, name);
	knobs_default(&new);
	err = config_file(&new, path, dir, true, &missing, refusal);
	if (missing)
		return refuse_profile(name, dir, refusal);
	if (!err)
		*k = new;
	return err;
}

int knobs_profile(struct roost_knobs *k, const char *name, const char *dir, char refusal[static KNOB_REFUSAL_MAX])
{
	return apply_profile(k, name, dir, false, refusal);
}

/* ---- configuration files ---- */

/* Blanks off both ends, comment off the right. */
static char *strip(char *s)
{
	char *end;

	s[strcspn(s, "#")] = '\0';
	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* "key = value" -> "key=value", in place. */
static void close_up(char *s)
{
	char *eq = strchr(s, '='), *left, *right;

	if (!eq)
		return;
	for (left = eq; left > s && isspace((unsigned char)left[-1]); left--)
		;
	for (right = eq + 1; isspace((unsigned char)*right); right++)
		;
	*left = '=';
	memmove(left + 1, right, strlen(right) + 1);
}

struct config {
	const char *name;
	const char *profile_dir;
	bool nested;                /* a user's profile: may build on a built-in one only */
	unsigned int line;
	unsigned int nr_assigned;
	unsigned int set_in_line[sizeof(struct roost_knobs) / sizeof(u64)];
	struct roost_knobs knobs;
};

static const struct knob *assigned_knob(const char *s)
{
	char name[LINE_MAX_LEN + 1];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(s, "="), s);
	if (!knob_find(name) && strlen(name) > 3)
		return knob_find(name + 3);     /* NO_x */
	return knob_find(name);
}

static int config_line(struct config *c, char *text, char *refusal)
{
	char inner[KNOB_REFUSAL_MAX], *s = strip(text);
	const struct knob *knob;
	int err;

	if (!*s)
		return 0;
	close_up(s);
	if (strncmp(s, "profile=", 8) == 0) {
		if (c->nr_assigned++)
			return refuse(refusal, "%s:%u: profile comes first; it would undo the lines before it",
				      c->name, c->line);
		err = apply_profile(&c->knobs, s + 8, c->profile_dir, c->nested, inner);
		return err ? refuse(refusal, "%s:%u: %.380s", c->name, c->line, inner) : 0;
	}
	c->nr_assigned++;
	/* what several lines give together is checked at the end of the file */
	err = knobs_parse(&c->knobs, &s, 1, inner);
	if (err)
		return refuse(refusal, "%s:%u: %.380s", c->name, c->line, inner);
	knob = assigned_knob(s);
	if (c->set_in_line[knob - knob_table])
		return refuse(refusal, "%s:%u: %s is already set in line %u; say it once", c->name, c->line,
			      knob->key, c->set_in_line[knob - knob_table]);
	c->set_in_line[knob - knob_table] = c->line;
	return 0;
}

static int config_text(struct roost_knobs *k, const char *name, const char *text, size_t len,
		       const char *profile_dir, bool nested, char *refusal)
{
	struct config c = { .name = name, .profile_dir = profile_dir, .nested = nested, .knobs = *k };
	char line[LINE_MAX_LEN + 1], inner[KNOB_REFUSAL_MAX];
	size_t at = 0;

	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		int err;

		c.line++;
		if (memchr(text + at, '\0', n))
			return refuse(refusal, "%s:%u: not a text file", name, c.line);
		if (n > LINE_MAX_LEN)
			return refuse(refusal, "%s:%u: the line is longer than %d characters", name, c.line,
				      LINE_MAX_LEN);
		memcpy(line, text + at, n);
		line[n] = '\0';
		err = config_line(&c, line, refusal);
		if (err)
			return err;
		at += n + 1;
	}
	if (knobs_check(&c.knobs, inner))
		return refuse(refusal, "%s: %.380s", name, inner);
	*k = c.knobs;
	return 0;
}

static int config_file(struct roost_knobs *k, const char *path, const char *profile_dir, bool nested,
		       bool *missing, char *refusal)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t len;
	int err;

	if (!f) {
		if (missing)
			*missing = errno == ENOENT;
		return refuse(refusal, "%.300s: %s", path, strerror(errno));
	}
	text = malloc(FILE_MAX_LEN + 1);
	if (!text) {
		err = refuse(refusal, "%.300s: out of memory", path);
		goto out;
	}
	errno = 0;
	len = fread(text, 1, FILE_MAX_LEN + 1, f);
	if (ferror(f))
		err = refuse(refusal, "%.300s: %s", path, strerror(errno ? errno : EIO));
	else if (len > FILE_MAX_LEN)
		err = refuse(refusal, "%.300s: larger than 1 MiB; is this a roost configuration?", path);
	else
		err = config_text(k, path, text, len, profile_dir, nested, refusal);
out:
	free(text);
	fclose(f);
	return err;
}

int knobs_config(struct roost_knobs *k, const char *path, const char *profile_dir,
		 char refusal[static KNOB_REFUSAL_MAX])
{
	return config_file(k, path, profile_dir, false, NULL, refusal);
}

int knobs_config_text(struct roost_knobs *k, const char *name, const char *text, size_t len,
		      const char *profile_dir, char refusal[static KNOB_REFUSAL_MAX])
{
	return config_text(k, name, text, len, profile_dir, false, refusal);
}
