
/*
 * Wake a task on a busy target, previous or recently used CPU if its
 * utilization fits beside what is runnable there.
 */
SCHED_FEAT(UTIL_FITS_CAPACITY, false)
