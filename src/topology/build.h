/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what a source says about each CPU to a struct machine. Inside src/topology only.
 *
 * A source fills one topo_raw a possible CPU: any number that is equal for two CPUs exactly when they share the
 * thing will do as a key. topo_build() nests the groups, numbers them densely and lists their members.
 */
#ifndef ROOST_TOPOLOGY_BUILD_H
#define ROOST_TOPOLOGY_BUILD_H

#include "topology/topology.h"

#define TOPO_KEY_NONE INT64_MIN

struct topo_raw {
	bool possible, present, online;
	uint16_t capacity;
	int64_t core, llc, socket; /* keys */
	int32_t node;              /* the node's number; -1: no NUMA information */
};

/* distances: by node number, nr_numbers x nr_numbers, 0 = not known; may be NULL. */
int topo_build(const struct topo_raw *raw, uint32_t nr_ids, const uint8_t *distances, uint32_t nr_numbers,
	       struct machine **out, struct topo_error *err);

int topo_fail(struct topo_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Bitmaps of CPU ids. */
#define TOPO_MASK_WORDS (TOPO_MAX_CPUS / 64)
struct topo_mask {
	uint64_t w[TOPO_MASK_WORDS];
};
static inline bool topo_mask_test(const struct topo_mask *m, uint32_t i)
{
	return i < TOPO_MAX_CPUS && (m->w[i / 64] >> (i % 64) & 1);
}
static inline void topo_mask_set(struct topo_mask *m, uint32_t i)
{
	m->w[i / 64] |= UINT64_C(1) << (i % 64);
}
/*
 * The kernel's list format, "0-3,8-11\n"; an empty line is an empty set. limit: the first number past the
 * allowed ones. -EINVAL when it is not a list, -ERANGE when a number is past the limit.
 */
int topo_parse_list(const char *text, uint32_t limit, struct topo_mask *out);
/* Only the lowest number of the list, and whether `self` is in it; the whole text is still checked. */
int topo_list_first(const char *text, uint32_t limit, uint32_t self, uint32_t *first, bool *has_self);

/* machine_file.c */
int topo_parse_machine_text(const char *text, const char *where, struct machine **out, struct topo_error *err);

#endif
