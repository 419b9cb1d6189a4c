/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many runs at once: each in a process of its own, as many side by side as asked for. Results come back in the order of
 * the runs, so that what is printed does not depend on the number of jobs. A run that crashes takes only itself along.
 */
#ifndef ROOST_SIM_BATCH_H
#define ROOST_SIM_BATCH_H

#include "sim/sim.h"

struct sim_outcome {
	int ret; /* of sim_run; -EINTR: not run (an earlier one failed), -ECHILD: the process died */
	volatile uint64_t progress; /* events so far */
	struct sim_figures f;
	struct sim_error err;
};

/*
 * outcomes: nr of them, freed with sim_batch_free(). tick is called about four times a second with the number of runs
 * done and the events counted so far; may be NULL. 0, or a negative errno when the batch as such could not run.
 */
int sim_batch(const struct sim_config *configs, unsigned int nr, unsigned int jobs,
	      void (*tick)(unsigned int done, unsigned int nr, uint64_t events, void *arg), void *arg,
	      struct sim_outcome **outcomes);
void sim_batch_free(struct sim_outcome *outcomes, unsigned int nr);

#endif
