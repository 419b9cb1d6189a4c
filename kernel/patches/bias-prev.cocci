// SPDX-License-Identifier: GPL-2.0-only
// bias-prev: prefer the previous CPU to the waker's (semantics.md section 4), feature SELECT_BIAS_PREV.
//
// Applied before util-fits, whose rule then or-s "or the task fits there" into the test of (a) as into the others.
// What it leaves alone: a prev in another LLC, and select_idle_capacity() on machines of unequal CPUs.

// (a) prev before anything else, (b) then its own step is not tried a second time.
// 6.16 and later: the test of one CPU is a function.
@early@
identifier p, prev, target, tu, lo, hi;
@@
 int select_idle_sibling(struct task_struct *p, int prev, int target)
 {
 ... when any
 lockdep_assert_irqs_disabled();
+
+        /*
+         * The CPU that p ran on last is taken even before the target of an
+         * affine wakeup, as long as both share a cache.
+         */
+        if (sched_feat(SELECT_BIAS_PREV) &&
+            (prev == target || cpus_share_cache(prev, target)) &&
+            choose_idle_cpu(prev, p) &&
+            cpumask_test_cpu(prev, p->cpus_ptr) &&
+            asym_fits_cpu(tu, lo, hi, prev))
+                return prev;
 if (choose_idle_cpu(target, p) && asym_fits_cpu(tu, lo, hi, target))
	return target;
- if (prev != target && cpus_share_cache(prev, target) &&
-     choose_idle_cpu(prev, p) && asym_fits_cpu(tu, lo, hi, prev))
+ if (!sched_feat(SELECT_BIAS_PREV) &&
+            prev != target && cpus_share_cache(prev, target) &&
+            choose_idle_cpu(prev, p) &&
+            asym_fits_cpu(tu, lo, hi, prev))
 { ... }
 ... when any
 }

// Up to 6.15 the test is spelled out (and does not look at the wakee's own policy).
@early_old@
identifier p, prev, target, tu, lo, hi;
@@
 int select_idle_sibling(struct task_struct *p, int prev, int target)
 {
 ... when any
 lockdep_assert_irqs_disabled();
+
+        /*
+         * The CPU that p ran on last is taken even before the target of an
+         * affine wakeup, as long as both share a cache.
+         */
+        if (sched_feat(SELECT_BIAS_PREV) &&
+            (prev == target || cpus_share_cache(prev, target)) &&
+            (available_idle_cpu(prev) || sched_idle_cpu(prev)) &&
+            cpumask_test_cpu(prev, p->cpus_ptr) &&
+            asym_fits_cpu(tu, lo, hi, prev))
+                return prev;
 if ((available_idle_cpu(target) || sched_idle_cpu(target)) && asym_fits_cpu(tu, lo, hi, target))
	return target;
- if (prev != target && cpus_share_cache(prev, target) &&
-     (available_idle_cpu(prev) || sched_idle_cpu(prev)) && asym_fits_cpu(tu, lo, hi, prev))
+ if (!sched_feat(SELECT_BIAS_PREV) &&
+            prev != target && cpus_share_cache(prev, target) &&
+            (available_idle_cpu(prev) || sched_idle_cpu(prev)) &&
+            asym_fits_cpu(tu, lo, hi, prev))
 { ... }
 ... when any
 }

// (c) nothing idle anywhere: prev rather than target, if the cache is the same.
@last@
identifier p, prev, target, recent;
@@
 int select_idle_sibling(struct task_struct *p, int prev, int target)
 {
 ... when any
 if ((unsigned int)recent < nr_cpumask_bits)
	return recent;
+
+        /* Nothing is idle: waiting where the cache is warm costs least. */
+        if (sched_feat(SELECT_BIAS_PREV) &&
+            prev != target && cpus_share_cache(prev, target) &&
+            cpumask_test_cpu(prev, p->cpus_ptr))
+                return prev;
 return target;
 }
