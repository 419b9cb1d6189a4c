// SPDX-License-Identifier: GPL-2.0-only
/*
 * parity - the patched kernel's wakeup path and src/policy decide on the same machine states.
 *
 *   parity [COUNT [SEED]]
 *
 * The kernel's functions are those of a patched tree, extracted (extract) and compiled into this program. Each state
 * is a random machine, load, task and set of features. Where the two choose different CPUs, the state is decided again
 * with one known difference between them taken away; if they then agree, the difference is counted under its reason.
 * One that no reason explains, or a CPU outside the task's affinity, is a failure, printed with the seed that repeats
 * it. docs/kernel.md tells what the reasons mean.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/abi.h"

typedef struct {
	u64 affinity;               /* and online */
	s32 home;                   /* prev: its scheduling domain is the task's */
} env_task;

static struct roost_knobs knobs;
static struct roost_machine machine;
static struct roost_cpu cpus[64];
static struct roost_llc llcs[16];
static struct roost_llc_word words[16];
static u64 now_ns;
static int nr_cpus, domain_of[64];      /* partitions */

#define env_knobs() (&knobs)
#define env_machine() (&machine)
#define env_cpu(c) ((c) >= 0 && (c) < nr_cpus ? &cpus[c] : (struct roost_cpu *)0)
#define env_llc(l) ((l) < machine.nr_llcs ? &llcs[l] : (struct roost_llc *)0)
#define env_word(w) ((w) < machine.nr_words ? &words[w] : (struct roost_llc_word *)0)
#define env_domain(c) ((u64)domain_of[c])
#define env_allowed(p, c) ((((p)->affinity >> (c)) & 1) && domain_of[c] == domain_of[(p)->home])
#define env_allowed_word(p, w) ((w) ? 0 : (p)->affinity)
#define env_for(i, n) for ((i) = 0; (i) < (n); (i)++)
#include "policy/wake.h"

#include "shim.h"
u64 sysctl_sched_idle_grace_ns;
unsigned int sysctl_sched_idle_grace_max_queued;
u64 idle_exit_ns[NR];
#include "../../../kernel/files/kernel/sched/idle_grace.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wshadow"
#include PARITY_EXTRACT
#pragma GCC diagnostic pop

static u64 rng_state;
static u64 rng(void)
{
	u64 z = (rng_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}
static u32 below(u32 n)
{
	return (u32)(rng() % n);
}
static bool chance(u32 percent)
{
	return below(100) < percent;
}

/* --- One state, held once, and laid out for either side as often as it takes. ---------------------------- */
struct shape {
	int cpus, llc, threads;     /* CPUs in all, CPUs of an LLC, threads of a core */
	bool split;                 /* siblings numbered llc/threads apart, not one after the other */
};
static const struct shape shapes[] = {
	{ 16, 4, 2, false }, { 64, 16, 2, true }, { 32, 32, 2, false }, { 12, 6, 1, false }, { 16, 8, 4, true },
	{ 8, 8, 2, true }, { 64, 64, 1, false },
};

struct cpu_state {
	bool idle, pending, rt;
	u32 nr, nr_idle_class, est, capacity, load;
	u64 exit_ns;
};
static struct state {
	struct shape m;
	struct cpu_state c[64];
	bool hint[16];
	u32 depth[16];
	u64 affinity;
	struct policy_wake w;
	struct roost_knobs k;
	bool stale_core, stale_grace;
} st;

static int core_of(int cpu)
{
	const struct shape *m = &st.m;
	int base = cpu / m->llc * m->llc, in = cpu % m->llc, cores = m->llc / m->threads;

	return base + (m->split ? in % cores : in / m->threads * m->threads);
}

static void make_state(void)
{
	u32 busy = below(101), idlers;
	int c, l, parts;

	memset(&st, 0, sizeof(st));
	st.m = shapes[below(sizeof(shapes) / sizeof(*shapes))];
	now_ns = 5000000000ULL + rng() % 1000000;
	st.k.bias_prev = chance(50);
	st.k.util_fits = chance(50);
	st.k.idle_smt = chance(50);
	st.k.idle_grace_ns = chance(50) ? 1 + below(2000000) : 0;
	st.k.idle_grace_max_queued = chance(30) ? 1 + below(5) : 0;
	idlers = chance(20) ? 30 : 0;
	for (c = 0; c < st.m.cpus; c++) {
		struct cpu_state *s = &st.c[c];

		s->exit_ns = chance(60) ? now_ns - below(3000000) : chance(50) ? 0 : 1;
		s->capacity = chance(70) ? 1024 : 200 + below(824);
		if (!chance(busy)) {
			s->pending = chance(5);
			s->idle = !s->pending;
			continue;
		}
		s->rt = chance(5);
		s->nr = s->rt ? below(3) : 1 + below(4);
		s->nr_idle_class = chance(idlers) ? s->nr : below(s->nr + 1) * (idlers > 0);
		s->est = below(chance(50) ? 300 : 1400);
		s->load = s->nr_idle_class * ROOST_WEIGHT_IDLE + (s->nr - s->nr_idle_class) * (chance(80) ? 1024 : 15 + below(80000));
	}
	parts = chance(10) ? 2 : 1;
	for (c = 0; c < st.m.cpus; c++)
		domain_of[c] = parts == 1 ? 0 : chance(50);
	for (l = 0; l < st.m.cpus / st.m.llc; l++) {
		st.hint[l] = st.m.threads > 1 && chance(50);
		st.depth[l] = policy_scan_depth(below(1025), (u32)st.m.llc);
	}
	st.w.prev = (s32)below((u32)st.m.cpus);
	st.w.waker = chance(15) ? st.w.prev : (s32)below((u32)st.m.cpus);
	if (chance(50))                 /* near each other more often than chance has it */
		st.w.waker = (s32)(st.w.prev / st.m.llc * st.m.llc) + (s32)below((u32)st.m.llc);
	st.w.recent = chance(10) ? -1 : (s32)(st.w.prev / st.m.llc * st.m.llc) + (s32)below((u32)st.m.llc);
	st.affinity = chance(70) ? ~0ULL : rng() | rng();
	st.affinity |= 1ULL << st.w.prev;
	st.w.flags = (chance(30) ? POLICY_WAKE_SYNC : 0) | (chance(10) ? POLICY_WAKE_KTHREAD : 0) |
		     (chance(10) ? POLICY_WAKE_IDLE_CLASS : 0);
	st.w.task_util = below(chance(50) ? 200 : 1025);
	st.w.waker_flips = chance(80) ? below(8) : below(3000);
	st.w.wakee_flips = chance(80) ? below(8) : below(3000);
	st.w.wakee_load = st.w.flags & POLICY_WAKE_IDLE_CLASS ? ROOST_WEIGHT_IDLE : chance(80) ? 1024 : 15 + below(80000);
	if (!st.c[st.w.waker].idle && st.c[st.w.waker].nr && !st.c[st.w.waker].rt)
		st.w.curr_load = st.c[st.w.waker].load / st.c[st.w.waker].nr;
	st.stale_core = chance(30);
	st.stale_grace = chance(30);
}

/* --- The policy's side ------------------------------------------------------------------------------------- */
static void lay_policy(void)
{
	int c, s, l;

	memset(cpus, 0, sizeof(cpus));
	memset(llcs, 0, sizeof(llcs));
	memset(words, 0, sizeof(words));
	nr_cpus = st.m.cpus;
	knobs = st.k;
	machine.nr_cpu_ids = (u32)nr_cpus;
	machine.nr_llcs = machine.nr_words = (u32)(nr_cpus / st.m.llc);
	machine.smt = st.m.threads > 1;
	for (c = 0; c < nr_cpus; c++) {
		struct roost_cpu *p = &cpus[c];
		const struct cpu_state *a = &st.c[c];
		struct roost_llc_word *w;

		p->flags = ROOST_CPU_ONLINE | (a->rt ? ROOST_CPU_RT_HELD : 0);
		p->llc = p->word = (u32)(c / st.m.llc);
		p->core = (u32)core_of(c);
		for (s = c / st.m.llc * st.m.llc; s < (c / st.m.llc + 1) * st.m.llc; s++)
			if (core_of(s) == core_of(c))
				p->siblings[p->nr_siblings++] = (u16)s;
		p->capacity = a->capacity;
		p->capacity_max = ROOST_CAPACITY;
		p->idle_exit_ns = a->exit_ns;
		p->nr_runnable = a->nr;
		p->nr_idle_class = a->nr_idle_class;
		p->est_sum = a->est;
		p->load_avg = a->load;
		p->util_busy = 1;
		w = &words[p->word];
		w->member |= policy_bit(c);
		if (a->idle)
			w->idle |= policy_bit(c);
		policy_sidle_update(p, c);
		if (policy_in_grace(p, now_ns) || st.stale_grace)
			w->grace |= policy_bit(c);
	}
	for (l = 0; l < nr_cpus / st.m.llc; l++) {
		llcs[l].first_word = (u32)l;
		llcs[l].nr_words = 1;
		llcs[l].weight = (u32)st.m.llc;
		llcs[l].scan_depth = st.depth[l];
		llcs[l].has_idle_core = st.hint[l];
		llcs[l].smt = machine.smt;
	}
	for (c = 0; c < nr_cpus; c++)
		if (machine.smt && (policy_core_state(c, now_ns) == POLICY_CORE_IDLE || (st.stale_core && c % 3 == 0)))
			words[cpus[c].word].core |= policy_bit(c);
}

static struct roost_choice ask_policy(bool idle_wakee, bool domain_depth)
{
	struct policy_wake w = st.w;
	env_task p = { .affinity = st.affinity, .home = w.prev };
	struct roost_choice ch;
	int c;

	w.now_ns = now_ns;
	if (idle_wakee)
		w.flags &= ~POLICY_WAKE_IDLE_CLASS;
	for (c = 0; domain_depth && c < st.m.cpus; c++)
		if (domain_of[c] != domain_of[w.prev])
			p.affinity &= ~policy_bit(c);

	lay_policy();
	memset(&ch, 0, sizeof(ch));
	policy_wakeup(&p, &w, &ch);
	return ch;
}

/* --- The kernel's side --------------------------------------------------------------------------------------- */
/* What may be taken away from the kernel's side to see whether it is the reason. */
enum {
	LIKE_CAPACITY = 1,          /* loads compared at full capacity */
	LIKE_LLC_SIZE = 2,          /* LLC size not reduced by a partition */
	LIKE_DEPTH = 4,             /* a depth of zero does not forbid the search for a core */
	LIKE_RUNNING = 8,           /* tasks of higher classes do not count as running */
	/* from the policy's side */
	LIKE_IDLE_WAKEE = 16,       /* a SCHED_IDLE wakee may go beside SCHED_IDLE tasks */
	LIKE_DOMAIN_DEPTH = 32,     /* only the task's own domain counts towards the depth */
	LIKE_END = 64,
};
static const char *const reasons[] = {
	"capacity left by higher classes, in the comparison of loads",
	"LLC size under a cpuset partition",
	"depth 0 stops the kernel's search for a core too",
	"tasks of higher classes among those running",
	"SCHED_IDLE wakee beside SCHED_IDLE tasks",
	"CPUs of another partition counted in the scan's depth",
};
static struct sched_domain doms[64][3];
static struct sched_domain_shared shared[2][16];
static struct task_struct idle_task, curr_task[64], wakee;
static struct cpumask wakee_mask;

static void lay_kernel(u32 like)
{
	int c, s, i;

	memset(rqs, 0, sizeof(rqs));
	memset(doms, 0, sizeof(doms));
	memset(smt_mask, 0, sizeof(smt_mask));
	memset(curr_task, 0, sizeof(curr_task));
	memset(&wakee, 0, sizeof(wakee));
	smt_active = st.m.threads > 1;
	feat_SELECT_BIAS_PREV = st.k.bias_prev;
	feat_UTIL_FITS_CAPACITY = st.k.util_fits;
	feat_SELECT_IDLE_SMT = st.k.idle_smt;
	feat_IDLE_GRACE = st.k.idle_grace_ns != 0;
	sysctl_sched_idle_grace_ns = st.k.idle_grace_ns;
	sysctl_sched_idle_grace_max_queued = (unsigned int)st.k.idle_grace_max_queued;
	clock_ns = now_ns;
	for (c = 0; c < NR; c++) {
		struct rq *rq = &rqs[c];
		const struct cpu_state *a = &st.c[c];
		int l = c / st.m.llc;

		sd_llc[c] = 0;
		sd_llc_shared[c] = sd_balance_shared[c] = 0;
		sd_llc_id[c] = c;
		sd_llc_size[c] = 1;
		rq->cpu = c;
		rq->idle = &idle_task;
		if (c >= st.m.cpus)
			continue;
		rq->nr_running = a->nr;
		rq->ttwu_pending = a->pending;
		rq->curr = a->nr || a->rt ? &curr_task[c] : &idle_task;
		rq->nr_running += a->rt && !(like & LIKE_RUNNING);
		rq->cfs.h_nr_idle = rq->cfs.idle_h_nr_running = a->rt && (like & LIKE_RUNNING) ? 0 : a->nr_idle_class;
		rq->cfs.avg.util_est = a->est;
		rq->cpu_capacity = a->capacity;
		rq->load = a->load;
		idle_exit_ns[c] = a->exit_ns;
		/* SMT, LLC, all: the domains that a partition leaves; those of one CPU do not exist */
		for (s = 0; s < st.m.cpus; s++) {
			if (domain_of[s] != domain_of[c])
				continue;
			if (s / st.m.llc == l) {
				doms[c][1].span.bits |= 1ULL << s;
				if (core_of(s) == core_of(c))
					doms[c][0].span.bits |= 1ULL << s;
			}
			doms[c][2].span.bits |= 1ULL << s;
		}
		for (s = 0; s < st.m.cpus; s++)
			if (core_of(s) == core_of(c))
				smt_mask[c].bits |= 1ULL << s;
		shared[domain_of[c]][l].has_idle_cores = st.hint[l];
		shared[domain_of[c]][l].nr_idle_scan = (int)st.depth[l];
		for (i = 2; i >= 0; i--) {
			struct sched_domain *d = &doms[c][i];

			d->span_weight = (unsigned int)__builtin_popcountll(d->span.bits);
			d->flags = SD_WAKE_AFFINE;
			d->imbalance_pct = i == 0 ? 110 : 117;
			if (d->span_weight < 2 || (i == 0 && d->span.bits == doms[c][1].span.bits))
				continue;
			d->parent = rq->sd;
			rq->sd = d;
			if (i == 1) {
				d->shared = &shared[domain_of[c]][l];
				sd_llc[c] = d;
				sd_llc_shared[c] = sd_balance_shared[c] = d->shared;
				sd_llc_id[c] = next_bit(d->span.bits, 0);
				sd_llc_size[c] = (int)d->span_weight;
			}
		}
		if (sd_llc[c] && (like & LIKE_LLC_SIZE))
			sd_llc_size[c] = st.m.llc;
		if (like & LIKE_LLC_SIZE && !sd_llc[c])
			sd_llc_size[c] = st.m.llc;
	}
	this_cpu_id = st.w.waker;
	current = rqs[this_cpu_id].curr;
	current->last_wakee = &wakee;
	current->wakee_flip_decay_ts = jiffies;
	current->wakee_flips = st.w.waker_flips;
	current->se.avg.load_avg = st.w.curr_load;
	current->per_cpu_kthread = st.w.flags & POLICY_WAKE_KTHREAD;
	in_task_context = true;
	wakee_mask.bits = st.affinity;
	wakee.cpus_ptr = &wakee_mask;
	wakee.wakee_flips = st.w.wakee_flips;
	wakee.recent_used_cpu = st.w.recent < 0 ? st.w.prev : st.w.recent;
	wakee.se.avg.load_avg = st.w.wakee_load;
	wakee.util = st.w.task_util;
	wakee.idle_policy = st.w.flags & POLICY_WAKE_IDLE_CLASS;
}

static int ask_kernel(u32 like)
{
	int c;

	lay_kernel(like);
	compare_at_full_capacity = like & LIKE_CAPACITY;
	for (c = 0; (like & LIKE_DEPTH) && c < st.m.cpus / st.m.llc; c++)
		if (st.hint[c] && !st.depth[c])
			shared[0][c].nr_idle_scan = shared[1][c].nr_idle_scan = 1;
	return select_task_rq_fair(&wakee, st.w.prev, WF_TTWU | (st.w.flags & POLICY_WAKE_SYNC ? WF_SYNC : 0));
}

/* --- Judgement ---------------------------------------------------------------------------------------------------- */
static const char *const rule_names[] = {
#define RULE(id, name, help) name,
#include "policy/rules.def"
#undef RULE
};

static bool ok_cpu(int c)
{
	return st.c[c].idle || policy_in_grace(&cpus[c], now_ns) || (words[cpus[c].word].sidle & policy_bit(c));
}

/*
 * The kernel looks for a core and keeps the first thread it passes that is free, core by core; the policy, having
 * found no core, looks at the threads again by number. Both take a free CPU of the same LLC.
 */
static bool other_thread(const struct roost_choice *ch, int kernel)
{
	struct roost_choice again = *ch;

	if (ch->rule != ROOST_RULE_SCAN_CPU || !st.hint[ch->target / st.m.llc] || kernel / st.m.llc != ch->target / st.m.llc)
		return false;
	lay_policy();
	return again.cpu != kernel && ok_cpu(kernel);
}

static u64 seen[LIKE_END], other_threads, rules[ROOST_RULE_COUNT];

/* Returns true if the two agree, or differ for a reason we know; counts either. */
static bool judge(void)
{
	struct roost_choice ch = ask_policy(false, false), like_ch;
	int kernel = ask_kernel(0), with, bits;
	u32 like;

	rules[ch.rule]++;
	if (!(st.affinity >> ch.cpu & 1) || !(st.affinity >> kernel & 1) || domain_of[ch.cpu] != domain_of[st.w.prev] ||
	    domain_of[kernel] != domain_of[st.w.prev])
		return false;
	if (ch.cpu == kernel) {
		seen[0]++;
		return true;
	}
	if (other_thread(&ch, kernel)) {
		other_threads++;
		return true;
	}
	for (bits = 1; bits <= 6; bits++) {
		for (like = 1; like < LIKE_END; like++) {
			if (__builtin_popcount(like) != bits)
				continue;
			like_ch = ask_policy(like & LIKE_IDLE_WAKEE, like & LIKE_DOMAIN_DEPTH);
			with = ask_kernel(like);
			if (with == like_ch.cpu || other_thread(&like_ch, with)) {
				other_threads += with != like_ch.cpu;
				seen[like]++;
				return true;
			}
		}
	}
	return false;
}

static void print_state(u64 seed, u64 i)
{
	struct roost_choice ch = ask_policy(false, false);
	int kernel = ask_kernel(0), c, r;

	printf("state %llu of seed %llu: policy %d (%s, target %d), kernel %d\n", i, seed, ch.cpu, rule_names[ch.rule], ch.target, kernel);
	printf("  %d CPUs, LLC of %d, %d threads%s; prev %d waker %d recent %d flags %x affinity %llx util %u\n", st.m.cpus, st.m.llc,
	       st.m.threads, st.m.split ? " split" : "", st.w.prev, st.w.waker, st.w.recent, st.w.flags, st.affinity, st.w.task_util);
	printf("  bias-prev %llu util-fits %llu idle-smt %llu idle-grace %llu max %llu\n", st.k.bias_prev, st.k.util_fits,
	       st.k.idle_smt, st.k.idle_grace_ns, st.k.idle_grace_max_queued);
	for (r = 0; r < 6; r++) {
		ch = ask_policy(1 << r & LIKE_IDLE_WAKEE, 1 << r & LIKE_DOMAIN_DEPTH);
		kernel = ask_kernel(1u << r);
		printf("  without \"%s\": policy %d (%s, target %d), kernel %d\n", reasons[r], ch.cpu, rule_names[ch.rule], ch.target, kernel);
	}
	for (c = 0; c < st.m.cpus; c++)
		printf("  cpu %2d core %2d domain %d: %s%s%s nr %u idle-class %u est %u capacity %u load %u left idle %lld ago; hint %d depth %u\n",
		       c, core_of(c), domain_of[c], st.c[c].idle ? "idle" : "busy", st.c[c].pending ? " pending" : "",
		       st.c[c].rt ? " rt" : "", st.c[c].nr, st.c[c].nr_idle_class, st.c[c].est, st.c[c].capacity, st.c[c].load,
		       (s64)(now_ns - st.c[c].exit_ns), st.hint[c / st.m.llc], st.depth[c / st.m.llc]);
}

/* How deep a scan goes for a given utilisation: every value of the mean, for every LLC size there is. */
static int check_depth(void)
{
	struct sched_domain_shared share = { 0 };
	struct sched_domain d = { .shared = &share, .imbalance_pct = 117 };
	struct lb_env env = { .sd = &d };
	u32 weight, mean;

	for (weight = 2; weight <= 256; weight++) {
		for (mean = 0; mean <= 1100; mean++) {
			d.span_weight = weight;
			sd_llc_size[0] = (int)weight;
			sd_llc_shared[0] = &share;
			update_idle_cpu_scan(&env, (unsigned long)mean * weight);
			if ((u32)share.nr_idle_scan != policy_scan_depth(mean, weight)) {
				printf("depth: mean %u, %u CPUs: kernel %d, policy %u\n", mean, weight, share.nr_idle_scan,
				       policy_scan_depth(mean, weight));
				return 1;
			}
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], 0, 0) : 1000000, seed = argc > 2 ? strtoull(argv[2], 0, 0) : 1, i, failed = 0;
	u32 like, r;

	if (check_depth())
		failed++;
	for (i = 0; i < count; i++) {
		rng_state = seed * 0x100000001b3ULL + i * 0x9e3779b97f4a7c15ULL;
		make_state();
		if (!judge()) {
			if (failed++ < 3)
				print_state(seed, i);
		}
	}
	printf("%llu states decided, %llu alike\n", count, seen[0]);
	for (like = 1; like < LIKE_END; like++) {
		if (!seen[like])
			continue;
		printf("%10llu  differ by ", seen[like]);
		for (r = 0; r < 6; r++)
			if (like >> r & 1)
				printf("%s%s", like & ((1u << r) - 1) ? " + " : "", reasons[r]);
		printf("\n");
	}
	printf("%10llu  differ in which free thread is taken after a vain search for a core\n", other_threads);
	printf("chosen by:");
	for (r = 0; r < ROOST_RULE_COUNT; r++)
		if (rules[r])
			printf(" %s %llu", rule_names[r], rules[r]);
	printf("\nparity: %llu passed, %llu failed\n", count - (failed < count ? failed : count), failed);
	return failed != 0;
}
