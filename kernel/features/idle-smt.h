
/*
 * Without an idle core, look at the siblings of the previous CPU before the
 * rest of the LLC.
 */
SCHED_FEAT(SELECT_IDLE_SMT, true)
