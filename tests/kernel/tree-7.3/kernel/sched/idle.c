// SPDX-License-Identifier: GPL-2.0-only
static void do_idle(void)
{
	bool got_tick = false;

	__current_set_polling();
	while (!need_resched()) {
		local_irq_disable();
		if (cpu_idle_force_poll || tick_check_broadcast_expired()) {
			cpu_idle_poll();
		} else {
			cpuidle_idle_call(got_tick);
		}
		got_tick = tick_nohz_idle_got_tick();
	}
	schedule_idle();
}

static void put_prev_task_idle(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	update_curr_idle(rq);
}
