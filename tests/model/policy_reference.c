/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wakeup path a second time, slow and plain: a list of rules, tried in order, over arrays. Written from the specification
 * (docs/policy.md has its text and the choices made where it is silent), not from src/policy, of which it includes nothing.
 *
 * It also knows how to be wrong in one place at a time (reference_bug): the model test must notice each.
 */
#include "policy_state.h"

#include <stddef.h>

int reference_bug;

static const char *const bug_names[REFERENCE_BUGS + 1] = {
	"none",
	"grace includes its last nanosecond",
	"grace has no bound",
	"the bound of grace is one higher",
	"a SCHED_IDLE wakee goes beside SCHED_IDLE tasks",
	"a CPU held by a higher class counts as running SCHED_IDLE only",
	"fits is not strict",
	"fits leaves out the task's own utilisation",
	"wide by the larger count alone",
	"an idle waker in another LLC is the target",
	"a synchronous wakeup counts the waker's load",
	"no favour in the comparison of loads",
	"bias-prev favours a prev in another LLC",
	"bias-prev keeps step 2",
	"bias-prev (c) left out",
	"step 3 for any number of runnable tasks",
	"recent is not asked for its affinity",
	"recent is not asked for its domain",
	"idle-smt before an idle core",
	"idle-smt takes a sibling of another partition",
	"the scan starts with the target",
	"the scan looks at one CPU more",
	"an idle core found by its online threads in the mask only",
	"the hint stays after a search in vain",
	"idle-smt also when prev is in another LLC",
};

const char *reference_bug_name(int bug)
{
	return bug_names[bug];
}

static bool bug(int which)
{
	return reference_bug == which;
}

/* --- words of the specification ------------------------------------------------------------------------------ */

static bool shares(const struct state *st, int a, int b)
{
	return st->cpu[a].llc != STATE_NO_PLACE && st->cpu[a].llc == st->cpu[b].llc;
}

/* p's domain is the one of the CPU it last ran on. */
bool reference_allowed(const struct state *st, int c)
{
	return st->cpu[c].online && st->cpu[c].affine && st->cpu[c].domain == st->cpu[st->prev].domain;
}

bool reference_idle(const struct state *st, int c)
{
	const struct state_cpu *s = &st->cpu[c];
	uint64_t end = s->idle_exit_ns + st->grace_ns;

	if (s->idle)
		return true;
	if (st->grace_ns == 0 || s->idle_exit_ns == 0)
		return false;
	if (bug(1) ? st->now_ns > end : st->now_ns >= end)
		return false;
	if (st->max_queued == 0 || bug(2))
		return true;
	return s->nr_runnable < st->max_queued + (bug(3) ? 1 : 0);
}

static bool sidle(const struct state *st, int c)
{
	const struct state_cpu *s = &st->cpu[c];

	return s->nr_runnable > 0 && s->nr_runnable == s->nr_idle_class && (!s->rt_held || bug(5));
}

bool reference_ok(const struct state *st, int c)
{
	return reference_idle(st, c) || (sidle(st, c) && (!st->idle_class || bug(4)));
}

bool reference_fits(const struct state *st, int c)
{
	uint64_t used = st->cpu[c].est_sum, left = (uint64_t)st->cpu[c].capacity * 1024;

	if (!bug(7))
		used += st->task_util;
	return bug(6) ? used * 1280 <= left : used * 1280 < left;
}

/* All online threads of its core, allowed or not. */
bool reference_core_idle(const struct state *st, int c)
{
	for (int i = 0; i < st->nr_cpus; i++) {
		if (st->cpu[i].core != st->cpu[c].core || !st->cpu[i].online)
			continue;
		if (bug(22) && !st->cpu[i].affine)
			continue;
		if (!reference_idle(st, i))
			return false;
	}
	return true;
}

static int llc_size(const struct state *st, int llc)
{
	int size = 0;

	for (int i = 0; i < st->nr_cpus; i++)
		size += st->cpu[i].llc == llc && st->cpu[i].online;
	return size;
}

static int llc_depth(const struct state *st, int llc)
{
	uint64_t x = st->llc[llc].mean, y = x * x * 117 * 117 / (10000 * 1024);

	y = 1024 - (y > 1024 ? 1024 : y);
	return (int)(y * (uint64_t)llc_size(st, llc) / 1024);
}

/* --- target -------------------------------------------------------------------------------------------------- */

static bool wide(const struct state *st)
{
	uint64_t s = st->waker_flips, m = st->wakee_flips, f = (uint64_t)llc_size(st, st->cpu[st->waker].llc);

	if (s > m) {
		s = st->wakee_flips;
		m = st->waker_flips;
	}
	return (s >= f || bug(8)) && m >= s * f;
}

static bool waker_lighter(const struct state *st)
{
	const struct state_cpu *w = &st->cpu[st->waker], *v = &st->cpu[st->prev];
	uint64_t here = w->load, there = v->load, pct = 17;

	if (w->core == v->core)
		pct = 10;
	if (bug(11))
		pct = 0;
	if (st->sync && !bug(10)) {
		if (st->curr_load > here)
			return true;
		here -= st->curr_load;
	}
	here += st->wakee_load;
	/* and prev is not blamed for what the wakee left there */
	there = there < st->wakee_load ? 0 : there - st->wakee_load;
	here *= 100;
	here *= v->capacity_max;
	there *= 100 + pct / 2;
	there *= w->capacity_max;
	/* of equals a synchronous wakeup takes the waker's */
	return st->sync ? here <= there : here < there;
}

static int find_target(const struct state *st, const char **why)
{
	int w = st->waker, prev = st->prev;

	*why = "prev-idle";
	if (w == prev)
		return prev;
	*why = "wide";
	if (wide(st) || !reference_allowed(st, w))
		return prev;
	if (reference_idle(st, w) && (shares(st, w, prev) || bug(9))) {
		*why = "prev-idle";
		if (reference_idle(st, prev))
			return prev;
		*why = "waker-idle";
		return w;
	}
	*why = "sync";
	if (st->sync && st->cpu[w].nr_runnable == 1)
		return w;
	*why = "prev-idle";
	if (reference_idle(st, prev))
		return prev;
	*why = "lighter-waker";
	if (waker_lighter(st))
		return w;
	*why = "lighter-prev";
	return prev;
}

/* --- search: each rule returns a CPU, or -1 when it does not apply -------------------------------------------- */

struct at {
	const struct state *st;
	int target;
	bool hint, hint_left;
};

static int ok_or_none(const struct at *a, int c)
{
	return reference_ok(a->st, c) ? c : -1;
}

static int fits_or_none(const struct at *a, int c)
{
	return a->st->util_fits && reference_fits(a->st, c) ? c : -1;
}

static bool prev_near(const struct at *a)
{
	return a->st->prev == a->target || shares(a->st, a->st->prev, a->target);
}

static bool bias_applies(const struct at *a)
{
	return a->st->bias_prev && (prev_near(a) || bug(12));
}

static int bias_prev_idle(struct at *a)
{
	return bias_applies(a) ? ok_or_none(a, a->st->prev) : -1;
}

static int bias_prev_fits(struct at *a)
{
	return bias_applies(a) ? fits_or_none(a, a->st->prev) : -1;
}

static int target_idle(struct at *a)
{
	return ok_or_none(a, a->target);
}

static int target_fits(struct at *a)
{
	return fits_or_none(a, a->target);
}

static bool step_2(const struct at *a)
{
	return (!a->st->bias_prev || bug(13)) && a->st->prev != a->target &&
	       (shares(a->st, a->st->prev, a->target) || (bug(13) && a->st->bias_prev));
}

static int prev_idle(struct at *a)
{
	return step_2(a) ? ok_or_none(a, a->st->prev) : -1;
}

static int prev_fits(struct at *a)
{
	return step_2(a) ? fits_or_none(a, a->st->prev) : -1;
}

static int per_cpu_kthread(struct at *a)
{
	const struct state *st = a->st;

	if (st->kthread && st->prev == st->waker && (st->cpu[st->prev].nr_runnable <= 1 || bug(15)))
		return st->prev;
	return -1;
}

static bool step_4(const struct at *a)
{
	const struct state *st = a->st;
	const struct state_cpu *r;

	if (st->recent < 0 || st->recent == a->target || st->recent == st->prev || !shares(st, st->recent, a->target))
		return false;
	r = &st->cpu[st->recent];
	return r->online && (r->affine || bug(16)) && (r->domain == st->cpu[st->prev].domain || bug(17));
}

static int recent_idle(struct at *a)
{
	return step_4(a) ? ok_or_none(a, a->st->recent) : -1;
}

static int recent_fits(struct at *a)
{
	return step_4(a) ? fits_or_none(a, a->st->recent) : -1;
}

static int idle_smt(struct at *a)
{
	const struct state *st = a->st;

	if (!st->idle_smt || !st->smt || (a->hint && !bug(18)) || (!shares(st, st->prev, a->target) && !bug(24)))
		return -1;
	for (int c = 0; c < st->nr_cpus; c++) {
		if (c == st->prev || st->cpu[c].core != st->cpu[st->prev].core)
			continue;
		if (!reference_allowed(st, c) && !(bug(19) && st->cpu[c].online && st->cpu[c].affine))
			continue;
		if (reference_ok(st, c))
			return c;
	}
	return -1;
}

/* The i-th CPU number from @after on, around the end. */
static int next_cpu(const struct at *a, int i)
{
	return (a->target + i + (bug(20) ? 0 : 1)) % a->st->nr_cpus;
}

static int scan_core(struct at *a)
{
	const struct state *st = a->st;

	if (!a->hint)
		return -1;
	for (int i = 0; i < st->nr_cpus; i++) {
		int c = next_cpu(a, i);

		if (shares(st, c, a->target) && reference_allowed(st, c) && reference_core_idle(st, c))
			return c;
	}
	if (!bug(23))
		a->hint_left = false;
	return -1;
}

static int scan_cpu(struct at *a)
{
	const struct state *st = a->st;
	int depth = llc_depth(st, st->cpu[a->target].llc) + (bug(21) ? 1 : 0), looked = 0;

	for (int i = 0; i < st->nr_cpus; i++) {
		int c = next_cpu(a, i);

		/* a CPU of another partition is looked at, and passed over */
		if (!shares(st, c, a->target) || !st->cpu[c].online || !st->cpu[c].affine)
			continue;
		if (!a->hint && looked++ >= depth)
			return -1;
		if (reference_allowed(st, c) && reference_ok(st, c))
			return c;
	}
	return -1;
}

static int bias_prev_last(struct at *a)
{
	return a->st->bias_prev && prev_near(a) && !bug(14) ? a->st->prev : -1;
}

static int target_last(struct at *a)
{
	return a->target;
}

static const struct {
	const char *name;
	int (*rule)(struct at *a);
	bool by_idle;           /* what it takes is ok: if it is truly idle, it is claimed */
} rules[] = {
	{ "bias-prev-idle", bias_prev_idle, true },
	{ "bias-prev-fits", bias_prev_fits, false },
	{ "target-idle", target_idle, true },
	{ "target-fits", target_fits, false },
	{ "prev-idle", prev_idle, true },
	{ "prev-fits", prev_fits, false },
	{ "per-cpu-kthread", per_cpu_kthread, false },
	{ "recent-idle", recent_idle, true },
	{ "recent-fits", recent_fits, false },
	{ "idle-smt", idle_smt, true },
	{ "scan-core", scan_core, true },
	{ "scan-cpu", scan_cpu, true },
	{ "bias-prev-last", bias_prev_last, false },
	{ "target-last", target_last, false },
};

void reference_decide(const struct state *st, struct answer *out)
{
	struct at a = { .st = st };
	int cpu = -1;

	a.target = find_target(st, &out->target_rule);
	out->target = a.target;
	a.hint = st->smt && st->llc[st->cpu[a.target].llc].hint;
	a.hint_left = st->llc[st->cpu[a.target].llc].hint;
	for (size_t i = 0; cpu < 0; i++) {
		cpu = rules[i].rule(&a);
		out->rule = rules[i].name;
		out->claimed = cpu >= 0 && rules[i].by_idle && st->cpu[cpu].idle;
	}
	out->cpu = cpu;
	out->hint = a.hint_left;
}
