/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wakeup search of the kernel before 5.12, which the published figures of idle-smt were compared with. The target is
 * the policy's; of its steps the tests of target, prev and the recent CPU are the same. Then: a wholly idle core, if the hint
 * says there is one; what was seen idle on the way is not kept. Any idle CPU, as far as idle periods pay for. A sibling of
 * the target. The target.
 */
#include "sim/env_sim.h"

static bool sibling_of_target(struct sim_task *t, const struct policy_wake *w, struct roost_choice *ch)
{
	const struct roost_cpu *c = env_cpu(ch->target);

	for (u32 i = 0; i < c->nr_siblings; i++) {
		s32 cpu = c->siblings[i];

		if (env_allowed(t, cpu) && policy_choose(ch, w, cpu, ROOST_RULE_IDLE_SMT))
			return true;
	}
	return false;
}

void sim_search_before_5_12(struct sim_task *t, const struct policy_wake *w, struct roost_choice *ch)
{
	struct roost_cpu *c, *v = env_cpu(w->prev);
	struct roost_llc *l;

	*ch = (struct roost_choice){ .rule = ROOST_RULE_TARGET_LAST };
	ch->target = ch->cpu = policy_target(t, w, &ch->target_rule);
	c = env_cpu(ch->target);
	l = env_llc(c->llc);
	if (policy_try(ch, w, c, ch->target, ROOST_RULE_TARGET_IDLE, POLICY_STEP_TARGET))
		return;
	if (w->prev != ch->target && policy_shares(v, c) &&
	    policy_try(ch, w, v, w->prev, ROOST_RULE_PREV_IDLE, POLICY_STEP_PREV))
		return;
	if (policy_try_recent(ch, t, w, c, ch->target))
		return;
	if (env_machine()->smt && l->has_idle_core) {
		if (policy_scan_core(ch, t, w))
			return;
		l->has_idle_core = 0;
	}
	if (policy_scan_cpu(ch, t, w, l->scan_depth))
		return;
	if (env_machine()->smt)
		sibling_of_target(t, w, ch);
}
