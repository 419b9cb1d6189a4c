/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds, order, stopping; plan.h. */
#include "measure/plan.h"

#include <errno.h>
#include <time.h>

#include "measure/rng.h"

#define FAILED_ROUNDS_MAX 3	/* in a row, without one run that counts */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int stopped(const struct plan *p)
{
	return p->stop && *p->stop;
}

/* One run of one variant; a negative result ends the comparison. */
static int one_run(const struct plan *p, const struct plan_host *h, struct study *s, struct study_run *r, int counts)
{
	struct study_variant *v = &s->variant[r->variant];
	int rc = h->activate(h->ctx, r->variant, r->note, sizeof(r->note));

	if (stopped(p)) {
		r->outcome = RUN_STOPPED;
		return -ECANCELED;
	}
	if (rc) {
		r->outcome = RUN_NOT_LOADED;
		v->dropped = 1;
		return study_add_run(s, r);
	}
	rc = h->run(h->ctx, r);
	if (rc)
		return rc;
	if (h->ejected(h->ctx, r->variant, r->note, sizeof(r->note))) {
		r->outcome = RUN_EJECTED;
		v->dropped = 1;
	}
	if (stopped(p) && r->outcome == RUN_OK)
		r->outcome = RUN_STOPPED; /* its end may have come from the same Ctrl-C */
	/* A warm-up that goes wrong is worth a row; one that goes well is not. */
	if (counts || r->outcome != RUN_OK)
		rc = study_add_run(s, r);
	return rc ? rc : stopped(p) ? -ECANCELED : 0;
}

static unsigned variants_left(const struct study *s)
{
	unsigned n = 0;

	for (unsigned k = 0; k < s->n_variants; k++)
		n += !s->variant[k].dropped;
	return n;
}

/* Nothing left to learn: the base is gone, or all the others are. */
static int pointless(const struct study *s)
{
	return s->variant[0].dropped || (s->n_variants > 1 && variants_left(s) < 2);
}

static int tight(const struct study *s, double until)
{
	for (unsigned k = 1; k < s->n_variants; k++) {
		struct stat_ratio q;

		if (s->variant[k].dropped)
			continue;
		if (study_compare(s, k, s->primary, &q) || !stat_tight(&q, until))
			return 0;
	}
	return s->n_variants > 1;
}

static int one_round(const struct plan *p, const struct plan_host *h, struct study *s, int round, struct rng *rng,
		     double begin_s, unsigned *counted)
{
	unsigned order[STUDY_VARIANTS_MAX];
	int rc;

	for (unsigned k = 0; k < s->n_variants; k++)
		order[k] = k;
	rng_shuffle(rng, order, s->n_variants);
	for (unsigned k = 0; k < s->n_variants; k++) {
		struct study_run r;

		if (s->variant[order[k]].dropped)
			continue;
		study_run_init(&r);
		r.variant = order[k];
		r.round = round < 0 ? 0 : (unsigned)round;
		r.position = k;
		r.at_s = now_s() - begin_s;
		if (h->progress)
			h->progress(h->ctx, r.variant, round, NULL);
		rc = one_run(p, h, s, &r, round >= 0);
		if (h->progress && rc != -ENOMEM)
			h->progress(h->ctx, r.variant, round, &r);
		if (rc)
			return rc;
		*counted += r.outcome == RUN_OK;
		if (pointless(s))
			return 0;
	}
	return 0;
}

int plan_execute(const struct plan *p, const struct plan_host *h, struct study *s)
{
	struct rng rng = { p->seed };
	double begin_s = now_s();
	unsigned failed_rounds = 0;
	int rc = 0;

	for (int round = -(int)p->warmup; round < (int)p->rounds; round++) {
		unsigned counted = 0;

		if (round >= 0)
			s->rounds = (unsigned)round + 1;
		rc = one_round(p, h, s, round, &rng, begin_s, &counted);
		if (rc || pointless(s))
			break;
		study_settle(s);
		failed_rounds = counted ? 0 : failed_rounds + 1;
		if (failed_rounds == FAILED_ROUNDS_MAX)
			break;
		if (round >= 0 && p->until > 0 && tight(s, p->until))
			break;
	}
	study_settle(s);
	if (rc == -ECANCELED)
		s->partial = 1;
	h->restore(h->ctx);
	return rc;
}
