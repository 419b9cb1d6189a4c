/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.h - the maps that hold the policy's records, and the part of its environment that finds them.
 * Shared by the scheduler (state.h) and by the decision benchmark, which runs the same policy on a kernel
 * without sched_ext.
 */
#ifndef ROOST_BPF_RECORDS_H
#define ROOST_BPF_RECORDS_H

#include <bpf/bpf_helpers.h>
#include "policy/abi.h"

#define ROOST_ARRAY(name, type_, entries, flags)            \
	struct {                                            \
		__uint(type, BPF_MAP_TYPE_ARRAY);           \
		__uint(map_flags, flags);                   \
		__uint(max_entries, entries);               \
		__type(key, u32);                           \
		__type(value, type_);                       \
	} name SEC(".maps")

ROOST_ARRAY(roost_knobs, struct roost_knobs, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_machine, struct roost_machine, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_control, struct roost_control, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_exit, struct roost_exit, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_cpus, struct roost_cpu, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_llcs, struct roost_llc, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_words, struct roost_llc_word, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_stats, struct roost_stats, 1, BPF_F_MMAPABLE);

#define ROOST_LOOKUP(map, index)                            \
	({                                                  \
		u32 __key = (u32)(index);                   \
		bpf_map_lookup_elem(&(map), &__key);        \
	})

/* Arrays of one entry never miss; the verifier wants to see that said. */
static struct roost_knobs no_knobs;
static struct roost_machine no_machine;

static __always_inline struct roost_knobs *env_knobs(void)
{
	struct roost_knobs *k = ROOST_LOOKUP(roost_knobs, 0);

	return k ? k : &no_knobs;
}

static __always_inline struct roost_machine *env_machine(void)
{
	struct roost_machine *m = ROOST_LOOKUP(roost_machine, 0);

	return m ? m : &no_machine;
}

static __always_inline struct roost_cpu *env_cpu(s32 cpu)
{
	return ROOST_LOOKUP(roost_cpus, cpu);
}

static __always_inline struct roost_llc *env_llc(u32 llc)
{
	return ROOST_LOOKUP(roost_llcs, llc);
}

static __always_inline struct roost_llc_word *env_word(u32 word)
{
	return ROOST_LOOKUP(roost_words, word);
}

#endif
