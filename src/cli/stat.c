/* SPDX-License-Identifier: GPL-2.0-only */
/* stat.c - `roost stat`: what the running roost has counted, once or by the interval. */
#include "cli/running.h"

#include <errno.h>
#include <time.h>

#include "cli/print.h"
#include "cli/stat_show.h"
#include "run/counters.h"

static unsigned int online_cpus(const struct roost_view *v)
{
	unsigned int n = 0;

	for (u32 i = 0; i < v->machine->nr_cpu_ids; i++)
		n += (v->cpus[i].flags & ROOST_CPU_ONLINE) != 0;
	return n;
}

static json_t *machine_json(const struct roost_view *v)
{
	return json_pack("{s:i, s:i, s:i, s:b, s:b}", "cpus_online", (int)online_cpus(v), "llcs", (int)v->machine->nr_llcs,
			 "nodes", (int)v->machine->nr_nodes, "smt", (int)v->machine->smt, "partial", (int)v->machine->partial);
}

static json_t *cpus_json(const struct roost_view *v)
{
	json_t *list = json_array(), *one;

	for (u32 i = 0; i < v->machine->nr_cpu_ids; i++) {
		if (!(v->cpus[i].flags & ROOST_CPU_ONLINE))
			continue;
		one = stat_json(&v->stats[i]);
		json_object_set_new(one, "cpu", json_integer(i));
		json_array_append_new(list, one);
	}
	return list;
}

static int once(struct cli *cli, const struct roost_view *v)
{
	const struct roost_machine *m = v->machine;
	struct roost_stats sum;
	json_t *j;

	counters_sum(&sum, v->stats, m->nr_cpu_ids);
	if (opt_flag(cli, OPT_JSON)) {
		j = stat_json(&sum);
		json_object_set_new(j, "machine", machine_json(v));
		if (opt_flag(cli, OPT_PER_CPU))
			json_object_set_new(j, "per_cpu", cpus_json(v));
		return cli_print_json(cli, j);
	}
	printf("roost schedules %s on %u CPUs, %u LLC%s, %u node%s%s\n\n", m->partial ? "SCHED_EXT tasks" : "all ordinary tasks",
	       online_cpus(v), m->nr_llcs, m->nr_llcs == 1 ? "" : "s", m->nr_nodes, m->nr_nodes == 1 ? "" : "s",
	       m->smt ? ", SMT" : "");
	stat_print(&sum, opt_flag(cli, OPT_ALL));
	if (opt_flag(cli, OPT_PER_CPU))
		stat_print_cpus(v->stats, m->nr_cpu_ids, opt_flag(cli, OPT_ALL));
	return CLI_DONE;
}

/* To absolute times, so that lines do not drift. */
static int wait_until(u64 ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000ull), .tv_nsec = (long)(ns % 1000000000ull) };
	int err;

	do {
		err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	} while (err == EINTR);
	return err;
}

static int by_the_interval(struct cli *cli, const struct roost_view *v)
{
	u64 interval_ns = opt_u64(cli, OPT_INTERVAL), count = opt_u64(cli, OPT_COUNT), next = running_now_ns();
	struct roost_stats sum;
	struct stat_stream st;
	int code;

	counters_sum(&sum, v->stats, v->machine->nr_cpu_ids);
	stat_stream_start(&st, &sum, next, online_cpus(v), opt_flag(cli, OPT_JSON));
	do {
		next += interval_ns;
		wait_until(next);
		if (!running_still(v))
			return running_ended(cli, v);
		counters_sum(&sum, v->stats, v->machine->nr_cpu_ids);
		st.nr_cpus = online_cpus(v);
		code = stat_stream_line(cli, &st, &sum, running_now_ns());
	} while (!code && (!count || st.nr_lines < count));
	return code;
}

int cmd_stat(struct cli *cli)
{
	struct roost_view *view;
	int code;

	if (opt_given(cli, OPT_COUNT) && !opt_given(cli, OPT_INTERVAL))
		return cli_refuse(cli, "--count needs --interval");
	code = running_open(cli, &view, false);
	if (code)
		return code;
	code = opt_given(cli, OPT_INTERVAL) ? by_the_interval(cli, view) : once(cli, view);
	roost_close(view);
	return code;
}
