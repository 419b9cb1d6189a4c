/* SPDX-License-Identifier: GPL-2.0-only */
/* compare_facts.c - machine, kernel, time and the command that repeats a comparison. */
#include "cli/compare_facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/print.h"
#include "topology/topology.h"

static char *command_line(const struct cli *cli)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (int i = 0; f && i < cli->nr_args; i++) {
		if (i)
			fputc(' ', f);
		print_quoted(f, cli->args[i]);
	}
	if (f)
		fclose(f);
	return text;
}

static char *repeat_line(const struct cli *cli, const char *command, u64 seed)
{
	char *text = NULL, *const *list;
	size_t len, nr;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("roost compare --variants ", f);
	print_quoted(f, opt_string(cli, OPT_VARIANTS));
	if (opt_given(cli, OPT_RUNS))
		fprintf(f, " --runs %llu", opt_u64(cli, OPT_RUNS));
	if (opt_given(cli, OPT_TIGHT))
		fprintf(f, " --until %g%%", opt_percent(cli, OPT_TIGHT));
	if (opt_given(cli, OPT_WARMUP))
		fprintf(f, " --warmup %llu", opt_u64(cli, OPT_WARMUP));
	list = opt_list(cli, OPT_METRIC, &nr);
	for (size_t i = 0; i < nr; i++) {
		fputs(" --metric ", f);
		print_quoted(f, list[i]);
	}
	fprintf(f, " --seed %llu -- %s", seed, command);
	fclose(f);
	return text;
}

static void cpu_model(char *buf, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *p;

	snprintf(buf, len, "unknown CPU");
	while (f && fgets(line, sizeof(line), f)) {
		p = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !p)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(buf, len, "%.120s", p + 2);
		break;
	}
	if (f)
		fclose(f);
}

static bool is_virtual(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

/* As `roost machines this` counts them: virtual machines show no L3, and have an LLC all the same. */
static void machine_parts(char *buf, size_t len)
{
	struct topo_error err;
	struct machine *m;

	buf[0] = 0;
	if (topology_from_sysfs("", &m, &err))
		return;
	snprintf(buf, len, ": %u socket%s, %u LLC%s, %u core%s", m->nr_sockets, m->nr_sockets == 1 ? "" : "s", m->nr_llcs,
		 m->nr_llcs == 1 ? "" : "s", m->nr_cores, m->nr_cores == 1 ? "" : "s");
	topology_free(m);
}

void compare_facts(struct study *s, const struct cli *cli, u64 seed)
{
	char model[128], parts[120];
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	s->command = command_line(cli);
	s->repeat = repeat_line(cli, s->command ? s->command : "", seed);
	cpu_model(model, sizeof(model));
	machine_parts(parts, sizeof(parts));
	snprintf(s->machine, sizeof(s->machine), "%ld CPUs%s; %s%s", sysconf(_SC_NPROCESSORS_ONLN), parts, model,
		 is_virtual() ? "; a virtual machine" : "");
	uname(&u);
	snprintf(s->kernel, sizeof(s->kernel), "%s %s", u.sysname, u.release);
	gmtime_r(&now, &tm);
	strftime(s->when, sizeof(s->when), "%Y-%m-%d %H:%M UTC", &tm);
}
