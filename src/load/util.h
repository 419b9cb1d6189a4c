/* SPDX-License-Identifier: GPL-2.0-only */
/* What several loads need: time, futexes, a common start, fixed amounts of work, the result's JSON. */
#ifndef ROOST_LOAD_UTIL_H
#define ROOST_LOAD_UTIL_H

#include <jansson.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct hist;

static inline uint64_t load_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The futex words of the loads are never shared with a stranger, but may be between processes. */
static inline void load_futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static inline void load_futex_wake(_Atomic uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);
}

static inline void load_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

void load_sleep_ns(uint64_t ns);
void load_sleep_until_ns(uint64_t when_ns);
/* CPUs this process may run on. */
unsigned load_cpus(void);
int load_pin(int cpu);
/* Room for many descriptors; 0 or -errno when even the hard limit is below @want. */
int load_need_files(uint64_t want);
/* A thread with a small stack, so that thousands cost little. 0 or -errno. */
int load_thread(pthread_t *t, void *(*fn)(void *), void *arg);
/* In a child: die with the parent. Returns -1 when it is already gone. */
int load_child_setup(pid_t parent);

/* CPU time, context switches and migrations of this process and its children since the start. */
struct load_cost {
	int fd_migrations;
	uint64_t start_ns;
	double user_s, system_s;
	uint64_t switches;
};

void load_cost_begin(struct load_cost *c);
/* The object every load prints: name, throughput, latency, cost. @lat may be NULL. Closes @c. */
json_t *load_json(const char *name, const char *unit, uint64_t ops, uint64_t elapsed_ns, const struct hist *lat,
		  struct load_cost *c);

#endif
