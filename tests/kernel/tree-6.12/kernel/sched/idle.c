// SPDX-License-Identifier: GPL-2.0-only
static void do_idle(void)
{

	__current_set_polling();
	while (!need_resched()) {
		local_irq_disable();
		if (cpu_idle_force_poll || tick_check_broadcast_expired()) {
			cpu_idle_poll();
		} else {
			cpuidle_idle_call();
		}
	}
	schedule_idle();
}

static void put_prev_task_idle(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	dl_server_update_idle_time(rq, prev);
}
