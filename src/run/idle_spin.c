/* SPDX-License-Identifier: GPL-2.0-only */
/* idle_spin.c - see idle_spin.h. */
#include "run/idle_spin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/haltpoll.h"
#include "run/spinner.h"

struct idle_spin {
	const char *root;
	struct roost *roost;
	struct spinner *spinner;
	bool haltpoll;              /* is set */
	u64 window_ns, adapt, backend; /* as last done */
	bool done;
};

int idle_spin_backend(const char *root, const struct roost_knobs *k, char *why, size_t size)
{
	int err;

	if (k->idle_spin_backend == ROOST_BACKEND_SPINNER)
		return ROOST_BACKEND_SPINNER;
	err = haltpoll_check(root, why, size);
	if (!err)
		return ROOST_BACKEND_HALTPOLL;
	return k->idle_spin_backend == ROOST_BACKEND_HALTPOLL ? err : ROOST_BACKEND_SPINNER;
}

struct idle_spin *idle_spin_new(const char *root, struct roost *roost)
{
	struct idle_spin *s = calloc(1, sizeof(*s));

	if (s) {
		s->root = root;
		s->roost = roost;
	}
	return s;
}

static int put_back(struct idle_spin *s, char *text, size_t size)
{
	if (!s->haltpoll)
		return 0;
	s->haltpoll = false;
	return haltpoll_restore(s->root, text, size);
}

static void end_spinner(struct idle_spin *s)
{
	spinner_stop(s->spinner);
	s->spinner = NULL;
}

static int begin_spinner(struct idle_spin *s, char *text, size_t size)
{
	struct roost_view *v = roost_view(s->roost);
	struct spinner_config config = {
		.spins_fd = roost_map_fd(s->roost, "roost_spins"),
		.rings_fd = roost_map_fd(s->roost, "roost_spin_rings"),
		.knobs = v->knobs,
		.cpus = v->cpus,
		.nr_cpus = v->machine->nr_cpu_ids,
		.partial = v->machine->partial,
	};

	return spinner_start(&s->spinner, &config, text, size);
}

int idle_spin_look(struct idle_spin *s, char *text, size_t size)
{
	struct roost_knobs k = *(const struct roost_knobs *)roost_view(s->roost)->knobs;
	int backend = 0, err = 0;

	if (s->done && s->window_ns == k.idle_spin_ns && s->adapt == k.idle_spin_adapt && s->backend == k.idle_spin_backend) {
		if (s->spinner)
			spinner_look(s->spinner);
		return 0;
	}
	s->done = true;
	s->window_ns = k.idle_spin_ns;
	s->adapt = k.idle_spin_adapt;
	s->backend = k.idle_spin_backend;
	if (k.idle_spin_ns) {
		backend = idle_spin_backend(s->root, &k, text, size);
		if (backend < 0)
			err = backend;
	}
	if (backend != ROOST_BACKEND_SPINNER)
		end_spinner(s);
	if (backend != ROOST_BACKEND_HALTPOLL)
		err = put_back(s, text, size) ?: err;
	if (!err && backend == ROOST_BACKEND_SPINNER && !s->spinner)
		err = begin_spinner(s, text, size);
	if (!err && backend == ROOST_BACKEND_HALTPOLL) {
		err = haltpoll_set(s->root, k.idle_spin_ns, k.idle_spin_adapt, text, size);
		s->haltpoll = !err;
	}
	return err;
}

int idle_spin_free(struct idle_spin *s, char *text, size_t size)
{
	int err;

	if (!s)
		return 0;
	end_spinner(s);
	err = put_back(s, text, size);
	free(s);
	return err;
}
