// SPDX-License-Identifier: GPL-2.0-only
// idle-smt: a switch for the step mainline has had since 5.13 (semantics.md section 1), feature SELECT_IDLE_SMT, on by
// default as in mainline. Off is the kernel between select_idle_smt()'s removal and its return.

@@
identifier hint;
expression prev, target;
@@
- if (!hint && cpus_share_cache(prev, target))
+ if (sched_feat(SELECT_IDLE_SMT) &&
+                    !hint && cpus_share_cache(prev, target))
 {
	<+...
	select_idle_smt(...)
	...+>
 }
