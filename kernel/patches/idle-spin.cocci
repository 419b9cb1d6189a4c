// SPDX-License-Identifier: GPL-2.0-only
// idle-spin: busy-wait before a CPU enters its idle state (semantics.md section 5), /sys/kernel/sched/idle_spin.
//
// In do_idle() the polling flag is set, so that a waker need not send an interrupt. The wait stands right before the
// call that ends in the idle state, which looks for work and at the timers once more.

@spin@
expression list args;
@@
 void do_idle(void)
 {
 <+...
-	cpuidle_idle_call(args);
+	if (!idle_spin())
+		cpuidle_idle_call(args);
 ...+>
 }

@@
@@
+#include "idle_spin.c"
 #include "idle.c"
