// SPDX-License-Identifier: GPL-2.0-only
// idle-grace: a CPU counts as idle for a while after it left idle (semantics.md section 2), feature IDLE_GRACE.
//
// Applied last: it renames the question "is this CPU idle for enqueuing work?" wherever the fair class asks it, the
// lines of the other features included. idle_cpu() keeps its meaning: the tick, the timers, the deadline servers,
// sched_ext and the balancer's statistics ask whether the CPU idles now. So does sched_core_cookie_match(), for which
// a core that is not really idle would be the wrong answer.

// Placement at fork and exec has no warm cache to wait for, and among idle CPUs asks since when: it keeps the real answer.
@fork@
position p;
expression cpu;
@@
 sched_balance_find_dst_group_cpu(...)
 {
 <+...
 available_idle_cpu@p(cpu)
 ...+>
 }

@users@
expression cpu;
position q != fork.p;
@@
- available_idle_cpu@q(cpu)
+ cpu_counts_as_idle(cpu)

@depends on users@
@@
 #include "stats.h"
+#include "idle_grace.h"

// The time stamp, taken when a CPU stops idling.
@@
identifier rq;
@@
 void put_prev_task_idle(struct rq *rq, ...)
 {
+        idle_grace_stamp(cpu_of(rq));
	...
 }

// What was queued on the strength of the grace stays for as long: the balancer looks for its busiest queue elsewhere.
@@
expression cpu;
identifier rq, rt;
@@
	rq = cpu_rq(cpu);
	rt = fbq_classify_rq(rq);
+
+        /* A CPU that still counts as idle has nothing to give away. */
+        if (cpu_in_idle_grace(cpu))
+                        continue;

// Where the grace begins after that choice. Behind what the balancer notes of affinity: a CPU that gives nothing away for a
// millisecond is not one whose tasks are all pinned. Active balancing may still move what runs.
@@
identifier env;
@@
 int can_migrate_task(struct task_struct *p, struct lb_env *env)
 {
	...
	env->flags &= ~LBF_ALL_PINNED;
+
+        if (cpu_in_idle_grace(env->src_cpu) && !(env->flags & LBF_ACTIVE_LB))
+                return 0;
	...
 }

// Its two numbers, beside the other scheduler knobs.
@@
expression dir;
@@
 debugfs_create_u32("nr_migrate", 0644, dir, ...);
+        debugfs_create_file_unsafe("idle_grace_ns", 0644, dir, NULL, &idle_grace_ns_fops);
+        debugfs_create_file_unsafe("idle_grace_max_queued", 0644, dir, NULL,
+                                   &idle_grace_max_queued_fops);

// The header for idle.c, and the new source beside the file whose directory it fills.
@@
@@
+#include "idle_grace.h"
 #include "idle.c"

@@
@@
 #include "clock.c"
+#include "idle_grace.c"
