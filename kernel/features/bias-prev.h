
/*
 * Take the CPU a task ran on last rather than its waker's, as long as both
 * share a cache.
 */
SCHED_FEAT(SELECT_BIAS_PREV, false)
