/* SPDX-License-Identifier: MIT */
/*
 * shim.c - libroost-spin.so: puts the sections of roost/slice.h round the spin locks of a program that
 * knows nothing of them.
 *
 *	LD_PRELOAD=libroost-spin.so CMD
 *
 * pthread_spin_lock() begins a section before it takes the lock, pthread_spin_unlock() ends it after the
 * lock is free. Sections do not nest, locks do: only the outermost counts. While a thread waits for a lock
 * it asks for nothing; more time to spin would be wasted.
 *
 * What a lock's value means is the C library's business: taking and releasing are left to its own functions.
 */
#include "roost/slice.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static int (*real_lock)(pthread_spinlock_t *);
static int (*real_trylock)(pthread_spinlock_t *);
static int (*real_unlock)(pthread_spinlock_t *);

static __thread unsigned int depth;

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

static void *find(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	/* Without the C library's own there is nothing right that could be done. */
	if (!symbol)
		abort();
	return symbol;
}

/* A constructor of the program may lock before ours has run. */
static void resolve(void)
{
	real_trylock = (int (*)(pthread_spinlock_t *))find("pthread_spin_trylock");
	real_unlock = (int (*)(pthread_spinlock_t *))find("pthread_spin_unlock");
	__atomic_store_n(&real_lock, (int (*)(pthread_spinlock_t *))find("pthread_spin_lock"), __ATOMIC_RELEASE);
}

static void __attribute__((constructor)) start(void)
{
	if (!__atomic_load_n(&real_lock, __ATOMIC_ACQUIRE))
		resolve();
	roost_slice_register_process();
}

static void enter(void)
{
	if (!depth++)
		roost_slice_begin();
}

static void leave(void)
{
	if (depth && !--depth)
		roost_slice_end();
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int rc;

	if (!__atomic_load_n(&real_lock, __ATOMIC_ACQUIRE))
		resolve();
	enter();
	rc = real_trylock(lock);
	if (rc)
		leave();
	return rc;
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	/* The first try inside a section: it is usually free. Then wait outside of one, and try again. */
	while (pthread_spin_trylock(lock)) {
		const volatile int *word = (const volatile int *)lock;
		int taken = *word;

		/* A look at a plain int, whatever it means: try again when it moves, or after a while. */
		for (unsigned int i = 0; i < 1000 && *word == taken; i++)
			pause_cpu();
	}
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int rc;

	if (!__atomic_load_n(&real_lock, __ATOMIC_ACQUIRE))
		resolve();
	rc = real_unlock(lock);
	leave();
	return rc;
}
