// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle spin: busy-wait before a CPU enters its idle state.
 *
 * Leaving an idle state can take longer than the wait for the next wakeup, and
 * in a virtual machine entering one gives the CPU to the hypervisor. While it
 * busy-waits a CPU has its polling flag set, and a waker need not send it an
 * interrupt.
 *
 * /sys/kernel/sched/idle_spin holds how long, in microseconds; 0, the default,
 * is off and costs a patched-out branch.
 */
#include <linux/ctype.h>
#include <linux/kobject.h>
#include <linux/suspend.h>
#include <linux/sysfs.h>

#define IDLE_SPIN_US_MAX	USEC_PER_SEC

static DEFINE_STATIC_KEY_FALSE(idle_spin_key);
static DEFINE_MUTEX(idle_spin_mutex);
static u64 idle_spin_ns __read_mostly;

/*
 * Entered with interrupts disabled. Returns true, with interrupts enabled, if
 * there is work; else false with interrupts disabled, as the idle call that
 * follows wants them: it then looks at need_resched() and computes the next
 * timer event anew, so what handlers did meanwhile is not missed.
 */
static noinline bool __cpuidle __idle_spin(void)
{
	u64 start;

	instrumentation_begin();

	/* Neither injected idle nor suspend-to-idle waits for work. */
	if (current != this_rq()->idle || idle_should_enter_s2idle()) {
		instrumentation_end();
		return false;
	}

	/*
	 * An interrupt out of the idle state leads here with the tick stopped:
	 * timers it armed would wait for the next idle call.
	 */
	tick_nohz_idle_restart_tick();

	trace_cpu_idle(0, smp_processor_id());
	stop_critical_timings();
	start = local_clock();
	ct_cpuidle_enter();

	/* Read the length each time: a change takes effect at once. */
	raw_local_irq_enable();
	while (!tif_need_resched() &&
	       local_clock_noinstr() - start < READ_ONCE(idle_spin_ns))
		cpu_relax();
	raw_local_irq_disable();

	ct_cpuidle_exit();
	start_critical_timings();
	trace_cpu_idle(PWR_EVENT_EXIT, smp_processor_id());

	/* Handlers may have left callbacks that nobody was woken for yet. */
	rcu_nocb_flush_deferred_wakeup();

	if (!need_resched()) {
		instrumentation_end();
		return false;
	}

	local_irq_enable();
	instrumentation_end();
	return true;
}

static inline bool idle_spin(void)
{
	return static_branch_unlikely(&idle_spin_key) && __idle_spin();
}

static ssize_t idle_spin_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  div_u64(READ_ONCE(idle_spin_ns), NSEC_PER_USEC));
}

static ssize_t idle_spin_store(struct kobject *kobj, struct kobj_attribute *attr,
			       const char *buf, size_t count)
{
	unsigned int us;

	if (!isdigit(*buf) || kstrtouint(buf, 10, &us) || us > IDLE_SPIN_US_MAX)
		return -EINVAL;

	mutex_lock(&idle_spin_mutex);
	WRITE_ONCE(idle_spin_ns, us * (u64)NSEC_PER_USEC);
	if (us)
		static_branch_enable(&idle_spin_key);
	else
		static_branch_disable(&idle_spin_key);
	mutex_unlock(&idle_spin_mutex);

	return count;
}

static struct kobj_attribute idle_spin_attr = __ATTR_RW(idle_spin);

static int __init idle_spin_init(void)
{
	struct kobject *dir = kobject_create_and_add("sched", kernel_kobj);
	int err;

	if (!dir)
		return -ENOMEM;

	err = sysfs_create_file(dir, &idle_spin_attr.attr);
	if (err)
		kobject_put(dir);
	return err;
}
late_initcall(idle_spin_init);
