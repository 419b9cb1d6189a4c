/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * roost.bpf.c - the kernel's side of roost: sched_ext's callbacks round the policy.
 *
 * The way of a task:
 *   select_cpu   a wakeup or fork: the policy chooses a CPU. If that was truly idle it is claimed, and the
 *                task goes straight to its local queue.
 *   runnable     counted on its CPU (E(c), load, number).
 *   enqueue      everything else: placed by virtual time, queued on the CPU, which it may preempt.
 *   dispatch     the CPU takes its own earliest deadline, else steals what waited too long, nearest first.
 *   running, stopping, quiescent   charged, averaged, counted out.
 *   tick         charges a long run, shares the slice, sends for help when a task waits too long, gives the CPU
 *                to one that waits for ever, and hands one over when this CPU has fallen behind (slow balance).
 *
 * Not here: any choice (src/policy), any kernel version (compat.h).
 */
#include "queue.h"
#include "slice_ext.bpf.h"
#include "cpus.bpf.h"
#include "policy/waithist.h"

char _license[] SEC("license") = "GPL";

/* ---- choosing ---- */

static __always_inline void report(struct task_struct *p, const struct policy_wake *w, const struct roost_choice *ch, u64 now)
{
	struct roost_control *ctl = ROOST_LOOKUP(roost_control, 0);
	struct task_struct *waker;
	struct roost_event *e;

	if (!ctl || POLICY_LIKELY(ctl->explain_until_ns < now))
		return;
	if (ctl->explain_pid && ctl->explain_pid != (u32)p->pid)
		return;
	e = bpf_ringbuf_reserve(&roost_events, sizeof(*e), 0);
	if (!e)
		return;
	waker = bpf_get_current_task_btf();
	e->now_ns = now;
	e->pid = (u32)p->pid;
	e->waker_pid = (u32)waker->pid;
	__builtin_memcpy(e->comm, p->comm, sizeof(e->comm));
	__builtin_memcpy(e->waker_comm, waker->comm, sizeof(e->waker_comm));
	e->waker = w->waker;
	e->prev = w->prev;
	e->target = ch->target;
	e->cpu = ch->cpu;
	e->rule = ch->rule;
	e->target_rule = ch->target_rule;
	e->claimed = ch->claimed;
	e->passed = ch->passed;
	bpf_ringbuf_submit(e, 0);
}

static __always_inline void count_choice(const struct roost_choice *ch, s32 prev, bool wakeup)
{
	struct roost_stats *s = stats_here();
	u32 rule = ch->rule, d = policy_distance(prev, ch->cpu);

	if (!s || rule >= ROOST_RULE_COUNT || d >= ROOST_DIST_COUNT)
		return;
	s->rule[rule]++;
	s->rule_distance[rule][d]++;
	if (ch->claimed)
		s->rule_idle[rule]++;
	if (wakeup) {
		s->nr_wakeups++;
		if (ch->target_rule < ROOST_TARGET_COUNT)
			s->target[ch->target_rule]++;
	}
}

/* The nearest CPU a task may use, for one that may not go back where it was; prev if there is none. */
static __noinline s32 nearest_allowed(struct task_struct *p, s32 prev)
{
	struct roost_cpu *c = env_cpu(prev);
	s32 cpu = -1, llc;

	if (c)
		cpu = policy_lightest_cpu(p, c->llc);
	if (cpu < 0) {
		llc = policy_lightest_llc(p, c ? c->llc : 0);
		if (llc >= 0)
			cpu = policy_lightest_cpu(p, (u32)llc);
	}
	return cpu >= 0 ? cpu : prev;
}

SEC("struct_ops/roost_select_cpu")
s32 BPF_PROG(roost_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct roost_task *t = task_of(p), *wt;
	struct policy_wake w = {};
	struct roost_choice ch = {};
	struct roost_cpu *c, *here;
	u64 now = env_now();
	bool fork = wake_flags & ROOST_FLAG(scx_wake_flags, SCX_WAKE_FORK);

	if (!t || (t->flags & ROOST_TASK_SPINNER))
		return prev_cpu;
	w.now_ns = now;
	w.prev = prev_cpu;
	w.waker = (s32)bpf_get_smp_processor_id();
	here = env_cpu(w.waker);
	if (!here)
		return prev_cpu;
	if (POLICY_UNLIKELY(!env_allowed(p, prev_cpu)))
		w.prev = nearest_allowed(p, prev_cpu);
	if (fork) {
		policy_fork(p, &w, &ch);
	} else {
		wt = task_of(waker);
		if (wt) {
			policy_record_wakee(wt, (u32)p->pid, now);
			w.waker_flips = wt->wakee_flips;
			if (policy_read(here->curr_weight))
				w.curr_load = policy_task_load(wt);
		}
		if (wake_flags & ROOST_FLAG(scx_wake_flags, SCX_WAKE_SYNC))
			w.flags |= POLICY_WAKE_SYNC;
		if ((waker->flags & PF_KTHREAD) && waker->nr_cpus_allowed == 1)
			w.flags |= POLICY_WAKE_KTHREAD;
		if (t->flags & ROOST_TASK_IDLE_CLASS)
			w.flags |= POLICY_WAKE_IDLE_CLASS;
		w.recent = t->recent_cpu;
		w.wakee_flips = t->wakee_flips;
		w.wakee_load = policy_task_load(t);
		if (policy_read(env_knobs()->util_fits)) {
			policy_task_averages(t, now, false);
			w.task_util = policy_util_of(&t->util);
		}
		policy_wakeup(p, &w, &ch);
		policy_depth_update(here->llc, now, 4 * POLICY_DEPTH_INTERVAL_NS);
	}
	count_choice(&ch, prev_cpu, !fork);
	report(p, &w, &ch, now);
	if (ch.claimed) {
		c = env_cpu(ch.cpu);
		if (!c)
			return prev_cpu;
		place(t, c, ch.cpu, now);
		policy_set_deadline(t, 1);
		t->wait_start_ns = now;
		COUNT(nr_kicks_idle);
		compat_insert(p, ROOST_DSQ_LOCAL, t->slice_ns, 0);
	}
	return ch.cpu;
}

/* ---- queueing ---- */

/*
 * The CPU whose queue takes the task: its own, unless it cannot run there and may go elsewhere. From here a
 * task is never put on another CPU's local queue.
 */
static __always_inline s32 queue_cpu_for(struct task_struct *p, struct roost_cpu *c, s32 cpu)
{
	struct roost_choice ch = {};
	s32 other;

	if (POLICY_LIKELY(usable(c)) || !movable(p))
		return cpu;
	other = policy_fetcher(p, cpu);
	if (other >= 0) {
		ch.claimed = 1;
		/* queue_on clears the bit and wakes the CPU: give the claim back for that */
		struct roost_cpu *o = env_cpu(other);
		struct roost_llc_word *w = o ? env_word(o->word) : 0;

		if (w)
			policy_word_set(&w->idle, policy_bit(other));
	} else {
		other = nearest_allowed(p, cpu);
	}
	ch.cpu = other;
	ch.rule = ROOST_RULE_ESCAPE;
	count_choice(&ch, cpu, false);
	return other;
}

SEC("struct_ops/roost_enqueue")
void BPF_PROG(roost_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 cpu = scx_bpf_task_cpu(p), q;
	struct roost_cpu *c = env_cpu(cpu), *d;
	struct roost_task *t = task_of(p);
	struct roost_llc_word *w;
	u64 now = env_now(), bit;
	bool wakeup = enq_flags & ROOST_FLAG(scx_enq_flags, SCX_ENQ_WAKEUP);

	if (!c || !t) {
		compat_insert(p, ROOST_DSQ_LOCAL, 5000000, enq_flags);
		return;
	}
	if (POLICY_UNLIKELY(t->flags & ROOST_TASK_SPINNER)) {
		spin_park(p, cpu, enq_flags);
		return;
	}
	unqueue(t);
	if (enq_flags & ROOST_FLAG(scx_enq_flags, SCX_ENQ_REENQ))
		COUNT(nr_requeued);
	q = queue_cpu_for(p, c, cpu);
	d = env_cpu(q);
	if (!d) {
		d = c;
		q = cpu;
	}
	if (wakeup || t->cpu != q)
		place(t, d, q, now);
	policy_set_deadline(t, policy_read(d->nr_runnable));
	t->flags &= ~ROOST_TASK_YIELDED;
	if (q != cpu) {
		queue_on(p, t, d, q, now, enq_flags);
		return;
	}
	/* the CPU went idle in the meantime, or the task was not asked where to go: no queue needed */
	w = env_word(c->word);
	bit = policy_bit(cpu);
	if (w && (policy_read(w->idle) & bit) && (policy_word_clear(&w->idle, bit) & bit)) {
		t->wait_start_ns = now;
		COUNT(nr_kicks_idle); /* by the kernel itself, which wakes an idle CPU that is given a task */
		compat_insert(p, ROOST_DSQ_LOCAL, t->slice_ns, enq_flags);
		return;
	}
	if (wakeup && policy_preempts(c, t, policy_curr_deadline(c))) {
		if (policy_protected(c, policy_read(c->curr_start_ns), now)) {
			policy_write(c->preempt_due, 1);
			queue_on(p, t, c, cpu, now, enq_flags);
			return;
		}
		COUNT(nr_preempt);
		if (POLICY_UNLIKELY(ext_may_hold(cpu))) {
			/* the CPU decides in dispatch whether its task is in a critical section */
			queue_on(p, t, c, cpu, now, enq_flags);
			COUNT(nr_kicks_preempt);
			scx_bpf_kick_cpu(cpu, ROOST_FLAG(scx_kick_flags, SCX_KICK_PREEMPT));
			return;
		}
		t->wait_start_ns = now;
		compat_insert(p, ROOST_DSQ_LOCAL, t->slice_ns,
			      enq_flags | ROOST_FLAG(scx_enq_flags, SCX_ENQ_PREEMPT) | ROOST_FLAG(scx_enq_flags, SCX_ENQ_HEAD));
		return;
	}
	queue_on(p, t, c, cpu, now, enq_flags);
}

/* The deadline of the first in a CPU's queue is earlier than that of @t. */
static __always_inline bool queue_goes_first(s32 cpu, struct roost_task *t)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	struct roost_task *o;
	bool first = false;

	if (!bpf_iter_scx_dsq_new(&it, (u64)cpu, 0)) {
		p = bpf_iter_scx_dsq_next(&it);
		o = p ? task_of(p) : 0;
		first = o && !policy_before(t->deadline, o->deadline);
	}
	bpf_iter_scx_dsq_destroy(&it);
	return first;
}

/* The running task begins another slice, without leaving the CPU. */
static __always_inline void next_slice(struct task_struct *prev, struct roost_task *t, struct roost_cpu *c, u64 now)
{
	t->flags &= ~ROOST_TASK_YIELDED;
	policy_begin(c, t, now);
	compat_set_slice(prev, t->slice_ns);
}

/*
 * The running task's slice is over and it would go on: it may, if its new deadline is still the earliest. One
 * that yielded goes on only where nobody else wants the CPU.
 */
static __always_inline bool may_continue(struct task_struct *prev, struct roost_cpu *c, s32 cpu, u64 now)
{
	struct roost_task *t = task_of(prev);
	struct roost_stats *s = stats_here();
	u64 ran;

	if (!t || (t->flags & ROOST_TASK_SPINNER))
		return false;
	if ((t->flags & ROOST_TASK_YIELDED) && policy_read(c->nr_queued))
		return false;
	ran = policy_charge(t, now);
	if (s)
		s->run_ns += ran;
	policy_set_deadline(t, policy_read(c->nr_runnable));
	if (policy_read(c->nr_queued) && queue_goes_first(cpu, t))
		return false;
	next_slice(prev, t, c, now);
	return true;
}

static __always_inline bool is_spinner(struct task_struct *p)
{
	struct roost_task *t = task_of(p);

	return t && (t->flags & ROOST_TASK_SPINNER);
}

SEC("struct_ops/roost_dispatch")
void BPF_PROG(roost_dispatch, s32 cpu, struct task_struct *prev)
{
	struct roost_cpu *c = env_cpu(cpu), *v;
	struct roost_llc_word *w;
	const struct rq *rq;
	u64 now = env_now();
	bool goes_on, spins;
	s32 from;
	u32 rule = ROOST_RULE_STEAL_LLC;

	if (!c)
		return;
	if (spin_overdue(cpu))
		return;
	goes_on = prev && (prev->scx.flags & ROOST_SCX_QUEUED);
	spins = goes_on && is_spinner(prev);
	from = c->pull_from;
	if (from >= 0) {
		if (goes_on && ext_hold(prev, cpu))
			return;
		c->pull_from = -1;
		v = env_cpu(from);
		if (v) {
			if (from == cpu)
				rule = ROOST_RULE_OVERDUE;
			else
				rule = policy_read(c->nr_runnable) ? ROOST_RULE_BALANCE : policy_steal_rule(v, c);
			if (pull(cpu, from, rule))
				return;
		}
	}
	if (goes_on && may_continue(prev, c, cpu, now)) {
		ext_turn_over(prev, cpu, false);
		return;
	}
	if (goes_on && ext_hold(prev, cpu))
		return;
	if (compat_move_to_local((u64)cpu)) {
		COUNT(nr_dispatched);
		return;
	}
	if (goes_on && !spins) {
		ext_turn_over(prev, cpu, false);
		return;
	}
	from = policy_victim(c, cpu, now, &rule);
	if (from >= 0 && pull(cpu, from, rule))
		return;
	if (spin_instead(cpu, spins))
		return;
	/*
	 * Nothing to do. Out of idle and back into it there is no update_idle: publish the CPU here, then look
	 * once more for what was queued before its bit was seen.
	 */
	rq = compat_rq(cpu);
	w = env_word(c->word);
	if (prev || !w || (rq && rq->nr_running) || (policy_read(w->idle) & policy_bit(cpu)) || policy_read(c->curr_weight))
		return;
	policy_went_idle(c, cpu, now);
	if (policy_read(c->nr_queued) && !compat_move_to_local((u64)cpu))
		kick_idle(cpu);
}

/* ---- a task's states ---- */

/* Class and weight, of a task that is not queued and not counted. */
static __always_inline void take_attributes(struct roost_task *t, struct task_struct *p)
{
	t->flags &= ~(ROOST_TASK_IDLE_CLASS | ROOST_TASK_BATCH);
	if (p->policy == SCHED_IDLE)
		t->flags |= ROOST_TASK_IDLE_CLASS;
	else if (p->policy == SCHED_BATCH)
		t->flags |= ROOST_TASK_BATCH;
	policy_reweight(t, t->cpu >= 0 ? env_cpu(t->cpu) : 0, policy_weight(p->static_prio - 120, p->policy == SCHED_IDLE), env_now());
}

SEC("struct_ops/roost_runnable")
void BPF_PROG(roost_runnable, struct task_struct *p, u64 enq_flags)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_task *t = task_of(p);
	u64 now;

	if (!c || !t)
		return;
	if (POLICY_UNLIKELY(t->flags & ROOST_TASK_SPINNER)) {
		spin_runnable(t->prev_cpu);
		return;
	}
	now = env_now();
	count_out(t, now);
	policy_count_in(t, c, cpu, now);
	spin_wake(c, cpu);
}

static __noinline int begin_run(struct roost_task *t, struct roost_cpu *c, s32 cpu, u64 now)
{
	struct roost_stats *s = stats_here();
	u64 waited, bucket;

	if (!t || !c)
		return 0;
	unqueue(t);
	if (t->count_cpu != cpu && (t->flags & ROOST_TASK_RUNNABLE)) {
		count_out(t, now);
		policy_count_in(t, c, cpu, now);
	}
	if (t->cpu != cpu) {
		place(t, c, cpu, now);
		policy_set_deadline(t, policy_read(c->nr_runnable));
	}
	if (t->prev_cpu != cpu) {
		t->recent_cpu = t->prev_cpu;
		t->prev_cpu = cpu;
	}
	if (s && t->wait_start_ns) {
		waited = policy_before(t->wait_start_ns, now) ? now - t->wait_start_ns : 0;
		s->wait_ns += waited;
		if (waited > s->wait_max_ns)
			s->wait_max_ns = waited;
		bucket = waithist_bucket(waited);
		asm volatile("" : "+r"(bucket)); /* or the mask, which the verifier wants to see, is optimised away */
		s->wait_hist[bucket & (ROOST_WAIT_BUCKETS - 1)]++;
	}
	policy_task_averages(t, now, false);
	t->wait_start_ns = 0;
	if (s)
		s->nr_switches++;
	c->nr_switches++;
	policy_cpu_busy(c, now, true);
	spin_work(cpu);
	policy_begin(c, t, now);
	return 0;
}

SEC("struct_ops/roost_running")
void BPF_PROG(roost_running, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_task *t = task_of(p);

	if (t && POLICY_UNLIKELY(t->flags & ROOST_TASK_SPINNER)) {
		spin_running(cpu, t->prev_cpu);
		return;
	}
	if (c && t)
		begin_run(t, c, cpu, env_now());
	ext_running(p, cpu);
}

SEC("struct_ops/roost_stopping")
void BPF_PROG(roost_stopping, struct task_struct *p, bool runnable)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_task *t = task_of(p);
	struct roost_stats *s = stats_here();
	u64 now = env_now(), ran;

	if (!c || !t)
		return;
	if (POLICY_UNLIKELY(t->flags & ROOST_TASK_SPINNER)) {
		spin_stopping(cpu, t->prev_cpu, runnable);
		return;
	}
	ext_turn_over(p, cpu, runnable);
	ran = policy_charge(t, now);
	t->run_start_ns = 0;
	policy_task_averages(t, now, true);
	if (!runnable)
		policy_sleep(t, c, now);
	if (s)
		s->run_ns += ran;
	policy_end(c);
}

SEC("struct_ops/roost_quiescent")
void BPF_PROG(roost_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct roost_task *t = task_of(p);

	if (!t || (t->flags & ROOST_TASK_SPINNER))
		return;
	unqueue(t);
	count_out(t, env_now());
	policy_util_hold(&t->util);
	t->wait_start_ns = 0;
}

SEC("struct_ops/roost_yield")
bool BPF_PROG(roost_yield, struct task_struct *from, struct task_struct *to)
{
	struct roost_task *t = task_of(from);

	if (to)
		return false; /* no directed yield */
	if (t && !(t->flags & ROOST_TASK_SPINNER)) {
		t->flags |= ROOST_TASK_YIELDED;
		COUNT(nr_yield);
	}
	compat_set_slice(from, 0);
	return false;
}

/* ---- the tick ---- */

u32 help_look = 4; /* a variable for the same reason as pull_look */

/* A task waits here beyond steal-delay: claim the nearest idle CPU that may run it, and send it here. */
static __noinline int send_for_help(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu), *o;
	struct bpf_iter_scx_dsq it;
	struct roost_task *t;
	struct task_struct *p;
	u64 looked = 0, limit = policy_read(help_look);
	s32 helper = -1;

	if (!c)
		return 0;
	if (!bpf_iter_scx_dsq_new(&it, (u64)cpu, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			if (looked++ >= limit)
				break;
			t = task_of(p);
			if (!t || !movable(p) || !policy_may_steal(c, t->wait_start_ns, now))
				continue;
			helper = policy_fetcher(p, cpu);
			break;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	o = helper >= 0 ? env_cpu(helper) : 0;
	if (o) {
		policy_write(o->pull_from, cpu);
		kick_idle(helper);
	}
	return 0;
}

/* This CPU has more to do than others: hand a task to the one that is furthest ahead. */
static __noinline int hand_over(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu), *o;
	s32 to;

	if (!c)
		return 0;
	to = policy_balance_to(cpu, (u32)(now / policy_max(1, policy_read(env_knobs()->balance_ns))));
	o = to >= 0 ? env_cpu(to) : 0;
	if (o) {
		policy_write(o->pull_from, cpu);
		COUNT(nr_kicks_preempt);
		scx_bpf_kick_cpu(to, ROOST_FLAG(scx_kick_flags, SCX_KICK_PREEMPT));
	}
	return 0;
}

SEC("struct_ops/roost_tick")
void BPF_PROG(roost_tick, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_task *t = task_of(p);
	u64 now = env_now(), balance;
	s32 stranded;
	bool due;

	if (!c || !t)
		return;
	if (POLICY_UNLIKELY(t->flags & ROOST_TASK_SPINNER)) {
		spin_tick(cpu, now);
		return;
	}
	policy_cpu_averages(c, now);
	capacity(c, cpu, now);
	policy_vtime(c, now);
	policy_lead_update(c, false);
	policy_depth_update(c->llc, now, POLICY_DEPTH_INTERVAL_NS);
	balance = policy_read(env_knobs()->balance_ns);
	due = now - c->balance_stamp_ns >= balance;
	if (due) {
		c->balance_stamp_ns = now;
		stranded = policy_stranded(cpu, (u32)(now / policy_max(1, balance)));
		if (stranded >= 0) {
			/* fetch one now: this task is back in the queue for as long */
			policy_write(c->pull_from, stranded);
			compat_set_slice(p, 0);
			return;
		}
	}
	if (POLICY_LIKELY(!policy_read(c->nr_queued)))
		return;
	if (due && POLICY_UNLIKELY(policy_overdue(policy_read(c->oldest_wait_ns), now))) {
		policy_write(c->pull_from, cpu);
		compat_set_slice(p, 0);
	} else if (now - policy_read(c->curr_start_ns) >= policy_slice(policy_read(c->nr_runnable))) {
		compat_set_slice(p, 0);
	} else if (policy_read(c->preempt_due) && !policy_protected(c, policy_read(c->curr_start_ns), now)) {
		COUNT(nr_preempt);
		compat_set_slice(p, 0);
	}
	if (policy_has_stealable(c, now))
		send_for_help(cpu, now);
	if (due)
		hand_over(cpu, now);
}

/* ---- tasks and the scheduler come and go ---- */

SEC("struct_ops.s/roost_init_task")
s32 BPF_PROG(roost_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct roost_task *t;

	t = bpf_task_storage_get(&roost_tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return -12; /* ENOMEM */
	t->pid = (u32)p->pid;
	t->cpu = -1;
	t->count_cpu = -1;
	t->queue_cpu = -1;
	t->prev_cpu = -1;
	t->recent_cpu = -1;
	t->util.avg = ROOST_UTIL_NEW;
	t->runnable_avg = ROOST_UTIL_ONE;
	take_attributes(t, p);
	return 0;
}

SEC("struct_ops/roost_enable")
void BPF_PROG(roost_enable, struct task_struct *p)
{
	struct roost_task *t = task_of(p);

	if (t) {
		t->pid = (u32)p->pid;
		take_attributes(t, p);
	}
}

/* nice, SCHED_BATCH, SCHED_IDLE changed. The task is not queued while that happens. */
SEC("struct_ops/roost_set_weight")
void BPF_PROG(roost_set_weight, struct task_struct *p, u32 weight)
{
	struct roost_task *t = task_of(p);
	struct roost_cpu *c;
	bool counted;

	if (!t)
		return;
	counted = t->flags & ROOST_TASK_RUNNABLE;
	c = env_cpu(t->count_cpu);
	if (counted)
		policy_count_out(t, env_now());
	take_attributes(t, p);
	if (spin_adopt(p, t))
		return;
	if (counted && c)
		policy_count_in(t, c, t->count_cpu, env_now());
}

SEC("struct_ops/roost_exit_task")
void BPF_PROG(roost_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	struct roost_task *t = task_of(p);

	if (!t)
		return;
	unqueue(t);
	policy_count_out(t, env_now());
	spin_gone(p, t);
}

SEC("struct_ops.s/roost_init")
s32 BPF_PROG(roost_init)
{
	struct roost_machine *m = env_machine();
	u32 i;
	s32 err;

	bpf_for(i, 0, m->nr_cpu_ids) {
		err = scx_bpf_create_dsq(i, -1);
		if (err)
			return err;
		err = scx_bpf_create_dsq(SPIN_PARK(i), -1);
		if (err)
			return err;
		err = ext_init_cpu(i);
		if (err)
			return err;
	}
	return 0;
}

SEC("struct_ops/roost_exit_op")
void BPF_PROG(roost_exit_op, struct scx_exit_info *ei)
{
	struct roost_exit *e = ROOST_LOOKUP(roost_exit, 0);

	if (!e)
		return;
	e->kind = (s32)ei->kind;
	e->code = ei->exit_code;
	bpf_probe_read_kernel_str(e->reason, sizeof(e->reason), ei->reason);
	bpf_probe_read_kernel_str(e->msg, sizeof(e->msg), ei->msg);
	e->done = 1;
}

SEC(".struct_ops.link")
struct sched_ext_ops roost_ops = {
	.select_cpu = (void *)roost_select_cpu,
	.enqueue = (void *)roost_enqueue,
	.dispatch = (void *)roost_dispatch,
	.tick = (void *)roost_tick,
	.runnable = (void *)roost_runnable,
	.running = (void *)roost_running,
	.stopping = (void *)roost_stopping,
	.quiescent = (void *)roost_quiescent,
	.yield = (void *)roost_yield,
	.set_weight = (void *)roost_set_weight,
	.update_idle = (void *)roost_update_idle,
	.cpu_acquire = (void *)roost_cpu_acquire,
	.cpu_release = (void *)roost_cpu_release,
	.init_task = (void *)roost_init_task,
	.exit_task = (void *)roost_exit_task,
	.enable = (void *)roost_enable,
	.cpu_online = (void *)roost_cpu_online,
	.cpu_offline = (void *)roost_cpu_offline,
	.init = (void *)roost_init,
	.exit = (void *)roost_exit_op,
	.timeout_ms = 30000,
	.name = "roost",
};
