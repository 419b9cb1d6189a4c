/* SPDX-License-Identifier: GPL-2.0-only */
/* compare_facts.c - machine, kernel, time and the command that repeats a comparison. */
#include "cli/compare_facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/print.h"

void compare_quote(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+@%-";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	if (!print_is_plain(word)) {
		fputs("$'", out);
		for (; *word; word++) {
			unsigned char c = (unsigned char)*word;

			if (c == '\'' || c == '\\')
				fprintf(out, "\\%c", c);
			else if (c < 0x20 || c > 0x7e)
				fprintf(out, "\\%03o", c);
			else
				fputc(c, out);
		}
		fputc('\'', out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static char *command_line(const struct cli *cli)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (int i = 0; f && i < cli->nr_args; i++) {
		if (i)
			fputc(' ', f);
		compare_quote(f, cli->args[i]);
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
	compare_quote(f, opt_string(cli, OPT_VARIANTS));
	if (opt_given(cli, OPT_RUNS))
		fprintf(f, " --runs %llu", opt_u64(cli, OPT_RUNS));
	if (opt_given(cli, OPT_TIGHT))
		fprintf(f, " --until %g%%", opt_percent(cli, OPT_TIGHT));
	if (opt_given(cli, OPT_WARMUP))
		fprintf(f, " --warmup %llu", opt_u64(cli, OPT_WARMUP));
	list = opt_list(cli, OPT_METRIC, &nr);
	for (size_t i = 0; i < nr; i++) {
		fputs(" --metric ", f);
		compare_quote(f, list[i]);
	}
	fprintf(f, " --seed %llu -- %s", seed, command);
	fclose(f);
	return text;
}

/* The distinct values of one topology file over all CPUs. */
static unsigned distinct(const char *file, unsigned cpus)
{
	char seen[1024][40], path[128], line[40];
	unsigned n = 0;

	for (unsigned i = 0; i < cpus; i++) {
		FILE *f;
		unsigned k;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", i, file);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		fclose(f);
		for (k = 0; k < n; k++)
			if (!strcmp(seen[k], line))
				break;
		if (k == n && n < 1024)
			memcpy(seen[n++], line, sizeof(line));
	}
	return n;
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

void compare_facts(struct study *s, const struct cli *cli, u64 seed)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned sockets = distinct("topology/physical_package_id", (unsigned)cpus);
	unsigned llcs = distinct("cache/index3/shared_cpu_list", (unsigned)cpus);
	unsigned cores = distinct("topology/thread_siblings_list", (unsigned)cpus);
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;
	char model[128];

	s->command = command_line(cli);
	s->repeat = repeat_line(cli, s->command ? s->command : "", seed);
	cpu_model(model, sizeof(model));
	snprintf(s->machine, sizeof(s->machine), "%ld CPUs: %u socket%s, %u LLC%s, %u core%s; %s%s", online, sockets,
		 sockets == 1 ? "" : "s", llcs, llcs == 1 ? "" : "s", cores, cores == 1 ? "" : "s", model,
		 is_virtual() ? "; a virtual machine" : "");
	uname(&u);
	snprintf(s->kernel, sizeof(s->kernel), "%s %s", u.sysname, u.release);
	gmtime_r(&now, &tm);
	strftime(s->when, sizeof(s->when), "%Y-%m-%d %H:%M UTC", &tm);
}
