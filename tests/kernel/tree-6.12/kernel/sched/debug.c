// SPDX-License-Identifier: GPL-2.0-only
static __init int sched_init_debug(void)
{
	debugfs_sched = debugfs_create_dir("sched", NULL);
	debugfs_create_u32("nr_migrate", 0644, debugfs_sched, &sysctl_sched_nr_migrate);
	return 0;
}
