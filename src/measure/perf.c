/* SPDX-License-Identifier: GPL-2.0-only */
/* perf_event_open, for the few counters a comparison shows. */
#include "measure/perf.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No generic name exists for L2 misses: the vendors' own, as their manuals number them. */
static int l2_config(uint64_t *config)
{
	static int vendor = -1;
	char line[256];
	FILE *f;

	if (vendor < 0) {
		vendor = 0;
		f = fopen("/proc/cpuinfo", "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (strncmp(line, "vendor_id", 9))
				continue;
			vendor = strstr(line, "GenuineIntel") ? 1 : strstr(line, "AuthenticAMD") ? 2 : 0;
			break;
		}
		if (f)
			fclose(f);
	}
	/* Intel: L2_RQSTS.MISS. AMD (family 17h on): PMCx064, instruction fills and data reads that missed. */
	*config = vendor == 1 ? 0x3f24 : 0x0964;
	return vendor ? 0 : -1;
}

static int describe(enum perf_kind kind, struct perf_event_attr *a)
{
	uint64_t raw;

	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	switch (kind) {
	case PERF_MIGRATIONS:
	case PERF_SWITCHES:
		a->type = PERF_TYPE_SOFTWARE;
		a->config = kind == PERF_MIGRATIONS ? PERF_COUNT_SW_CPU_MIGRATIONS : PERF_COUNT_SW_CONTEXT_SWITCHES;
		return 0;
	case PERF_INSTRUCTIONS:
		a->type = PERF_TYPE_HARDWARE;
		a->config = PERF_COUNT_HW_INSTRUCTIONS;
		return 0;
	default:
		a->type = PERF_TYPE_RAW;
		if (l2_config(&raw))
			return -1;
		a->config = raw;
		return 0;
	}
}

static int event_open(struct perf_event_attr *a, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_open_tree(enum perf_kind kind, pid_t pid)
{
	struct perf_event_attr a;

	if (describe(kind, &a))
		return -1;
	a.inherit = 1;
	a.disabled = 1;
	a.enable_on_exec = 1;
	return event_open(&a, pid, -1);
}

int perf_open_cpu(enum perf_kind kind, int cpu)
{
	struct perf_event_attr a;

	return describe(kind, &a) ? -1 : event_open(&a, -1, cpu);
}

int perf_open_raw(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr a = {
		.type = type, .size = sizeof(a), .config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return event_open(&a, -1, cpu);
}

double perf_read(int fd)
{
	uint64_t v[3];

	if (fd < 0 || read(fd, v, sizeof(v)) != sizeof(v))
		return NAN;
	if (!v[2])
		return v[1] ? NAN : 0;
	return (double)v[0] * ((double)v[1] / (double)v[2]);
}
