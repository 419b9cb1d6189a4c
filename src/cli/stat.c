/* SPDX-License-Identifier: GPL-2.0-only */
/* stat.c - `roost stat`: what the running roost has counted, once or by the interval. */
#include "cli/running.h"

#include <errno.h>
#include <time.h>

#include "cli/print.h"
#include "cli/stat_show.h"
#include "run/counters.h"
#include "run/slice_hist.h"

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

static json_t *hist_json(const u32 *buckets)
{
	json_t *list = json_array();

	for (u32 b = 0; b < ROOST_EXT_BUCKETS; b++)
		if (buckets[b])
			json_array_append_new(list, json_pack("[I, I]", (json_int_t)roost_ext_bucket_us(b),
							      (json_int_t)buckets[b]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)slice_hist_count(buckets), "p50",
			 (json_int_t)slice_hist_quantile_us(buckets, 0.5), "p99",
			 (json_int_t)slice_hist_quantile_us(buckets, 0.99), "max",
			 (json_int_t)slice_hist_quantile_us(buckets, 1), "buckets", list);
}

static void print_slice_ext(const struct roost_ext_hist *h)
{
	u64 grants = slice_hist_count(h->over), late = slice_hist_count(h->late);

	if (grants)
		printf("\nslice-ext: %llu grants lasted %llu us (median), %llu us (99 %%), %llu us (the longest)\n", grants,
		       slice_hist_quantile_us(h->over, 0.5), slice_hist_quantile_us(h->over, 0.99),
		       slice_hist_quantile_us(h->over, 1));
	if (late)
		printf("           the timer ended %llu of them, %llu us late (median), %llu us (99 %%), %llu us (the latest)\n",
		       late, slice_hist_quantile_us(h->late, 0.5), slice_hist_quantile_us(h->late, 0.99),
		       slice_hist_quantile_us(h->late, 1));
}

static int once(struct cli *cli, const struct roost_view *v)
{
	const struct roost_machine *m = v->machine;
	struct roost_ext_hist hist;
	bool has_hist = !slice_hist_read(&hist);
	struct roost_stats sum;
	json_t *j;

	counters_sum(&sum, v->stats, m->nr_cpu_ids);
	if (opt_flag(cli, OPT_JSON)) {
		j = stat_json(&sum);
		json_object_set_new(j, "machine", machine_json(v));
		if (has_hist)
			json_object_set_new(j, "slice_ext_us", json_pack("{s:o, s:o}", "lasted", hist_json(hist.over),
									 "timer_late", hist_json(hist.late)));
		if (opt_flag(cli, OPT_PER_CPU))
			json_object_set_new(j, "per_cpu", cpus_json(v));
		return cli_print_json(cli, j);
	}
	printf("roost schedules %s on %u CPUs, %u LLC%s, %u node%s%s\n\n", m->partial ? "SCHED_EXT tasks" : "all ordinary tasks",
	       online_cpus(v), m->nr_llcs, m->nr_llcs == 1 ? "" : "s", m->nr_nodes, m->nr_nodes == 1 ? "" : "s",
	       m->smt ? ", SMT" : "");
	stat_print(&sum, opt_flag(cli, OPT_ALL));
	if (has_hist)
		print_slice_ext(&hist);
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
