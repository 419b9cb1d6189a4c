/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of a comparison: rounds, in each of which every variant runs once, in an order drawn anew; when to
 * stop; what to do when a run fails or a scheduler is ejected. Schedulers are switched and the command is run
 * through plan_host, which the program implements with the real thing and the tests with a fake.
 */
#ifndef ROOST_MEASURE_PLAN_H
#define ROOST_MEASURE_PLAN_H

#include <signal.h>

#include "measure/study.h"

struct plan {
	unsigned rounds;		/* at most, STAT_ROUNDS_MAX being the limit */
	double until;			/* 0.03: stop once every ratio's interval is within 3 %; 0 = run all rounds */
	unsigned warmup;		/* rounds before, that are not counted */
	u64 seed;
	const volatile sig_atomic_t *stop;
};

struct plan_host {
	void *ctx;
	/* Makes a variant the running scheduler. 0, or -errno and why (one line). */
	int (*activate)(void *ctx, unsigned variant, char *why, size_t why_len);
	/*
	 * Runs the command once and fills values, note and outcome (RUN_OK or RUN_FAILED or RUN_STOPPED). Nonzero when it
	 * cannot be run at all: the comparison ends with that.
	 */
	int (*run)(void *ctx, struct study_run *r);
	/* After a run: 1 and why when the scheduler did not survive it. */
	int (*ejected)(void *ctx, unsigned variant, char *why, size_t why_len);
	/* Back to what was there before; called once, on every way out. */
	void (*restore)(void *ctx);
	/* For the user's eyes; may be NULL. @r is NULL before a run. */
	void (*progress)(void *ctx, unsigned variant, int round, const struct study_run *r);
};

/* 0; -ECANCELED after @stop (the study is marked partial); what run() returned. */
int plan_execute(const struct plan *p, const struct plan_host *h, struct study *s);

#endif
