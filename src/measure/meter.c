/* SPDX-License-Identifier: GPL-2.0-only */
/* Where each of the machine's counters is read; meter.h lists them. */
#include "measure/meter.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/perf.h"

#define ZONES_MAX 16
#define MEMORY_MAX 128

struct memory_event {
	int fd;
	double bytes_a_count;
};

struct meter {
	char root[200];
	int *migrations;	/* one a CPU */
	unsigned n_cpus;
	char zones[ZONES_MAX][64];
	unsigned n_zones;
	struct memory_event memory[MEMORY_MAX];
	unsigned n_memory;
	const char *why[METER_VALUES];
};

static FILE *open_below(const struct meter *m, const char *path)
{
	char full[600];

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	return fopen(full, "re");
}

static int read_number(const struct meter *m, const char *path, double *v)
{
	FILE *f = open_below(m, path);
	int ok = f && fscanf(f, "%lf", v) == 1;

	if (f)
		fclose(f);
	return ok ? 0 : -1;
}

static void read_stat(const struct meter *m, struct meter_sample *s)
{
	double tick = (double)sysconf(_SC_CLK_TCK), u, nice, sys, idle, io, irq, soft;
	char line[1024];
	FILE *f = open_below(m, "/proc/stat");

	while (f && fgets(line, sizeof(line), f)) {
		/* The line of all CPUs only; guest time is in user time already. */
		if (!strncmp(line, "cpu ", 4) && sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf", &u, &nice, &sys, &idle, &io,
						       &irq, &soft) == 7) {
			s->v[METER_USER_S] = (u + nice) / tick;
			s->v[METER_SYSTEM_S] = (sys + irq + soft) / tick;
		}
		if (sscanf(line, "ctxt %lf", &u) == 1)
			s->v[METER_SWITCHES] = u;
	}
	if (f)
		fclose(f);
}

/* The 7th and 8th number of a CPU's line: nanoseconds its tasks ran, and waited. */
static void read_schedstat(const struct meter *m, struct meter_sample *s)
{
	char line[4096];
	double ran, delay, ran_sum = 0, delay_sum = 0;
	int seen = 0;
	FILE *f = open_below(m, "/proc/schedstat");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "cpu%*d %*s %*s %*s %*s %*s %*s %lf %lf", &ran, &delay) != 2)
			continue;
		ran_sum += ran;
		delay_sum += delay;
		seen = 1;
	}
	if (f)
		fclose(f);
	if (!seen)
		return;
	s->v[METER_BUSY_S] = ran_sum / 1e9;
	s->v[METER_RUN_DELAY_S] = delay_sum / 1e9;
}

/* How often any CPU entered any idle state: each entry is one wakeup later. */
static void read_idle(const struct meter *m, struct meter_sample *s)
{
	char path[256];
	double usage, sum = 0;
	int seen = 0;

	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++)
		for (unsigned state = 0; state < 16; state++) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage", cpu, state);
			if (read_number(m, path, &usage))
				break;
			sum += usage;
			seen = 1;
		}
	if (seen)
		s->v[METER_IDLE_WAKEUPS] = sum;
}

static void read_energy(const struct meter *m, struct meter_sample *s)
{
	char path[256];
	double uj, sum = 0;

	for (unsigned i = 0; i < m->n_zones; i++) {
		snprintf(path, sizeof(path), "/sys/class/powercap/%s/energy_uj", m->zones[i]);
		if (read_number(m, path, &uj))
			return;
		sum += uj / 1e6;
	}
	if (m->n_zones)
		s->v[METER_ENERGY_J] = sum;
}

void meter_read(struct meter *m, struct meter_sample *s)
{
	double sum = 0;

	for (unsigned i = 0; i < METER_VALUES; i++)
		s->v[i] = NAN;
	read_stat(m, s);
	read_schedstat(m, s);
	read_idle(m, s);
	read_energy(m, s);
	for (unsigned i = 0; i < m->n_cpus; i++)
		sum += m->migrations[i] >= 0 ? perf_read(m->migrations[i]) : 0;
	if (!m->why[METER_MIGRATIONS])
		s->v[METER_MIGRATIONS] = sum;
	sum = 0;
	for (unsigned i = 0; i < m->n_memory; i++)
		sum += perf_read(m->memory[i].fd) * m->memory[i].bytes_a_count;
	if (m->n_memory)
		s->v[METER_MEMORY_BYTES] = sum;
}

void meter_delta(struct meter *m, const struct meter_sample *before, const struct meter_sample *after,
		   struct meter_sample *out)
{
	for (unsigned i = 0; i < METER_VALUES; i++)
		out->v[i] = after->v[i] - before->v[i];
	/* A package's energy counter wraps after hours at most once a run: then the difference is not known. */
	if (out->v[METER_ENERGY_J] < 0)
		out->v[METER_ENERGY_J] = NAN;
}

const char *meter_why_not(const struct meter *m, enum meter_value v)
{
	return m->why[v];
}

static void find_cpus(struct meter *m)
{
	char line[256] = "0", *last;
	FILE *f = open_below(m, "/sys/devices/system/cpu/possible");

	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		fclose(f);
	}
	last = line + strlen(line);
	while (last > line && last[-1] != '-' && last[-1] != ',')
		last--;
	m->n_cpus = (unsigned)strtoul(last, NULL, 10) + 1;
	if (m->n_cpus > 8192)
		m->n_cpus = 8192;
}

static void open_migrations(struct meter *m)
{
	unsigned open = 0;

	for (unsigned i = 0; i < m->n_cpus; i++) {
		m->migrations[i] = m->root[0] ? -1 : perf_open_cpu(PERF_MIGRATIONS, (int)i);
		open += m->migrations[i] >= 0;
	}
	if (!open)
		m->why[METER_MIGRATIONS] = "perf events are not allowed here (root, or kernel.perf_event_paranoid)";
}

/* Only whole packages: the zones below them are parts of the same energy. */
static void find_zones(struct meter *m)
{
	char path[256];
	struct dirent *e;
	double uj;
	DIR *d;

	snprintf(path, sizeof(path), "%s/sys/class/powercap", m->root);
	d = opendir(path);
	m->why[METER_ENERGY_J] = "no RAPL counter (a virtual machine, most likely)";
	while (d && (e = readdir(d)) && m->n_zones < ZONES_MAX) {
		if (fnmatch("intel-rapl:[0-9]*", e->d_name, 0) || strchr(strchr(e->d_name, ':') + 1, ':'))
			continue;
		snprintf(path, sizeof(path), "/sys/class/powercap/%.60s/energy_uj", e->d_name);
		if (read_number(m, path, &uj)) {
			m->why[METER_ENERGY_J] = "RAPL counters are there, but only root may read them";
			continue;
		}
		snprintf(m->zones[m->n_zones++], sizeof(m->zones[0]), "%.60s", e->d_name);
	}
	if (d)
		closedir(d);
	if (m->n_zones)
		m->why[METER_ENERGY_J] = NULL;
}

/* "event=0x04,umask=0x03" as sysfs has it, with event in bits 0-7 and umask in 8-15, as memory controllers do. */
static int parse_event(const char *text, uint64_t *config)
{
	char copy[128], *save, *w;

	*config = 0;
	snprintf(copy, sizeof(copy), "%s", text);
	for (w = strtok_r(copy, ",\n", &save); w; w = strtok_r(NULL, ",\n", &save)) {
		if (!strncmp(w, "event=", 6))
			*config |= strtoull(w + 6, NULL, 0);
		else if (!strncmp(w, "umask=", 6))
			*config |= strtoull(w + 6, NULL, 0) << 8;
		else
			return -1;
	}
	return 0;
}

/* One memory controller's count of one kind; the cpumask names one CPU a socket. */
static void open_memory_event(struct meter *m, const char *dev, const char *event)
{
	char path[256], text[128], cpus[256], *p;
	double type, scale;
	uint64_t config;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.60s/events/%.60s", dev, event);
	f = open_below(m, path);
	if (!f)
		return;
	p = fgets(text, sizeof(text), f);
	fclose(f);
	if (!p || parse_event(text, &config))
		return;
	strncat(path, ".scale", sizeof(path) - strlen(path) - 1);
	if (read_number(m, path, &scale))
		return;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.60s/type", dev);
	if (read_number(m, path, &type))
		return;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.60s/cpumask", dev);
	f = open_below(m, path);
	p = f ? fgets(cpus, sizeof(cpus), f) : NULL;
	if (f)
		fclose(f);
	while (p && m->n_memory < MEMORY_MAX) {
		int fd = m->root[0] ? -1 : perf_open_raw((uint32_t)type, config, atoi(p));

		/* The scale is to MiB. */
		if (fd >= 0)
			m->memory[m->n_memory++] = (struct memory_event){ fd, scale * 1048576 };
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
}

static void open_memory(struct meter *m)
{
	static const char *const events[] = { "cas_count_read", "cas_count_write" };
	char path[256];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices", m->root);
	d = opendir(path);
	while (d && (e = readdir(d)))
		for (unsigned i = 0; i < 2; i++)
			if (!fnmatch("uncore_imc_[0-9]*", e->d_name, 0))
				open_memory_event(m, e->d_name, events[i]);
	if (d)
		closedir(d);
	if (!m->n_memory)
		m->why[METER_MEMORY_BYTES] = "no counter of a memory controller";
}

struct meter *meter_open(const char *root)
{
	struct meter *m = calloc(1, sizeof(*m));
	struct meter_sample s;

	if (!m)
		return NULL;
	snprintf(m->root, sizeof(m->root), "%s", root);
	find_cpus(m);
	m->migrations = malloc(m->n_cpus * sizeof(*m->migrations));
	if (!m->migrations) {
		free(m);
		return NULL;
	}
	open_migrations(m);
	find_zones(m);
	open_memory(m);
	meter_read(m, &s);
	if (isnan(s.v[METER_RUN_DELAY_S]))
		m->why[METER_RUN_DELAY_S] = "no /proc/schedstat (CONFIG_SCHEDSTATS)";
	/* Without schedstat the ticks must do for the sum, too: see compare_host.c. */
	if (isnan(s.v[METER_IDLE_WAKEUPS]))
		m->why[METER_IDLE_WAKEUPS] = "no cpuidle states (a virtual machine, most likely)";
	if (isnan(s.v[METER_USER_S]))
		m->why[METER_USER_S] = m->why[METER_SYSTEM_S] = m->why[METER_SWITCHES] = "no /proc/stat";
	return m;
}

void meter_close(struct meter *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->n_cpus; i++)
		if (m->migrations[i] >= 0)
			close(m->migrations[i]);
	for (unsigned i = 0; i < m->n_memory; i++)
		close(m->memory[i].fd);
	free(m->migrations);
	free(m);
}
