/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one placement decision costs, natively and as JITed BPF: roost's wakeup path (src/policy), the same path with the
 * kernel's CPU-by-CPU scan (src/bpf/decide_linear.h), and an empty decision, in turn, in the same run.
 *
 *   decide [--json] [--rounds N] [--reps N] [--native] [--object FILE]
 *
 * BPF needs root, and nothing of sched_ext: the programs are of type syscall, run by BPF_PROG_TEST_RUN. Each decision is timed
 * by itself and counted in a histogram of 1 ns buckets, which shrugs off interrupts; of several repetitions the least disturbed
 * counts. As a guest's clock ticks in
 * steps of some 10 ns, "p50" is the mean of the middle half of the times, not the bucket of the median: the phase of the clock
 * is random, so the mean knows better than one tick. Times are given above the empty decision, which contains the two clock
 * readings. Machines have two threads a core; each LLC has the same share of idle CPUs, rounded up; which, is drawn with a
 * fixed seed; busy ones run one task each; the scan's depth is the whole LLC for both sides.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "model/policy_host.h"

static u64 decide_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

#include "bpf/decide_round.h"

#define NOW_NS 1000000000ULL

static const char *const mode_names[DECIDE_MODES] = { "empty", "roost", "linear" };
static const u32 cpu_counts[] = { 2, 16, 64, 384, 1024 };
static const u32 llc_sizes[] = { 16, 128 };
static const u32 idle_shares[] = { 0, 10, 50, 100 };
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct result {
	const char *how;        /* "native" or "bpf" */
	u32 cpus, llc, idle_pct;
	double p50[DECIDE_MODES];
	u32 p99[DECIDE_MODES];
};

static struct {
	bool json, native_only;
	u64 rounds, reps;
	const char *object;
} opt = { .rounds = 20000, .reps = 15, .object = "build/bpf/decide.bpf.o" };

/* --- a machine ------------------------------------------------------------------------------------------------- */

static u64 rng_state;

static u32 rng_below(u32 n)
{
	u64 z = rng_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (u32)(((z ^ (z >> 31)) >> 32) * n >> 32);
}

static void make_machine(u32 cpus, u32 llc_size, u32 idle_pct)
{
	struct roost_llc *l = NULL;
	struct roost_llc_word *w = NULL;
	u32 c;

	host_reset();
	rng_state = cpus * 1000 + llc_size;
	host.machine = (struct roost_machine){ .abi_version = ROOST_ABI_VERSION, .nr_cpu_ids = cpus, .nr_possible = cpus,
					       .nr_nodes = 1, .smt = 1 };
	for (c = 0; c < cpus; c++) {
		struct roost_cpu *p = &host.cpu[c];

		if (c % llc_size == 0) {
			l = &host.llc[host.machine.nr_llcs++];
			l->first_word = host.machine.nr_words;
			l->smt = 1;
			w = NULL;
		}
		if (!w || w->cpu_word != c / 64) {
			w = &host.word[host.machine.nr_words++];
			w->cpu_word = c / 64;
			l->nr_words++;
		}
		l->weight++;
		l->scan_depth = l->weight;
		w->member |= policy_bit((s32)c);
		p->flags = ROOST_CPU_ONLINE;
		p->llc = host.machine.nr_llcs - 1;
		p->word = host.machine.nr_words - 1;
		p->core = c & ~1u;
		p->siblings[0] = (u16)(c & ~1u);
		p->siblings[1] = (u16)(c | 1);
		p->nr_siblings = 2;
		p->capacity = p->capacity_max = ROOST_CAPACITY;
		p->pull_from = -1;
		p->nr_runnable = 1;
		p->load = p->load_avg = ROOST_WEIGHT_NICE0;
		p->util_busy = 1;
		p->curr_weight = ROOST_WEIGHT_NICE0;
	}
	for (c = 0; c < cpus; c += llc_size) {
		u32 weight = host.llc[c / llc_size].weight, idle = (weight * idle_pct + 99) / 100;

		while (idle) {
			struct roost_cpu *p = &host.cpu[c + rng_below(weight)];

			idle -= p->nr_runnable;
			p->nr_runnable = p->curr_weight = 0;
			p->load = p->load_avg = 0;
			p->util_busy = 0;
		}
	}
	for (c = 0; c < cpus; c++)
		if (!host.cpu[c].nr_runnable)
			policy_went_idle(&host.cpu[c], (s32)c, NOW_NS);
}

/* --- the two hosts --------------------------------------------------------------------------------------------- */

static u64 hist[DECIDE_MODES][DECIDE_BUCKETS];

static u32 percentile(const u64 *h, u32 per_cent)
{
	u64 all = 0, seen = 0;
	u32 i;

	for (i = 0; i < DECIDE_BUCKETS; i++)
		all += h[i];
	for (i = 0; i < DECIDE_BUCKETS - 1; i++) {
		seen += h[i];
		if (seen * 100 >= all * per_cent)
			break;
	}
	return i;
}

/* The mean of the middle half. */
static double middle(const u64 *h)
{
	u64 all = 0, seen = 0, n = 0, sum = 0, from, to;
	u32 i;

	for (i = 0; i < DECIDE_BUCKETS; i++)
		all += h[i];
	from = all / 4;
	to = all - all / 4;
	for (i = 0; i < DECIDE_BUCKETS; i++) {
		u64 first = seen > from ? seen : from, last = seen + h[i] < to ? seen + h[i] : to;

		if (last > first) {
			n += last - first;
			sum += i * (last - first);
		}
		seen += h[i];
	}
	return n ? (double)sum / (double)n : 0;
}

static __attribute__((noinline)) int run_native(u64 mode)
{
	struct policy_wake w = { .recent = -1, .wakee_load = ROOST_WEIGHT_NICE0, .now_ns = NOW_NS };
	static volatile u64 kept;
	u64 sink = 0, i;

	for (i = 0; i < opt.rounds; i++)
		hist[mode][decide_round(NULL, &w, i, mode, &sink)]++;
	kept = sink;
	(void)kept;
	return 0;
}

static struct {
	struct bpf_object *obj;
	int decide, knobs, machine, cpus, llcs, words, task, hist;
} bpf;

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static int map_fd(const char *name, u32 entries)
{
	struct bpf_map *m = bpf_object__find_map_by_name(bpf.obj, name);

	if (!m)
		return -ENOENT;
	if (entries)
		return bpf_map__set_max_entries(m, entries);
	return bpf_map__fd(m);
}

static int open_bpf(void)
{
	struct bpf_program *p;
	int err;

	libbpf_set_print(quiet);
	bpf.obj = bpf_object__open_file(opt.object, NULL);
	if (!bpf.obj)
		return -errno;
	err = map_fd("roost_cpus", HOST_MAX_CPUS);
	if (!err)
		err = map_fd("roost_llcs", HOST_MAX_CPUS);
	if (!err)
		err = map_fd("roost_words", HOST_MAX_WORDS);
	if (!err)
		err = bpf_object__load(bpf.obj);
	if (err)
		return err;
	p = bpf_object__find_program_by_name(bpf.obj, "decide");
	bpf.decide = p ? bpf_program__fd(p) : -ENOENT;
	bpf.knobs = map_fd("roost_knobs", 0);
	bpf.machine = map_fd("roost_machine", 0);
	bpf.cpus = map_fd("roost_cpus", 0);
	bpf.llcs = map_fd("roost_llcs", 0);
	bpf.words = map_fd("roost_words", 0);
	bpf.task = map_fd("decide_task", 0);
	bpf.hist = map_fd("decide_hist", 0);
	return bpf.decide < 0 || bpf.hist < 0 || bpf.task < 0 ? -ENOENT : 0;
}

static int put_all(int fd, const void *values, size_t size, u32 count)
{
	int err = 0;

	for (u32 i = 0; i < count && !err; i++)
		err = bpf_map_update_elem(fd, &i, (const char *)values + i * size, BPF_ANY);
	return err;
}

static int lay_bpf(void)
{
	static struct {
		u64 mask[ROOST_MAX_WORDS];
		u32 everywhere, pad;
	} task = { .everywhere = 1 };
	int err;

	err = put_all(bpf.knobs, &host.knobs, sizeof(host.knobs), 1);
	if (!err)
		err = put_all(bpf.machine, &host.machine, sizeof(host.machine), 1);
	if (!err)
		err = put_all(bpf.cpus, host.cpu, sizeof(host.cpu[0]), host.machine.nr_cpu_ids);
	if (!err)
		err = put_all(bpf.llcs, host.llc, sizeof(host.llc[0]), host.machine.nr_llcs);
	if (!err)
		err = put_all(bpf.words, host.word, sizeof(host.word[0]), host.machine.nr_words);
	if (!err)
		err = put_all(bpf.task, &task, sizeof(task), 1);
	return err;
}

static int run_bpf(u64 mode)
{
	static u64 counts[DECIDE_BUCKETS];
	struct decide_args args = { .rounds = opt.rounds, .mode = mode, .now_ns = NOW_NS };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &args, .ctx_size_in = sizeof(args));
	u32 zero = 0;
	int err;

	memset(counts, 0, sizeof(counts));
	err = bpf_map_update_elem(bpf.hist, &zero, counts, BPF_ANY);
	if (!err)
		err = bpf_prog_test_run_opts(bpf.decide, &run);
	if (!err && run.retval)
		err = -EIO;
	if (!err)
		err = bpf_map_lookup_elem(bpf.hist, &zero, counts);
	for (u32 i = 0; i < DECIDE_BUCKETS && !err; i++)
		hist[mode][i] += counts[i];
	return err;
}

/* --- measuring ------------------------------------------------------------------------------------------------- */

/* The least disturbed repetition of each mode counts: what the neighbours of a shared machine add is no property of a decision. */
static int measure(struct result *r, bool native)
{
	int err = 0;

	r->how = native ? "native" : "bpf";
	for (u64 rep = 0; rep <= opt.reps && !err; rep++) {
		for (u64 mode = 0; mode < DECIDE_MODES && !err; mode++) {
			double p50;
			u32 p99;

			memset(hist[mode], 0, sizeof(hist[mode]));
			make_machine(r->cpus, r->llc, r->idle_pct);
			if (!native)
				err = lay_bpf();
			if (!err)
				err = native ? run_native(mode) : run_bpf(mode);
			p50 = middle(hist[mode]);
			p99 = percentile(hist[mode], 99);
			/* the first one warms up caches and branch predictors */
			if (rep <= 1 || p50 < r->p50[mode])
				r->p50[mode] = p50;
			if (rep <= 1 || p99 < r->p99[mode])
				r->p99[mode] = p99;
		}
	}
	return err;
}

static double above(const struct result *r, u32 mode)
{
	return r->p50[mode] - r->p50[DECIDE_EMPTY];
}

/* Below a nanosecond nothing is known. */
static double ratio(double a, double b)
{
	return (a > 1 ? a : 1) / (b > 1 ? b : 1);
}

static void print_row(const struct result *r)
{
	if (opt.json)
		return;
	printf("%-7s %5u %5u %4u %% %8.1f %8.1f %8u %8.1f %8u %9.1fx\n", r->how, r->cpus, r->llc, r->idle_pct, r->p50[DECIDE_EMPTY],
	       above(r, DECIDE_ROOST), r->p99[DECIDE_ROOST], above(r, DECIDE_LINEAR), r->p99[DECIDE_LINEAR],
	       ratio(above(r, DECIDE_LINEAR), above(r, DECIDE_ROOST)));
	fflush(stdout);
}

static const struct result *find(const struct result *r, u32 n, const char *how, u32 cpus, u32 llc, u32 idle_pct)
{
	for (u32 i = 0; i < n; i++)
		if (r[i].how == how && r[i].cpus == cpus && r[i].llc == llc && r[i].idle_pct == idle_pct)
			return &r[i];
	return NULL;
}

struct verdict {
	double most_ns;                    /* above the empty decision, anywhere */
	double growth, total_growth;    /* 16 to 1024 CPUs, the same idle share: above the empty one, and with it */
	double least_ratio;             /* to the linear scan, in busy LLCs of 128 */
};

static struct verdict judge(const struct result *r, u32 n, const char *how)
{
	struct verdict v = { .least_ratio = 1e9 };

	for (u32 i = 0; i < n; i++) {
		const struct result *small;

		if (r[i].how != how)
			continue;
		if (above(&r[i], DECIDE_ROOST) > v.most_ns)
			v.most_ns = above(&r[i], DECIDE_ROOST);
		if (r[i].llc == 128 && !r[i].idle_pct) {
			double faster = ratio(above(&r[i], DECIDE_LINEAR), above(&r[i], DECIDE_ROOST));

			if (faster < v.least_ratio)
				v.least_ratio = faster;
		}
		small = find(r, n, how, 16, 16, r[i].idle_pct);
		if (r[i].cpus == 1024 && small) {
			double g = ratio(above(&r[i], DECIDE_ROOST), above(small, DECIDE_ROOST));
			double t = ratio(r[i].p50[DECIDE_ROOST], small->p50[DECIDE_ROOST]);

			v.growth = g > v.growth ? g : v.growth;
			v.total_growth = t > v.total_growth ? t : v.total_growth;
		}
	}
	return v;
}

static void print_json(const struct result *r, u32 n)
{
	static const char *const hows[] = { "native", "bpf" };

	printf("{\"rounds\": %llu, \"reps\": %llu, \"unit\": \"ns\", \"rows\": [", opt.rounds, opt.reps);
	for (u32 i = 0; i < n; i++) {
		printf("%s\n  {\"how\": \"%s\", \"cpus\": %u, \"llc\": %u, \"idle_pct\": %u", i ? "," : "", r[i].how, r[i].cpus, r[i].llc,
		       r[i].idle_pct);
		for (u32 m = 0; m < DECIDE_MODES; m++)
			printf(", \"%s_p50\": %.1f, \"%s_p99\": %u", mode_names[m], r[i].p50[m], mode_names[m], r[i].p99[m]);
		printf("}");
	}
	printf("\n], \"summary\": {");
	for (u32 h = 0; h < (opt.native_only ? 1 : 2); h++) {
		struct verdict v = judge(r, n, hows[h]);

		printf("%s\n  \"%s\": {\"most_above_empty_ns\": %.1f, \"growth_16_to_1024\": %.2f, \"growth_with_empty\": %.2f, "
		       "\"least_speedup_busy_llc_128\": %.1f}", h ? "," : "", hows[h], v.most_ns, v.growth, v.total_growth, v.least_ratio);
	}
	printf("\n}}\n");
}

static void print_verdict(const struct result *r, u32 n, const char *how)
{
	struct verdict v = judge(r, n, how);

	printf("%s: at most %.1f ns above the empty decision (goal: under 60: %s); from 16 to 1024 CPUs %.2fx, with the empty part %.2fx "
	       "(goal: under 1.3x: %s); busy LLC of 128: at least %.1fx faster than the scan (goal: 5x: %s)\n", how, v.most_ns,
	       v.most_ns < 60 ? "met" : "missed", v.growth, v.total_growth, v.growth < 1.3 ? "met" : "missed", v.least_ratio,
	       v.least_ratio >= 5 ? "met" : "missed");
}

static int measure_all(struct result *r, u32 *n)
{
	int err = 0;

	for (u32 native = 1; native < 2 && !err; native--) {
		if (!native && opt.native_only)
			break;
		for (u32 l = 0; l < COUNT(llc_sizes); l++)
			for (u32 c = 0; c < COUNT(cpu_counts); c++)
				for (u32 i = 0; i < COUNT(idle_shares) && !err; i++) {
					/* an LLC larger than the machine is the machine: measured once */
					if (l && cpu_counts[c] <= llc_sizes[l - 1])
						continue;
					r[*n] = (struct result){ .cpus = cpu_counts[c], .llc = llc_sizes[l], .idle_pct = idle_shares[i] };
					err = measure(&r[*n], native);
					if (!err)
						print_row(&r[(*n)++]);
				}
	}
	return err;
}

int main(int argc, char **argv)
{
	static struct result results[2 * COUNT(cpu_counts) * COUNT(llc_sizes) * COUNT(idle_shares)];
	u32 n = 0;
	int err;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			opt.json = true;
		} else if (!strcmp(argv[i], "--native")) {
			opt.native_only = true;
		} else if (!strcmp(argv[i], "--object") && i + 1 < argc) {
			opt.object = argv[++i];
		} else if ((!strcmp(argv[i], "--rounds") || !strcmp(argv[i], "--reps")) && i + 1 < argc && atoi(argv[i + 1]) > 0) {
			*(argv[i][3] == 'o' ? &opt.rounds : &opt.reps) = (u64)atoi(argv[i + 1]);
			i++;
		} else {
			fprintf(stderr, "decide: '%s': [--json] [--rounds N] [--reps N] [--native] [--object FILE]\n", argv[i]);
			return 2;
		}
	}
	if (!opt.native_only) {
		err = open_bpf();
		if (err) {
			fprintf(stderr, "decide: %s: %s (BPF needs root; --native does without)\n", opt.object, strerror(-err));
			return 1;
		}
	}
	if (!opt.json)
		printf("                           empty    roost above it    linear above it   linear/roost\n"
		       "%-7s %5s %5s %6s %8s %8s %8s %8s %8s\n", "", "CPUs", "LLC", "idle", "p50 ns", "p50 ns", "p99 ns*", "p50 ns",
		       "p99 ns*");
	err = measure_all(results, &n);
	if (err) {
		fprintf(stderr, "decide: measuring failed: %s\n", strerror(-err));
		return 1;
	}
	if (opt.json) {
		print_json(results, n);
	} else {
		printf("* p99 with the empty part\n");
		print_verdict(results, n, "native");
		if (!opt.native_only)
			print_verdict(results, n, "bpf");
	}
	bpf_object__close(bpf.obj);
	return 0;
}
