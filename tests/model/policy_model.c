/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wakeup path against a separate, slow reference (policy_reference.c), on random machine states, for all 16 sets of
 * features.
 *
 *   policy_model [--states N] [--seed S] [--set K] [--no-bugs]
 *
 * Each of the N states is decided under each set (bits of K: 1 idle-smt, 2 idle-grace, 4 util-fits, 8 bias-prev). CPU, rule,
 * claim, target and its reason must be equal, and the hint afterwards. State i is made from seed S + i alone, so one number
 * repeats a failure.
 *
 * States are what the kernel's side may produce: idle and sidle bits are exact; candidate bits (idle core, grace) are set
 * wherever they are true and at random elsewhere, offline CPUs included. Checked as well: nothing outside allowed is chosen;
 * exactly the claimed CPU's idle bit is cleared; a candidate bit that is cleared was false; threads that decide at once never
 * claim one CPU twice. At last each error that the reference can make is made, and must be noticed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/policy_host.h"
#include "model/policy_state.h"

static const char *const rule_names[] = {
#define RULE(id, name, help) name,
#include "policy/rules.def"
#undef RULE
};
static const char *const target_names[ROOST_TARGET_COUNT] = {
	"wide", "waker-idle", "prev-idle", "sync", "lighter-waker", "lighter-prev",
};

static struct state st;
static struct host_task task;
static struct roost_llc_word pristine[HOST_MAX_WORDS];

/* --- random ------------------------------------------------------------------------------------------------------ */

static u64 rng_state;

static u64 rng(void)
{
	u64 z = rng_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static u32 below(u32 n)
{
	return n ? (u32)((rng() >> 32) * n >> 32) : 0;
}

static bool chance(u32 percent)
{
	return below(100) < percent;
}

/* --- states ------------------------------------------------------------------------------------------------------ */

static void make_machine(void)
{
	static const int threads_of[] = { 1, 2, 2, 2, 4 };
	int threads = threads_of[below(5)], cores, per_llc, shape = (int)below(4);
	bool by_thread = chance(50);    /* {0,N}: threads numbered after all cores; else {0,1} */
	u32 size = below(8);

	cores = (int)(size < 4 ? 1 + below(12) : size < 7 ? 1 + below(64) : 32 + below(480));
	if (cores * threads > STATE_MAX_CPUS)
		cores = STATE_MAX_CPUS / threads;
	if (cores * threads < 2)
		cores = 2;
	st.nr_cpus = cores * threads;
	st.smt = threads > 1;
	per_llc = shape == 0 ? cores : 1 + (int)below((u32)(cores < 64 ? cores : 64));
	st.nr_llcs = (cores + per_llc - 1) / per_llc;
	for (int c = 0; c < st.nr_cpus; c++) {
		struct state_cpu *s = &st.cpu[c];

		memset(s, 0, sizeof(*s));
		s->core = by_thread ? c % cores : c / threads;
		/* in blocks, or dealt out in turn as some firmware numbers them */
		s->llc = shape == 3 ? s->core % st.nr_llcs : s->core / per_llc;
		s->online = true;
		s->affine = true;
		s->capacity_max = 1024;
	}
	if (chance(40)) {
		u32 share = below(60);

		for (int c = 0; c < st.nr_cpus; c++)
			if (chance(share)) {
				st.cpu[c].online = false;
				if (chance(20))
					st.cpu[c].llc = STATE_NO_PLACE;
			}
		st.cpu[below((u32)st.nr_cpus)].online = true;
	}
	/* a CPU that was never online has its core's place, once it has one: here it stays away */
	for (int c = 0; c < st.nr_cpus; c++)
		if (st.cpu[c].llc == STATE_NO_PLACE && st.cpu[c].online)
			st.cpu[c].llc = shape == 3 ? st.cpu[c].core % st.nr_llcs : st.cpu[c].core / per_llc;
}

static int random_online(void)
{
	int c = (int)below((u32)st.nr_cpus);

	while (!st.cpu[c].online)
		c = (c + 1) % st.nr_cpus;
	return c;
}

/* A CPU near another more often than not, so that rules about one LLC get their turn on large machines. */
static int random_near(int from)
{
	int c;

	for (int i = 0; i < 8; i++) {
		c = (int)below((u32)st.nr_cpus);
		if (st.cpu[c].online && st.cpu[c].llc == st.cpu[from].llc)
			return c;
	}
	return random_online();
}

static void make_bounds(void)
{
	u32 partition = below(10), mask = below(8), share = 1 + below(99);

	for (int c = 0; c < st.nr_cpus; c++) {
		struct state_cpu *s = &st.cpu[c];

		switch (partition) {
		case 0:
			s->domain = c >= st.nr_cpus / 2;
			break;
		case 1:
			s->domain = c & 1;
			break;
		case 2:
			s->domain = (int)below(3);
			break;
		default:
			s->domain = 0;
		}
		switch (mask) {
		case 0:
			s->affine = chance(share);
			break;
		case 1:
			s->affine = s->llc == st.cpu[st.prev].llc;
			break;
		case 2:
			s->affine = (c & 1) == (st.prev & 1);
			break;
		case 3:
			s->affine = chance(3);
			break;
		default:
			s->affine = true;
		}
	}
	st.cpu[st.prev].affine = true;
}

static void make_load(void)
{
	static const u32 shares[] = { 0, 2, 10, 50, 90, 100 };
	u32 idle_share = shares[below(6)], sidle_share = chance(50) ? 0 : below(40), hot = shares[below(6)];
	static const u64 offsets[] = { 0, 1, (u64)-1, 2, (u64)-2 };

	for (int c = 0; c < st.nr_cpus; c++) {
		struct state_cpu *s = &st.cpu[c];
		u32 what;

		if (chance(30))
			s->capacity_max = 256 + below(769);
		s->capacity = chance(70) ? s->capacity_max : below(s->capacity_max + 1);
		s->idle = s->online && chance(idle_share);
		s->rt_held = s->online && !s->idle && chance(5);
		if (s->online && !s->idle && !(s->rt_held && chance(50)) && !chance(3))
			s->nr_runnable = chance(60) ? 1 : 1 + below(6);
		if (s->nr_runnable)
			s->nr_idle_class = chance(sidle_share) ? s->nr_runnable : chance(10) ? below(s->nr_runnable) : 0;
		for (u32 i = 0; i < s->nr_runnable; i++)
			s->load += chance(60) ? 1024 : 3 + below(3000);
		s->est_sum = chance(50) ? below(1100) : 0;
		if (chance(40)) {       /* round the edge of fits */
			s64 edge = (s64)s->capacity * 1024 / 1280 - (s64)st.task_util + (s64)below(3) - 1;

			s->est_sum = edge > 0 ? (u32)edge : 0;
		}
		/* time stamps: long ago, just now, round the end of the grace, a moment ahead of this CPU's clock */
		what = chance(hot) ? below(4) : 9;
		switch (what) {
		case 0:
		case 1:
			s->idle_exit_ns = st.now_ns - st.grace_ns + offsets[below(5)];
			break;
		case 2:
			s->idle_exit_ns = st.now_ns - below((u32)st.grace_ns * 2);
			break;
		case 3:
			s->idle_exit_ns = st.now_ns + below(2000);
			break;
		default:
			s->idle_exit_ns = chance(20) ? 0 : 1 + below(1000000);
		}
	}
}

/* After make_load: the weight of the waker's task, and flips round the edge of "wide". */
static void make_waker(void)
{
	const struct state_cpu *w = &st.cpu[st.waker];
	u32 f = 0, s, m, kind = below(8);

	for (int c = 0; c < st.nr_cpus; c++)
		f += st.cpu[c].online && st.cpu[c].llc == w->llc;
	s = f + below(3) - 1;
	m = (u32)(s * f + below(3) - 1);
	if (kind >= 5)
		s = m = 0;
	else if (kind == 4)
		s = (u32)rng(), m = (u32)rng();
	else if (kind == 3)
		s = below(4 * f + 1), m = below(4 * f * f + 1);
	st.waker_flips = chance(50) ? s : m;
	st.wakee_flips = st.waker_flips == s ? m : s;
	st.sync = chance(40);
	st.kthread = chance(25);
	st.idle_class = chance(15);
	st.wakee_load = chance(70) ? 1024 : 3 + below(88759);
	st.curr_load = chance(20) ? 0 : w->load ? 1 + below((u32)w->load) : 0;
	if (chance(5))
		st.curr_load = (u32)w->load + below(2000);
	/* loads close to each other, so that the percentage matters */
	if (chance(30) && w->load && st.waker != st.prev && st.cpu[st.prev].load) {
		u64 mine = w->load - (st.sync && st.curr_load <= w->load ? st.curr_load : 0) + st.wakee_load;

		st.cpu[st.prev].load = mine * (88 + below(14)) / 100 + st.wakee_load;
	}
}

static void make_state(u64 seed)
{
	rng_state = seed;
	st.seed = seed;
	make_machine();
	st.now_ns = (1ULL << 40) + (rng() >> 24);
	st.grace_ns = chance(70) ? 1000000 : 1 + below(3000000);
	st.max_queued = chance(50) ? 0 : 1 + below(5);
	st.task_util = chance(20) ? 0 : below(1025);
	st.prev = random_online();
	st.waker = chance(25) ? st.prev : chance(70) ? random_near(st.prev) : random_online();
	make_bounds();
	make_load();
	make_waker();
	st.recent = -1;
	if (chance(60))
		st.recent = chance(70) ? random_near(st.prev) : (int)below((u32)st.nr_cpus);
	for (int l = 0; l < st.nr_llcs; l++) {
		st.llc[l].mean = chance(50) ? below(1025) : 800 + below(120);
		st.llc[l].hint = chance(50);
	}
}

static void apply_set(u32 set)
{
	st.idle_smt = set & 1;
	st.util_fits = set & 4;
	st.bias_prev = set & 8;
}

/* --- the state as the policy's records ----------------------------------------------------------------------------- */

static void lay_cpu(int c)
{
	const struct state_cpu *s = &st.cpu[c];
	struct roost_cpu *p = &host.cpu[c];

	p->flags = (s->online ? ROOST_CPU_ONLINE : 0) | (s->rt_held ? ROOST_CPU_RT_HELD : 0);
	p->llc = s->llc == STATE_NO_PLACE ? ~0u : (u32)s->llc;
	p->word = ~0u;
	p->node = p->nr_siblings = 0;
	p->core = (u32)s->core;
	p->capacity = s->capacity;
	p->capacity_max = s->capacity_max;
	p->idle_exit_ns = s->idle_exit_ns;
	p->nr_runnable = s->nr_runnable;
	p->nr_idle_class = s->nr_idle_class;
	p->est_sum = s->est_sum;
	p->load = below(100000);        /* what happens to be there at the moment does not matter */
	p->load_avg = s->load;
	p->util_busy = 1;
	host.domain[c] = (u64)s->domain;
	if (s->affine)
		task.mask[c / 64] |= policy_bit(c);
	else
		task.mask[c / 64] &= ~policy_bit(c);
}

/* Candidate bits are all that are true under any set of features, and some that are not. */
static void lay_bits(int c, u32 stale_pct)
{
	const struct state_cpu *s = &st.cpu[c];
	struct roost_llc_word *w = &host.word[host.cpu[c].word];
	u64 bit = policy_bit(c);
	bool in_grace = s->online && s->idle_exit_ns && st.now_ns < s->idle_exit_ns + st.grace_ns, core = s->online;

	if (s->online)
		w->member |= bit;
	if (s->idle)
		w->idle |= bit;
	if (s->online && s->nr_runnable && s->nr_idle_class == s->nr_runnable && !s->rt_held)
		w->sidle |= bit;
	if (in_grace || chance(stale_pct))
		w->grace |= bit;
	for (u32 i = 0; core && i < host.cpu[c].nr_siblings; i++) {
		const struct state_cpu *t = &st.cpu[host.cpu[c].siblings[i]];

		core = !t->online || t->idle || (t->idle_exit_ns && st.now_ns < t->idle_exit_ns + st.grace_ns);
	}
	if ((core && st.smt) || chance(stale_pct))
		w->core |= bit;
}

static void lay_llc(int l)
{
	struct roost_llc *llc = &host.llc[l];

	memset(llc, 0, sizeof(*llc));
	llc->first_word = host.machine.nr_words;
	for (int c = 0; c < st.nr_cpus; c++) {
		struct roost_llc_word *w;

		if (st.cpu[c].llc != l)
			continue;
		if (!llc->nr_words || host.word[host.machine.nr_words - 1].cpu_word != (u32)c / 64) {
			w = &host.word[host.machine.nr_words++];
			memset(w, 0, sizeof(*w));
			w->cpu_word = (u32)c / 64;
			llc->nr_words++;
		}
		host.cpu[c].word = host.machine.nr_words - 1;
		llc->weight += st.cpu[c].online;
	}
	llc->scan_depth = policy_scan_depth(st.llc[l].mean, llc->weight);
	llc->smt = st.smt;
}

static void lay_state(void)
{
	static int lowest_of_core[STATE_MAX_CPUS];
	u32 stale_pct = chance(50) ? below(60) : 0;

	host.machine.nr_cpu_ids = (u32)st.nr_cpus;
	host.machine.nr_llcs = (u32)st.nr_llcs;
	host.machine.nr_words = 0;
	host.machine.nr_nodes = 1;
	host.machine.smt = st.smt;
	for (int c = 0; c < st.nr_cpus; c++) {
		lay_cpu(c);
		lowest_of_core[st.cpu[c].core] = -1;
	}
	for (int c = 0; c < st.nr_cpus; c++) {
		int *low = &lowest_of_core[st.cpu[c].core];
		struct roost_cpu *first;

		if (*low < 0)
			*low = c;
		first = &host.cpu[*low];
		first->siblings[first->nr_siblings++] = (u16)c;
	}
	for (int c = 0; c < st.nr_cpus; c++) {
		const struct roost_cpu *first = &host.cpu[lowest_of_core[st.cpu[c].core]];

		host.cpu[c].nr_siblings = first->nr_siblings;
		memcpy(host.cpu[c].siblings, first->siblings, sizeof(first->siblings));
	}
	for (int l = 0; l < st.nr_llcs; l++)
		lay_llc(l);
	for (int c = 0; c < st.nr_cpus; c++)
		if (st.cpu[c].llc != STATE_NO_PLACE)
			lay_bits(c, stale_pct);
	memcpy(pristine, host.word, host.machine.nr_words * sizeof(*pristine));
}

static void put_back(void)
{
	memcpy(host.word, pristine, host.machine.nr_words * sizeof(*pristine));
	for (int l = 0; l < st.nr_llcs; l++)
		host.llc[l].has_idle_core = st.llc[l].hint;
	host.knobs.idle_smt = st.idle_smt;
	host.knobs.util_fits = st.util_fits;
	host.knobs.bias_prev = st.bias_prev;
	host.knobs.idle_grace_ns = st.grace_ns;
	host.knobs.idle_grace_max_queued = st.max_queued;
}

static void policy_decide(struct answer *out)
{
	struct policy_wake w = {
		.prev = st.prev, .waker = st.waker, .recent = st.recent, .task_util = st.task_util,
		.waker_flips = st.waker_flips, .wakee_flips = st.wakee_flips, .wakee_load = st.wakee_load,
		.curr_load = st.curr_load, .now_ns = st.now_ns,
		.flags = (st.sync ? POLICY_WAKE_SYNC : 0) | (st.kthread ? POLICY_WAKE_KTHREAD : 0) |
			 (st.idle_class ? POLICY_WAKE_IDLE_CLASS : 0),
	};
	struct roost_choice ch;

	policy_wakeup(&task, &w, &ch);
	out->cpu = ch.cpu;
	out->target = ch.target;
	out->rule = ch.rule < ROOST_RULE_COUNT ? rule_names[ch.rule] : "?";
	out->target_rule = ch.target_rule < ROOST_TARGET_COUNT ? target_names[ch.target_rule] : "?";
	out->claimed = ch.claimed;
	out->hint = host.llc[host.cpu[ch.target].llc].has_idle_core;
}

/* --- comparing ----------------------------------------------------------------------------------------------------- */

static void show_cpu(int c)
{
	const struct state_cpu *s = &st.cpu[c];
	const struct roost_llc_word *w = host.cpu[c].word < host.machine.nr_words ? &pristine[host.cpu[c].word] : NULL;
	u64 bit = policy_bit(c);

	printf("  cpu %3d core %3d llc %3d dom %d %s%s%s%s%s nr %u/%u cap %u/%u est %u load %llu exit now%+lld bits:%s%s%s%s\n", c,
	       s->core, s->llc, s->domain, s->online ? "" : "offline ", s->affine ? "" : "not-affine ", s->idle ? "idle " : "",
	       s->rt_held ? "rt-held " : "", reference_ok(&st, c) ? "ok" : "-", s->nr_runnable, s->nr_idle_class, s->capacity,
	       s->capacity_max, s->est_sum, (u64)s->load, s->idle_exit_ns ? (s64)(s->idle_exit_ns - st.now_ns) : 0,
	       w && w->idle & bit ? " idle" : "", w && w->sidle & bit ? " sidle" : "", w && w->core & bit ? " core" : "",
	       w && w->grace & bit ? " grace" : "");
}

static void show(const char *what, u32 set, const struct answer *policy, const struct answer *ref)
{
	printf("%s\n  policy:    cpu %d by %s%s, target %d by %s, hint %d\n", what, policy->cpu, policy->rule,
	       policy->claimed ? ", claimed" : "", policy->target, policy->target_rule, policy->hint);
	printf("  reference: cpu %d by %s%s, target %d by %s, hint %d\n", ref->cpu, ref->rule, ref->claimed ? ", claimed" : "",
	       ref->target, ref->target_rule, ref->hint);
	for (int i = 0; i < 2; i++) {
		const struct answer *a = i ? ref : policy;

		if (a->cpu >= 0 && a->cpu < st.nr_cpus)
			printf("  %s choice %d: allowed %d ok %d fits %d core-idle %d\n", i ? "reference's" : "policy's", a->cpu,
			       reference_allowed(&st, a->cpu), reference_ok(&st, a->cpu), reference_fits(&st, a->cpu),
			       reference_core_idle(&st, a->cpu));
	}
	printf("  idle-smt %d idle-grace %llu max-queued %u util-fits %d bias-prev %d\n", st.idle_smt, (u64)st.grace_ns,
	       st.max_queued, st.util_fits, st.bias_prev);
	printf("  prev %d waker %d recent %d sync %d kthread %d idle-class %d util %u flips %u/%u weight %u curr %u now %llu\n",
	       st.prev, st.waker, st.recent, st.sync, st.kthread, st.idle_class, st.task_util, st.waker_flips, st.wakee_flips,
	       st.wakee_load, st.curr_load, (u64)st.now_ns);
	for (int l = 0; l < st.nr_llcs; l++)
		printf("  llc %3d weight %u mean %u depth %u hint %d\n", l, host.llc[l].weight, st.llc[l].mean, host.llc[l].scan_depth,
		       st.llc[l].hint);
	for (int c = 0; c < st.nr_cpus; c++)
		show_cpu(c);
	printf("  again: policy_model --states 1 --seed %llu --set %u --no-bugs\n", (u64)st.seed, set);
}

static bool equal(const struct answer *a, const struct answer *b)
{
	return a->cpu == b->cpu && a->target == b->target && a->claimed == b->claimed && a->hint == b->hint &&
	       !strcmp(a->rule, b->rule) && !strcmp(a->target_rule, b->target_rule);
}

/* What the bitmaps must be like after a decision; NULL, or what is wrong. */
static const char *bad_bits(const struct answer *a)
{
	for (u32 i = 0; i < host.machine.nr_words; i++) {
		const struct roost_llc_word *was = &pristine[i], *is = &host.word[i];
		u64 claimed = a->claimed && host.cpu[a->cpu].word == i ? policy_bit(a->cpu) : 0, lost;

		if (is->idle != (was->idle & ~claimed) || (claimed && !(was->idle & claimed)))
			return "idle bits: not exactly the claimed CPU's was cleared";
		if (is->member != was->member || is->sidle != was->sidle)
			return "bits that a decision has no business with";
		if ((is->core & ~was->core) || (is->grace & ~was->grace))
			return "a decision set a candidate bit";
		for (lost = was->core & ~is->core; lost; lost &= lost - 1) {
			int c = (int)(is->cpu_word * 64 + policy_lowest(lost));

			/* claimed without grace, its core is not idle any more */
			if (st.cpu[c].online && reference_core_idle(&st, c) &&
			    !(a->claimed && !st.grace_ns && st.cpu[c].core == st.cpu[a->cpu].core))
				return "an idle core lost its candidate bit";
		}
		for (lost = was->grace & ~is->grace; lost; lost &= lost - 1) {
			int c = (int)(is->cpu_word * 64 + policy_lowest(lost));

			if (st.cpu[c].online && st.cpu[c].idle_exit_ns && st.now_ns < st.cpu[c].idle_exit_ns + st.grace_ns)
				return "a CPU in its grace lost its candidate bit";
		}
	}
	return NULL;
}

struct tally {
	u64 decided, differ, rule[ROOST_RULE_COUNT], target[ROOST_TARGET_COUNT];
};

static void count(struct tally *t, const struct answer *a)
{
	for (u32 r = 0; r < ROOST_RULE_COUNT; r++)
		t->rule[r] += rule_names[r] == a->rule;
	for (u32 r = 0; r < ROOST_TARGET_COUNT; r++)
		t->target[r] += target_names[r] == a->target_rule;
}

/* The state in st under one set. Quiet: for the search for bugs, where a difference is what is wanted. */
static void decide_one(struct tally *t, u32 set, bool quiet)
{
	struct answer policy, ref;
	u64 grace = st.grace_ns;
	const char *wrong = NULL;

	apply_set(set);
	if (!(set & 2))
		st.grace_ns = 0;
	put_back();
	policy_decide(&policy);
	reference_decide(&st, &ref);
	t->decided++;
	if (!quiet) {
		count(t, &policy);
		wrong = bad_bits(&policy);
		if (!wrong && !reference_allowed(&st, policy.cpu))
			wrong = "a CPU outside allowed was chosen";
	}
	if (!wrong && !equal(&policy, &ref))
		wrong = "the policy and the reference differ";
	if (wrong) {
		t->differ++;
		if (!quiet && t->differ <= 3)
			show(wrong, set, &policy, &ref);
	}
	st.grace_ns = grace;
}

static void run(struct tally *t, u64 states, u64 seed, int set, bool quiet)
{
	for (u64 i = 0; i < states; i++) {
		make_state(seed + i);
		lay_state();
		for (u32 k = 0; k < 16; k++)
			if (set < 0 || (u32)set == k)
				decide_one(t, k, quiet);
		if (quiet && t->differ)
			return;
	}
}

/* --- two at once --------------------------------------------------------------------------------------------------- */

#define RACERS 4
#define RACE_ROUNDS 400
#define RACE_CPUS 128

static pthread_barrier_t start_line;
static struct race {
	pthread_t thread;
	u32 id;
	u64 got[RACE_CPUS / 64];
	u64 twice;
	u64 claims;
} racers[RACERS];

static void *race(void *arg)
{
	struct race *r = arg;

	for (u32 round = 0; round < RACE_ROUNDS; round++) {
		pthread_barrier_wait(&start_line);
		memset(r->got, 0, sizeof(r->got));
		for (u32 i = 0; i < RACE_CPUS; i++) {
			struct policy_wake w = {
				.prev = (s32)((i * 7 + round) % RACE_CPUS), .waker = (s32)((i * 7 + round + (i & 1)) % RACE_CPUS),
				.recent = -1, .wakee_load = 1024, .now_ns = 1,
			};
			struct roost_choice ch;

			policy_wakeup(0, &w, &ch);
			if (ch.claimed) {
				r->claims++;
				if (r->got[ch.cpu / 64] & policy_bit(ch.cpu))
					r->twice++;
				r->got[ch.cpu / 64] |= policy_bit(ch.cpu);
			}
		}
		pthread_barrier_wait(&start_line);
		/* one looks at what all got and lays out the next round */
		if (r->id == 0) {
			u64 seen[RACE_CPUS / 64] = { 0 };

			for (u32 k = 0; k < RACERS; k++)
				for (u32 w = 0; w < RACE_CPUS / 64; w++) {
					if (seen[w] & racers[k].got[w])
						racers[0].twice++;
					seen[w] |= racers[k].got[w];
				}
			for (u32 w = 0; w < RACE_CPUS / 64; w++) {
				/* 4 x 128 wakeups over 128 idle CPUs: none may be left */
				if (host.word[w].idle || seen[w] != ~0ULL)
					racers[0].twice++;
				host.word[w].idle = host.word[w].core = ~0ULL;
			}
			host.llc[0].has_idle_core = 1;
		}
	}
	return NULL;
}

/* 0 = no CPU was ever claimed by two. */
static int run_race(void)
{
	u64 twice = 0, claims = 0;

	host_reset();
	host.machine.nr_cpu_ids = RACE_CPUS;
	host.machine.nr_llcs = 1;
	host.machine.nr_words = RACE_CPUS / 64;
	host.machine.smt = 1;
	host.llc[0] = (struct roost_llc){ .nr_words = RACE_CPUS / 64, .weight = RACE_CPUS, .scan_depth = RACE_CPUS, .smt = 1,
					  .has_idle_core = 1 };
	for (u32 c = 0; c < RACE_CPUS; c++) {
		host.cpu[c] = (struct roost_cpu){ .flags = ROOST_CPU_ONLINE, .nr_siblings = 2, .word = c / 64, .core = c & ~1u,
						  .siblings = { (u16)(c & ~1u), (u16)(c | 1) }, .capacity = 1024,
						  .capacity_max = 1024 };
		host.word[c / 64] = (struct roost_llc_word){ .member = ~0ULL, .idle = ~0ULL, .core = ~0ULL, .cpu_word = c / 64 };
	}
	pthread_barrier_init(&start_line, NULL, RACERS);
	for (u32 k = 0; k < RACERS; k++) {
		racers[k].id = k;
		if (pthread_create(&racers[k].thread, NULL, race, &racers[k]))
			return 1;
	}
	for (u32 k = 0; k < RACERS; k++) {
		pthread_join(racers[k].thread, NULL);
		twice += racers[k].twice;
		claims += racers[k].claims;
	}
	printf("%d threads at once, %d rounds: %llu CPUs claimed, %llu wrongly\n", RACERS, RACE_ROUNDS, claims, twice);
	return twice || claims != (u64)RACE_ROUNDS * RACE_CPUS;
}

/* --- ---------------------------------------------------------------------------------------------------------------- */

static bool number(const char *s, u64 *out)
{
	char *end;

	*out = strtoull(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end;
}

static int usage(void)
{
	fputs("policy_model: [--states N] [--seed S] [--set 0..15] [--no-bugs]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	u64 states = 20000, seed = 1, set = ~0ULL;
	bool bugs = true, failed;
	struct tally t = { 0 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--no-bugs"))
			bugs = false;
		else if (i + 1 >= argc || !number(argv[i + 1], !strcmp(argv[i], "--states") ? &states :
							       !strcmp(argv[i], "--seed") ? &seed : &set) ||
			 (strcmp(argv[i], "--states") && strcmp(argv[i], "--seed") && strcmp(argv[i], "--set")))
			return usage();
		else
			i++;
	}
	host_reset();
	run(&t, states, seed, set < 16 ? (int)set : -1, false);
	printf("%llu states from seed %llu, %llu decisions, %llu wrong\n", states, seed, t.decided, t.differ);
	failed = t.differ != 0;
	for (u32 r = 0; r < ROOST_RULE_COUNT; r++)
		if (t.rule[r])
			printf("  %-16s %10llu\n", rule_names[r], t.rule[r]);
	for (u32 r = 0; r < ROOST_TARGET_COUNT; r++)
		printf("  target %-14s %10llu\n", target_names[r], t.target[r]);
	/* a comparison in which some rule never had its turn proves little */
	if (states >= 1000 && set > 15)
		for (u32 r = ROOST_RULE_NONE + 1; r <= ROOST_RULE_TARGET_LAST; r++)
			if (!t.rule[r]) {
				printf("rule %s never chose\n", rule_names[r]);
				failed = true;
			}
	if (!bugs)
		return failed;
	failed |= run_race() != 0;
	for (reference_bug = 1; reference_bug <= REFERENCE_BUGS; reference_bug++) {
		struct tally b = { 0 };

		host_reset();
		run(&b, 100000, seed, -1, true);
		printf("%-75s %s after %llu decisions\n", reference_bug_name(reference_bug), b.differ ? "found" : "NOT FOUND", b.decided);
		failed |= !b.differ;
	}
	return failed;
}
