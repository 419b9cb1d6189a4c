// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle grace: its numbers and their debugfs files. See idle_grace.h.
 */
#include "idle_grace.h"

u64 sysctl_sched_idle_grace_ns __read_mostly = NSEC_PER_MSEC;
unsigned int sysctl_sched_idle_grace_max_queued __read_mostly;

DEFINE_PER_CPU_SHARED_ALIGNED(u64, idle_exit_ns);

static int idle_grace_ns_get(void *data, u64 *val)
{
	*val = sysctl_sched_idle_grace_ns;
	return 0;
}

static int idle_grace_ns_set(void *data, u64 val)
{
	if (val > IDLE_GRACE_NS_MAX)
		return -EINVAL;

	WRITE_ONCE(sysctl_sched_idle_grace_ns, val);
	return 0;
}

static int idle_grace_max_queued_get(void *data, u64 *val)
{
	*val = sysctl_sched_idle_grace_max_queued;
	return 0;
}

static int idle_grace_max_queued_set(void *data, u64 val)
{
	if (val > IDLE_GRACE_QUEUED_MAX)
		return -EINVAL;

	WRITE_ONCE(sysctl_sched_idle_grace_max_queued, val);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(idle_grace_ns_fops, idle_grace_ns_get,
			 idle_grace_ns_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(idle_grace_max_queued_fops, idle_grace_max_queued_get,
			 idle_grace_max_queued_set, "%llu\n");
