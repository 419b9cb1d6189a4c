/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor_cgroup.c - CPU weights and limits of control groups, which roost does not honour: who set one is to
 * know that it has no effect while roost schedules.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "run/doctor.h"

#define DEPTH_MAX 12            /* how far down groups are looked at */
#define GROUPS_MAX 20000        /* and how many */

struct found {
	unsigned int groups, weights, limits;
	char first[192];        /* the first group with one, relative to the mount */
};

static void look(const struct doctor_env *env, const char *dir, struct found *f)
{
	char path[512], value[64];

	f->groups++;
	snprintf(path, sizeof(path), "%.400s/cpu.weight", dir);
	if (!doctor_read_line(env, path, value, sizeof(value)) && strcmp(value, "100")) {
		if (!f->weights && !f->limits)
			snprintf(f->first, sizeof(f->first), "%.191s", dir);
		f->weights++;
	}
	snprintf(path, sizeof(path), "%.400s/cpu.max", dir);
	if (!doctor_read_line(env, path, value, sizeof(value)) && strncmp(value, "max", 3)) {
		if (!f->weights && !f->limits)
			snprintf(f->first, sizeof(f->first), "%.191s", dir);
		f->limits++;
	}
}

static void descend(const struct doctor_env *env, const char *dir, int depth, struct found *f)
{
	char path[1024];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%.500s%.500s", env->root, dir);
	d = depth < DEPTH_MAX ? opendir(path) : NULL;
	if (!d)
		return;
	while (f->groups < GROUPS_MAX && (e = readdir(d)) != NULL) {
		char below[512];

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(below, sizeof(below), "%.250s/%.250s", dir, e->d_name) >= sizeof(below))
			continue;
		look(env, below, f);
		descend(env, below, depth + 1, f);
	}
	closedir(d);
}

void doctor_check_cgroups(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "cgroup-cpu", DOCTOR_OK);
	struct found f = { 0 };

	descend(env, "/sys/fs/cgroup", 0, &f);
	if (!f.weights && !f.limits) {
		snprintf(c->found, sizeof(c->found), "no control group has a CPU weight or limit of its own");
		return;
	}
	c->state = DOCTOR_NOTE;
	snprintf(c->found, sizeof(c->found),
		 "%u control group%s with a CPU weight and %u with a CPU limit (the first: %.120s), which roost does not honour",
		 f.weights, f.weights == 1 ? "" : "s", f.limits, f.first);
	snprintf(c->todo, sizeof(c->todo), "use nice, SCHED_BATCH or cpusets instead while roost runs; they count");
}
