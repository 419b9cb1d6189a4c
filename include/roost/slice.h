/* SPDX-License-Identifier: MIT */
/*
 * roost/slice.h - do not preempt me while I hold the lock.
 *
 * A thread brackets a short critical section with roost_slice_begin() and roost_slice_end(). If its time
 * slice ends inside, or a wakeup would preempt it, the scheduler lets it run on for a moment ("grants an
 * extension"), and roost_slice_end() then gives the CPU up at once. Without contention the pair costs two
 * stores and a load: no system call, no atomic operation.
 *
 *	roost_slice_register();              once a thread; its result need not be looked at
 *	roost_slice_begin();
 *	spin_lock(&l); ... spin_unlock(&l);
 *	roost_slice_end();
 *
 * Two back ends, chosen at run time: the kernel's own (rseq slice extension, Linux 7.0 and later where it
 * is configured) and roost's (a running `roost run`). With neither, or in a thread that is not registered,
 * begin and end do nothing; roost_slice_backend() and roost_slice_why() say so.
 *
 * Nothing here prints or exits. All calls may be made from any thread. A child of fork() starts
 * unregistered. A thread may end while it is registered. Sections do not nest: the inner end ends it.
 */
#ifndef ROOST_SLICE_H
#define ROOST_SLICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum roost_slice_backend {
	ROOST_SLICE_NONE = 0,           /* begin and end do nothing in this thread */
	ROOST_SLICE_KERNEL = 1,         /* the kernel's rseq slice extension */
	ROOST_SLICE_ROOST = 2           /* the running roost */
};

#define ROOST_SLICE_NOT_COUNTED UINT64_MAX

/* What the scheduler did; a section that nobody wanted to interrupt counts nowhere. */
struct roost_slice_stats {
	uint64_t asked;                 /* times it wanted the CPU and found the thread inside a section */
	uint64_t granted;               /* of these, extensions granted */
	uint64_t given_back;            /* of these, ended in time by roost_slice_end() */
	uint64_t expired;               /* of these, run to their end: preempted inside the section */
	uint64_t preempted;             /* times the thread lost the CPU inside a section, for any reason */
};

/*
 * Registers the calling thread, choosing the back end. 0, also when it was registered before; else a
 * negative errno, and begin and end do nothing. May block for up to a second in the first thread.
 */
int roost_slice_register(void);

/*
 * Registers the process: each thread is then registered by its own first roost_slice_begin(). Returns
 * what roost_slice_register() returned for the calling thread.
 */
int roost_slice_register_process(void);

/* Ends the calling thread's registration. 0, or -ENOENT when there was none. Not inside a section. */
int roost_slice_unregister(void);

/*
 * The most threads of this process that can be registered with roost at one time: 64 to 4096, rounded up
 * to a power of two; 256 unless set. Before the first registration: -EBUSY after it, -EINVAL out of range.
 */
int roost_slice_set_max_threads(unsigned int nr_threads);

/* The back end that the calling thread uses; ROOST_SLICE_NONE when it is not registered. */
enum roost_slice_backend roost_slice_backend(void);

/*
 * Writes one line that says which back end is in use and why not another. At most size bytes, the ending
 * zero included; returns its whole length, as snprintf() does.
 */
int roost_slice_why(char *buf, size_t size);

/* Fills in the statistics of the calling thread, or of the whole process. 0 or a negative errno. */
int roost_slice_thread_stats(struct roost_slice_stats *stats);
int roost_slice_process_stats(struct roost_slice_stats *stats);

/* The rest is the inside of begin and end, which must be inline to cost nothing. */

struct roost_slice_ctrl_ {
	unsigned char request;          /* written by the thread */
	unsigned char granted;          /* 1: granted, 2: granted and run to its end; written by the scheduler */
};

extern __thread struct roost_slice_ctrl_ *roost_slice_self_ __attribute__((tls_model("initial-exec")));
extern int roost_slice_auto_;
void roost_slice_enter_(void);
int roost_slice_leave_(void);

/* Nothing between them is moved by the compiler; an interrupt on this CPU sees the stores in order. */
#define ROOST_SLICE_BARRIER_() __asm__ __volatile__("" ::: "memory")

/* The model in tests/model looks on between any two accesses. */
#ifndef ROOST_SLICE_POINT_
#define ROOST_SLICE_POINT_(where) ((void)0)
#endif

/* Enters a section. */
static inline void roost_slice_begin(void)
{
	struct roost_slice_ctrl_ *self = roost_slice_self_;

	ROOST_SLICE_POINT_("begin: before the request");
	if (__builtin_expect(self != NULL, 1))
		*(volatile unsigned char *)&self->request = 1;
	else if (__builtin_expect(roost_slice_auto_, 0))
		roost_slice_enter_();
	ROOST_SLICE_POINT_("begin: after the request");
	ROOST_SLICE_BARRIER_();
}

/* Leaves it. Gives the CPU up when an extension was granted, and only then: 1 when it did, else 0. */
static inline int roost_slice_end(void)
{
	struct roost_slice_ctrl_ *self = roost_slice_self_;

	ROOST_SLICE_BARRIER_();
	if (__builtin_expect(self == NULL, 0))
		return 0;
	ROOST_SLICE_POINT_("end: before the request is withdrawn");
	*(volatile unsigned char *)&self->request = 0;
	ROOST_SLICE_POINT_("end: before the grant is read");
	ROOST_SLICE_BARRIER_();
	if (__builtin_expect(*(volatile unsigned char *)&self->granted, 0))
		return roost_slice_leave_();
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
