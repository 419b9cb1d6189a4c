
/*
 * For wakeups, count a CPU as idle for idle_grace_ns after it left idle.
 */
SCHED_FEAT(IDLE_GRACE, false)
