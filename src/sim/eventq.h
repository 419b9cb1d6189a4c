/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event queue: a 4-ary heap of numbered slots ordered by (time, sequence).
 *
 * Every slot (a CPU's next completion, its tick, its kick, a task's timer) is in the heap at most once and can
 * be moved or taken out, so nothing stale is ever in it and its size is bounded by the number of slots. The
 * sequence number is drawn when a slot is set, so that equal times come out in the order they were set: the
 * order is total, and the same on every machine.
 */
#ifndef ROOST_SIM_EVENTQ_H
#define ROOST_SIM_EVENTQ_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct evq_entry {
	uint64_t time, seq_slot; /* sequence << 24 | slot: one compare for both, slots below 2^24 */
};

#define EVQ_SLOT_BITS 24
#define EVQ_NONE UINT32_MAX

struct evq {
	struct evq_entry *heap;
	uint32_t *pos; /* by slot: index in heap, EVQ_NONE when not set */
	uint32_t nr, nr_slots;
	uint64_t seq;
	uint64_t firing; /* seq_slot of the entry that is being handled; it stays at its place until then */
};

static inline int evq_init(struct evq *q, uint32_t nr_slots)
{
	if (nr_slots >= 1u << EVQ_SLOT_BITS)
		return -E2BIG;
	q->heap = malloc((size_t)nr_slots * sizeof(*q->heap));
	q->pos = malloc((size_t)nr_slots * sizeof(*q->pos));
	if (!q->heap || !q->pos)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_slots; i++)
		q->pos[i] = EVQ_NONE;
	q->nr = 0;
	q->nr_slots = nr_slots;
	q->seq = 0;
	q->firing = UINT64_MAX;
	return 0;
}

static inline void evq_free(struct evq *q)
{
	free(q->heap);
	free(q->pos);
}

static inline bool evq_before(const struct evq_entry *a, const struct evq_entry *b)
{
	return a->time != b->time ? a->time < b->time : a->seq_slot < b->seq_slot;
}

static inline uint32_t evq_slot_of(const struct evq_entry *e)
{
	return (uint32_t)(e->seq_slot & ((1u << EVQ_SLOT_BITS) - 1));
}

static inline void evq_place(struct evq *q, uint32_t i, struct evq_entry e)
{
	q->heap[i] = e;
	q->pos[evq_slot_of(&e)] = i;
}

static inline void evq_up(struct evq *q, uint32_t i, struct evq_entry e)
{
	while (i) {
		uint32_t parent = (i - 1) / 4;

		if (!evq_before(&e, &q->heap[parent]))
			break;
		evq_place(q, i, q->heap[parent]);
		i = parent;
	}
	evq_place(q, i, e);
}

static inline void evq_down(struct evq *q, uint32_t i, struct evq_entry e)
{
	for (;;) {
		uint32_t child = 4 * i + 1, best = child, end = child + 4 < q->nr ? child + 4 : q->nr;

		if (child >= q->nr)
			break;
		for (uint32_t c = child + 1; c < end; c++)
			if (evq_before(&q->heap[c], &q->heap[best]))
				best = c;
		if (!evq_before(&q->heap[best], &e))
			break;
		evq_place(q, i, q->heap[best]);
		i = best;
	}
	evq_place(q, i, e);
}

/* Sets or moves a slot. */
static inline void evq_set(struct evq *q, uint32_t slot, uint64_t time)
{
	struct evq_entry e = { time, q->seq++ << EVQ_SLOT_BITS | slot };
	uint32_t i = q->pos[slot];

	if (i == EVQ_NONE) {
		evq_up(q, q->nr++, e);
		return;
	}
	if (i && evq_before(&e, &q->heap[(i - 1) / 4]))
		evq_up(q, i, e);
	else
		evq_down(q, i, e);
}

static inline void evq_clear(struct evq *q, uint32_t slot)
{
	uint32_t i = q->pos[slot];
	struct evq_entry last;

	if (i == EVQ_NONE)
		return;
	q->pos[slot] = EVQ_NONE;
	last = q->heap[--q->nr];
	if (i == q->nr)
		return;
	if (i && evq_before(&last, &q->heap[(i - 1) / 4]))
		evq_up(q, i, last);
	else
		evq_down(q, i, last);
}

static inline bool evq_is_set(const struct evq *q, uint32_t slot)
{
	return q->pos[slot] != EVQ_NONE && q->heap[q->pos[slot]].seq_slot != q->firing;
}

/*
 * The first entry is handled where it is, and taken out afterwards unless it was set anew: most are, and moving one
 * down from the top costs half of taking it out and putting it in.
 */
static inline uint32_t evq_fire(struct evq *q)
{
	q->firing = q->heap[0].seq_slot;
	return evq_slot_of(&q->heap[0]);
}

static inline void evq_fired(struct evq *q, uint32_t slot)
{
	if (q->pos[slot] != EVQ_NONE && q->heap[q->pos[slot]].seq_slot == q->firing)
		evq_clear(q, slot);
	q->firing = UINT64_MAX;
}

static inline uint64_t evq_time(const struct evq *q, uint32_t slot)
{
	return q->heap[q->pos[slot]].time;
}

#endif
