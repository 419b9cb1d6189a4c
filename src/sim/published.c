/* SPDX-License-Identifier: GPL-2.0-only */
/* The published rows (docs/model.md says where each was published) and how they are simulated. */
#include "sim/published.h"

#include <math.h>
#include <string.h>

#define HACKBENCH "hackbench -g 32 -f 20 --threads --pipe -s 100"
#define MEMCACHE "memcache -t 224 --rate 8000000 --footprint 256 -d 100ms"
#define WEB "web -t 168 -d 1s"
#define PINGPONG "pingpong -n 30000 --socket --work 45us"
#define LOCKFIGHT "lockfight -d 5s -t 9 --inside 800ns"

const struct published_run published_runs[] = {
	{ "hackbench", "epyc-9654x2", "mainline", "", HACKBENCH, true, false },
	{ "hackbench/grace", "epyc-9654x2", "mainline", "idle-grace=1ms", HACKBENCH, true, false },
	{ "hackbench/warm", "epyc-9654x2", "mainline", "util-fits bias-prev", HACKBENCH, true, false },
	{ "memcache/before", "skylake-8180x2", "pre-5.13", "", MEMCACHE, false, true },
	{ "memcache/without", "skylake-8180x2", "pre-5.13", "", MEMCACHE, false, false },
	{ "memcache/with", "skylake-8180x2", "pre-5.13", "idle-smt", MEMCACHE, false, false },
	{ "web/before", "skylake-8180x2", "pre-5.13", "", WEB, false, true },
	{ "web/without", "skylake-8180x2", "pre-5.13", "", WEB, false, false },
	{ "web/with", "skylake-8180x2", "pre-5.13", "idle-smt", WEB, false, false },
	{ "pingpong/host", "kvm-host-2", "mainline", "", PINGPONG, false, false },
	{ "pingpong/guest", "kvm-guest-2", "mainline", "", PINGPONG, false, false },
	{ "pingpong/50us", "kvm-guest-2", "mainline", "idle-spin=50us", PINGPONG, false, false },
	{ "pingpong/220us", "kvm-guest-2", "mainline", "idle-spin=220us", PINGPONG, false, false },
	{ "lockfight", "desktop-8", "mainline", "", LOCKFIGHT, false, false },
	{ "lockfight/ext", "desktop-8", "mainline", "slice-ext=30us", LOCKFIGHT, false, false },
	{ NULL, NULL, NULL, NULL, NULL, false, false },
};

const struct published_row published_rows[] = {
	{ "idle-grace", "hackbench time", "hackbench", "hackbench/grace", PUB_TIME, false, -31, 8, "49 s -> 34 s",
	  "the feature's time is right, the baseline's is not: it switches twice as often a message as the real one" },
	{ "util-fits + bias-prev", "hackbench time", "hackbench", "hackbench/warm", PUB_TIME, false, -41, 10, "41 % speed-up",
	  "both sides wake more often a message than the real ones, and both are too slow for it" },
	{ "util-fits + bias-prev", "migrations", "hackbench", "hackbench/warm", PUB_MIGRATIONS, false, -80, 15, "-80 %",
	  "too many wakeups a message; what moves a task is mostly a target in another LLC, where bias-prev does not look" },
	{ "util-fits + bias-prev", "CPU use", "hackbench", "hackbench/warm", PUB_CPU_USE, false, 17, 8, "+17 %",
	  "the simulated baseline keeps more CPUs busy than the real one, 77 and 66 %, and has less to gain" },
	{ "idle-smt", "memcache CPU time, without it", "memcache/before", "memcache/without", PUB_CPU_TIME, false, 2, 1.5,
	  "+1..3 %", "the cost of a cold L2 is small beside the request" },
	{ "idle-smt", "memcache CPU time, with it", "memcache/before", "memcache/with", PUB_CPU_TIME, false, 0, 1.5, "back",
	  "" },
	{ "idle-smt", "memcache p95, with it", "memcache/before", "memcache/with", PUB_P95, false, -10, 6, "about -10 %",
	  "before and after differ where the idle-core hint is wrong, which the simulated load makes rare" },
	{ "idle-smt", "memcache p99, with it", "memcache/before", "memcache/with", PUB_P99, false, -10, 6, "about -10 %",
	  "before and after differ where the idle-core hint is wrong, which the simulated load makes rare" },
	{ "idle-smt", "memcache migrations, without it", "memcache/before", "memcache/without", PUB_MIGRATIONS, false, 30, 15,
	  "about +30 %", "before and between differ where the idle-core hint is wrong, which the simulated load makes rare" },
	{ "idle-smt", "memcache migrations, with it", "memcache/without", "memcache/with", PUB_MIGRATIONS, false, 0, 10,
	  "not down with it", "" },
	{ "idle-smt", "web requests, without it", "web/before", "web/without", PUB_RATE, false, -9, -1, "-9 % at worst",
	  "at saturation hardly a CPU is idle, and the rule has nothing to choose; the balancer's part is not modelled" },
	{ "idle-smt", "web requests, with it", "web/before", "web/with", PUB_RATE, false, 0, 2, "back", "" },
	{ "idle-spin", "ping-pong, guest without", "pingpong/host", "pingpong/guest", PUB_TIME, true, 83, 3, "38.18 s of 31.81", "" },
	{ "idle-spin", "ping-pong, 50 us", "pingpong/host", "pingpong/50us", PUB_TIME, true, 95, 3, "33.32 s", "" },
	{ "idle-spin", "ping-pong, 220 us", "pingpong/host", "pingpong/220us", PUB_TIME, true, 98, 3, "32.28 s", "" },
	{ "slice-ext", "lock rounds", "lockfight", "lockfight/ext", PUB_RATE, false, 26, 8, "4260797 -> 5378845", "" },
	{ "slice-ext", "total wait", "lockfight", "lockfight/ext", PUB_LOCK_WAIT, false, -5, 4, "33.905 s -> 32.253 s", "" },
	{ NULL, NULL, NULL, NULL, PUB_TIME, false, 0, 0, NULL, NULL },
};

int published_run_find(const char *id)
{
	for (int i = 0; published_runs[i].id; i++)
		if (!strcmp(published_runs[i].id, id))
			return i;
	return -1;
}

double published_figure(const struct sim_figures *f, enum published_figure which)
{
	double cpu = (double)(f->user_ns + f->sys_ns);

	switch (which) {
	case PUB_TIME:
		return (double)f->work_ns * 1e-9;
	case PUB_RATE:
		return f->work_ns ? (double)f->ops * 1e9 / (double)f->work_ns : 0;
	case PUB_MIGRATIONS:
		return (double)f->migrations;
	case PUB_CPU_USE:
		return 100 * cpu / (cpu + (double)f->idle_ns + 1);
	case PUB_CPU_TIME:
		return cpu * 1e-9;
	case PUB_P95:
		return (double)f->latency_ns[2] * 1e-3;
	case PUB_P99:
		return (double)f->latency_ns[3] * 1e-3;
	case PUB_LOCK_WAIT:
		return (double)f->wait_ns * 1e-9;
	}
	return NAN;
}

double published_value(const struct published_row *r, const struct sim_figures *base, const struct sim_figures *other)
{
	double a = published_figure(base, r->figure), b = published_figure(other, r->figure);

	if (a <= 0 || b <= 0)
		return NAN;
	return r->speed ? 100 * a / b : 100 * (b / a - 1);
}

/* A bound is kept by what lies between it and no change, and shown only by what gets half way there. */
bool published_within(const struct published_row *r, double simulated)
{
	if (r->tolerance < 0)
		return simulated >= r->published - 1 && simulated <= r->published / 2;
	return fabs(simulated - r->published) <= r->tolerance;
}
