/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy's host for tests: its records in plain arrays, a task that is an affinity mask, and scheduling domains by CPU.
 * Include it once in a program; host_reset() makes an empty machine.
 */
#ifndef ROOST_TESTS_POLICY_HOST_H
#define ROOST_TESTS_POLICY_HOST_H

#include <stdbool.h>
#include <string.h>

#include "policy/abi.h"

#define HOST_MAX_CPUS 1024
#define HOST_MAX_WORDS 2048

struct host_task {
	u64 mask[HOST_MAX_CPUS / 64];
};
#define env_task struct host_task

static struct {
	struct roost_knobs knobs;
	struct roost_machine machine;
	struct roost_cpu cpu[HOST_MAX_CPUS];
	struct roost_llc llc[HOST_MAX_CPUS];
	struct roost_llc_word word[HOST_MAX_WORDS];
	u64 domain[HOST_MAX_CPUS];
} host;

#include "policy/env.h"

policy_inline struct roost_knobs *env_knobs(void)
{
	return &host.knobs;
}

policy_inline struct roost_machine *env_machine(void)
{
	return &host.machine;
}

policy_inline struct roost_cpu *env_cpu(s32 cpu)
{
	return (u32)cpu < host.machine.nr_cpu_ids ? &host.cpu[cpu] : 0;
}

policy_inline struct roost_llc *env_llc(u32 llc)
{
	return llc < host.machine.nr_llcs ? &host.llc[llc] : 0;
}

policy_inline struct roost_llc_word *env_word(u32 i)
{
	return i < host.machine.nr_words ? &host.word[i] : 0;
}

policy_inline u64 env_domain(s32 cpu)
{
	return (u32)cpu < host.machine.nr_cpu_ids ? host.domain[cpu] : 0;
}

policy_inline u64 env_allowed_word(env_task *p, u32 cpu_word)
{
	if (!p)
		return ~0ULL;
	return cpu_word < HOST_MAX_CPUS / 64 ? p->mask[cpu_word] : 0;
}

policy_inline bool env_allowed(env_task *p, s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	return c && (c->flags & ROOST_CPU_ONLINE) && (env_allowed_word(p, (u32)cpu / 64) >> (cpu & 63) & 1);
}

#define env_for(i, n) for ((i) = 0; (i) < (n); (i)++)

#include "policy/count.h"
#include "policy/place.h"
#include "policy/steal.h"

static inline void host_reset(void)
{
	memset(&host, 0, sizeof(host));
#define KNOB(field, key, alias, kind, min, max, def, help, origin) host.knobs.field = def;
#include "policy/knobs.def"
#undef KNOB
}

#endif
