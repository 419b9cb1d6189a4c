/* SPDX-License-Identifier: GPL-2.0-only */
/* fair.c - the files behind fair.h. */
#include "run/fair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEATURES "/sys/kernel/debug/sched/features"
#define GRACE_NS "/sys/kernel/debug/sched/idle_grace_ns"
#define FEATURES_TEXT 4096

static const struct item {
	const char *key;            /* roost's knob */
	const char *feature;        /* of FEATURES, or NULL */
	const char *file;           /* that holds the number, or NULL */
	u64 unit_ns;                /* of that number; 0 = a plain count */
} items[FAIR_COUNT] = {
	[FAIR_BIAS_PREV] = { "bias-prev", "SELECT_BIAS_PREV", NULL, 0 },
	[FAIR_UTIL_FITS] = { "util-fits", "UTIL_FITS_CAPACITY", NULL, 0 },
	[FAIR_IDLE_SMT] = { "idle-smt", "SELECT_IDLE_SMT", NULL, 0 },
	[FAIR_IDLE_GRACE] = { "idle-grace", "IDLE_GRACE", GRACE_NS, 1 },
	[FAIR_IDLE_GRACE_MAX_QUEUED] = { "idle-grace-max-queued", NULL, "/sys/kernel/debug/sched/idle_grace_max_queued", 0 },
	[FAIR_IDLE_SPIN] = { "idle-spin", NULL, "/sys/kernel/sched/idle_spin", 1000 },
};

const struct knob *fair_knob(enum fair_item item)
{
	return knob_find(items[item].key);
}

int fair_parse(struct fair_settings *s, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX])
{
	struct fair_settings out = { 0 };
	struct roost_knobs k;
	const struct knob *knob;
	char name[64];
	size_t i, len;
	int item, rc;

	knobs_default(&k);
	rc = knobs_assign(&k, assignments, nr, refusal);
	if (rc)
		return rc;
	for (i = 0; i < nr; i++) {
		const char *key = assignments[i];

		knob = NULL;
		for (int no = 0; no < 2 && !knob; no++) { /* as written, then without NO_ */
			len = strcspn(key, "=");
			snprintf(name, sizeof(name), "%.*s", (int)len, key);
			knob = knob_find(name);
			key += !knob && len > 3 ? 3 : 0;
		}
		for (item = 0; item < FAIR_COUNT; item++)
			if (knob && knob == fair_knob(item))
				break;
		if (item == FAIR_COUNT) {
			snprintf(refusal, KNOB_REFUSAL_MAX, "%.100s: the kernel's own scheduler has no such knob; it can have bias-prev, "
				 "util-fits, idle-smt, idle-grace, idle-grace-max-queued and idle-spin", assignments[i]);
			return -EINVAL;
		}
		out.set[item] = true;
		out.value[item] = knob_get(&k, knob);
	}
	if (out.set[FAIR_IDLE_SPIN] && out.value[FAIR_IDLE_SPIN] % 1000) {
		snprintf(refusal, KNOB_REFUSAL_MAX, "idle-spin: the kernel counts whole microseconds");
		return -EINVAL;
	}
	*s = out;
	return 0;
}

static int read_text(const char *root, const char *file, char *buf, size_t size)
{
	char path[512];
	ssize_t n;
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s%s", root, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		rc = -errno;
	else
		buf[n] = 0;
	close(fd);
	return rc;
}

static int write_text(const char *root, const char *file, const char *text)
{
	size_t len = strlen(text);
	char path[512];
	ssize_t n;
	int fd, rc;

	snprintf(path, sizeof(path), "%s%s", root, file);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	rc = n < 0 ? -errno : (size_t)n == len ? 0 : -EIO;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* 1 on, 0 off, -ENOENT not among them. */
static int feature_state(const char *features, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = features; (at = strstr(at, name)); at += len) {
		bool no = at >= features + 3 && !strncmp(at - 3, "NO_", 3);
		const char *begin = no ? at - 3 : at;

		if ((begin == features || begin[-1] == ' ' || begin[-1] == '\n') &&
		    (at[len] == 0 || at[len] == ' ' || at[len] == '\n'))
			return !no;
	}
	return -ENOENT;
}

static int read_number(const char *root, const char *file, u64 *value)
{
	char text[64], *end;
	int rc = read_text(root, file, text, sizeof(text));

	if (rc)
		return rc;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return end == text || errno ? -EIO : 0;
}

int fair_read(const char *root, struct fair_settings *s)
{
	char features[FEATURES_TEXT] = "";
	int item, state, rc;
	u64 number;

	memset(s, 0, sizeof(*s));
	rc = read_text(root, FEATURES, features, sizeof(features));
	if (rc && rc != -ENOENT)
		return rc;
	for (item = 0; item < FAIR_COUNT; item++) {
		number = 1;
		state = 1;
		if (items[item].feature) {
			state = feature_state(features, items[item].feature);
			if (state < 0)
				continue;
		}
		if (items[item].file) {
			rc = read_number(root, items[item].file, &number);
			if (rc == -ENOENT)
				continue;
			if (rc)
				return rc;
			number *= items[item].unit_ns ? items[item].unit_ns : 1;
		}
		if (item == FAIR_IDLE_GRACE)
			s->grace_ns = number;
		s->set[item] = true;
		s->value[item] = state ? number : 0;
	}
	return 0;
}

static int write_item(const char *root, int item, const struct fair_settings *s)
{
	const struct item *it = &items[item];
	u64 number = s->value[item];
	char text[64];
	int rc = 0;

	/* The time that a switched-off grace holds is put back too. */
	if (item == FAIR_IDLE_GRACE && !number)
		number = s->grace_ns;
	if (it->file && (number || item != FAIR_IDLE_GRACE)) {
		snprintf(text, sizeof(text), "%llu", number / (it->unit_ns ? it->unit_ns : 1));
		rc = write_text(root, it->file, text);
	}
	if (!rc && it->feature) {
		snprintf(text, sizeof(text), "%s%s", s->value[item] ? "" : "NO_", it->feature);
		rc = write_text(root, FEATURES, text);
	}
	return rc;
}

int fair_write(const char *root, const struct fair_settings *s, char refusal[static KNOB_REFUSAL_MAX])
{
	struct fair_settings was;
	int item, rc = fair_read(root, &was);

	if (rc) {
		snprintf(refusal, KNOB_REFUSAL_MAX, "cannot read %s: %s (root, and debugfs mounted)", FEATURES, strerror(-rc));
		return rc;
	}
	for (item = 0; item < FAIR_COUNT; item++) {
		if (!s->set[item] || was.set[item])
			continue;
		snprintf(refusal, KNOB_REFUSAL_MAX, "%s is not in this kernel's own scheduler (or debugfs is not mounted): docs/kernel.md tells "
			 "how a kernel gets it", items[item].key);
		return -ENOTSUP;
	}
	for (item = 0; item < FAIR_COUNT; item++) {
		if (!s->set[item])
			continue;
		rc = write_item(root, item, s);
		if (!rc)
			continue;
		snprintf(refusal, KNOB_REFUSAL_MAX, "%s: the kernel did not take %llu: %s", items[item].key, s->value[item], strerror(-rc));
		for (; item >= 0; item--)
			if (s->set[item])
				write_item(root, item, &was);
		return rc;
	}
	return 0;
}
