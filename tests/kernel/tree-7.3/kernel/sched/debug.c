// SPDX-License-Identifier: GPL-2.0-only
static int sched_feat_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < __SCHED_FEAT_NR; i++) {
		if (!(sysctl_sched_features & (1UL << i)))
			seq_puts(m, "NO_");
		seq_printf(m, "%s ", sched_feat_names[i]);
	}
	return 0;
}

static void sched_feat_one(int i, bool neg)
{
	if (neg)
		sysctl_sched_features &= ~(1UL << i);
	else
		sysctl_sched_features |= (1UL << i);
}

static __init int sched_init_debug(void)
{
	debugfs_sched = debugfs_create_dir("sched", NULL);
	debugfs_create_u32("nr_migrate", 0644, debugfs_sched, &sysctl_sched_nr_migrate);
	return 0;
}
