/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - the kernel functions used, each with the version that has it, and what stands in for it
 * elsewhere. The only file that knows kernel versions.
 *
 * A function that some kernel lacks is declared weak and asked for with bpf_ksym_exists; two such tests
 * are never joined by ||, as the compiler would add the addresses.
 */
#ifndef ROOST_BPF_COMPAT_H
#define ROOST_BPF_COMPAT_H

#include "kernel.h"

/* 6.12 and later */
extern s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;

/* 6.13: these names; 6.12 had them as dispatch, dispatch_vtime, consume and dispatch_from_dsq */
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
extern bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym __weak;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags) __ksym __weak;
extern void scx_bpf_dispatch(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
extern void scx_bpf_dispatch_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
extern bool scx_bpf_consume(u64 dsq_id) __ksym __weak;
extern bool scx_bpf_dispatch_from_dsq(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags) __ksym __weak;

/* 6.14 */
extern u64 scx_bpf_now(void) __ksym __weak;

/* 6.12: from cpu_release only, gone later */
extern u32 scx_bpf_reenqueue_local(void) __ksym __weak;
/* 6.19: from anywhere */
extern void scx_bpf_reenqueue_local___v2(void) __ksym __weak;
/* 6.19: before, the field is written */
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;

/* every CPU's runqueue; in BTF since 5.11 */
extern const struct rq runqueues __ksym __weak;

static __always_inline u64 compat_now(void)
{
	if (bpf_ksym_exists(scx_bpf_now))
		return scx_bpf_now();
	return bpf_ktime_get_ns();
}

static __always_inline void compat_insert(struct task_struct *p, u64 dsq_id, u64 slice_ns, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert))
		scx_bpf_dsq_insert(p, dsq_id, slice_ns, enq_flags);
	else if (bpf_ksym_exists(scx_bpf_dispatch))
		scx_bpf_dispatch(p, dsq_id, slice_ns, enq_flags);
}

static __always_inline void compat_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice_ns, u64 vtime, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert_vtime))
		scx_bpf_dsq_insert_vtime(p, dsq_id, slice_ns, vtime, enq_flags);
	else if (bpf_ksym_exists(scx_bpf_dispatch_vtime))
		scx_bpf_dispatch_vtime(p, dsq_id, slice_ns, vtime, enq_flags);
}

static __always_inline bool compat_move_to_local(u64 dsq_id)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local))
		return scx_bpf_dsq_move_to_local(dsq_id);
	if (bpf_ksym_exists(scx_bpf_consume))
		return scx_bpf_consume(dsq_id);
	return false;
}

static __always_inline bool compat_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move))
		return scx_bpf_dsq_move(it, p, dsq_id, enq_flags);
	if (bpf_ksym_exists(scx_bpf_dispatch_from_dsq))
		return scx_bpf_dispatch_from_dsq(it, p, dsq_id, enq_flags);
	return false;
}

static __always_inline void compat_set_slice(struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice_ns);
	else
		p->scx.slice = slice_ns;
}

static __always_inline const struct rq *compat_rq(s32 cpu)
{
	if (!bpf_ksym_exists(&runqueues))
		return 0;
	return bpf_per_cpu_ptr(&runqueues, (u32)cpu);
}

#endif
