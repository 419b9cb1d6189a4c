// SPDX-License-Identifier: GPL-2.0-only
// util-fits: a busy CPU will do if the task fits there with 20 % to spare (semantics.md section 3), feature
// UTIL_FITS_CAPACITY. Or-ed into the tests of target, prev and recently used CPU, never into a scan.

@helper@
identifier a, b, c, d;
type T;
typedef bool;
@@
+/*
+ * Would p fit on @cpu beside the tasks that are runnable there now, with a
+ * fifth of its capacity to spare? Blocked tasks do not count: util_est is the
+ * sum over the enqueued ones only. Without UTIL_EST that sum is not kept.
+ */
+static inline bool wakee_fits_cpu(struct task_struct *p, int cpu)
+{
+        unsigned long util;
+
+        if (!sched_feat(UTIL_FITS_CAPACITY) || !sched_feat(UTIL_EST))
+                return false;
+
+        if (!cpumask_test_cpu(cpu, p->cpus_ptr))
+                return false;
+
+        util = READ_ONCE(cpu_rq(cpu)->cfs.avg.util_est) + task_util_est(p);
+        return fits_capacity(util, capacity_of(cpu));
+}
+
 T asym_fits_cpu(unsigned long a, unsigned long b, unsigned long c, int d)
 { ... }

// The task slept: let its utilisation decay to now before it is compared.
@decay depends on helper@
identifier p;
@@
 int select_idle_sibling(struct task_struct *p, ...)
 {
 ... when any
 lockdep_assert_irqs_disabled();
+
+        if (sched_feat(UTIL_FITS_CAPACITY))
+                sync_entity_load_avg(&p->se);
 ... when any
 }

// 6.16 and later.
@tests depends on helper@
identifier p;
expression cpu;
@@
 int select_idle_sibling(struct task_struct *p, ...)
 {
 <+...
- choose_idle_cpu(cpu, p)
+ (choose_idle_cpu(cpu, p) || wakee_fits_cpu(p, cpu))
 ...+>
 }

// Up to 6.15 the test is an or-ed pair: one more term.
@tests_old depends on helper && !tests@
identifier p;
expression cpu, idle;
@@
 int select_idle_sibling(struct task_struct *p, ...)
 {
 <+...
- (idle || sched_idle_cpu(cpu))
+ (idle || sched_idle_cpu(cpu) ||
+             wakee_fits_cpu(p, cpu))
 ...+>
 }
