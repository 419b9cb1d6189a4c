/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What entering and leaving a section costs when nobody contends, natively, beside a pthread mutex and a spin
 * lock. Each variant runs in turn, many rounds; the table gives the median of the rounds and the spread of the
 * middle half. The loop itself is measured too and taken off.
 *
 * The registered rows use a map of plain memory behind a server of its own: no scheduler is needed for the
 * path on which nothing is granted. The "granted" row sets the grant byte by hand each time: the cost of
 * learning of a grant and of sched_yield() with nobody to yield to.
 */
#include "roost/slice.h"
#include "run/slice_server.h"
#include "slice/slot.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOOPS 1000000
#define ROUNDS 41

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static volatile unsigned long counter;

static void nothing(void)
{
	for (int i = 0; i < LOOPS; i++)
		counter++;
}

static void section(void)
{
	for (int i = 0; i < LOOPS; i++) {
		roost_slice_begin();
		counter++;
		roost_slice_end();
	}
}

static void granted(void)
{
	for (int i = 0; i < LOOPS / 20; i++) {
		roost_slice_begin();
		counter++;
		roost_slice_self_->granted = ROOST_SLICE_GRANTED;
		roost_slice_end();
	}
}

static void with_mutex(void)
{
	for (int i = 0; i < LOOPS; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
}

static void with_spin(void)
{
	for (int i = 0; i < LOOPS; i++) {
		pthread_spin_lock(&spin);
		counter++;
		pthread_spin_unlock(&spin);
	}
}

static double once(void (*f)(void), int loops)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	f();
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / loops;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int create(void *ctx, unsigned int nr)
{
	int fd = memfd_create("slots", MFD_CLOEXEC);

	return fd < 0 || ftruncate(fd, nr * 64) ? -ENOMEM : fd;
}

static int publish(void *ctx, pid_t tgid, int fd)
{
	return 0;
}

static void withdraw(void *ctx, pid_t tgid)
{
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
		int loops, registered;
	} variants[] = {
		{ "an empty loop", nothing, LOOPS, 0 },
		{ "begin + end, not registered", section, LOOPS, 0 },
		{ "begin + end, registered", section, LOOPS, 1 },
		{ "begin + end, a grant each time", granted, LOOPS / 20, 1 },
		{ "pthread_spin_lock + unlock", with_spin, LOOPS, 0 },
		{ "pthread_mutex_lock + unlock", with_mutex, LOOPS, 0 },
	};
	enum { NR = sizeof(variants) / sizeof(variants[0]) };
	static double got[NR][ROUNDS];
	char dir[] = "/tmp/roost-cost-XXXXXX", path[64], error[256];
	const struct slice_server_ops ops = { create, publish, withdraw };
	struct slice_server_config config = { .path = path, .mode = 0600, .group = (gid_t)-1, .max_total = 1,
					      .max_per_user = 1 };
	struct slice_server *server;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/slice.sock", dir);
	setenv("ROOST_SLICE_SOCKET", path, 1);
	setenv("ROOST_SLICE", "roost", 1);
	if (slice_server_start(&server, &config, &ops, NULL, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (int round = 0; round < ROUNDS; round++) {
		for (int v = 0; v < NR; v++) {
			if (variants[v].registered ? roost_slice_register() : (roost_slice_unregister(), 0))
				return 1;
			got[v][round] = once(variants[v].run, variants[v].loops);
		}
	}
	roost_slice_unregister();
	slice_server_stop(server);
	rmdir(dir);
	for (int v = 0; v < NR; v++)
		qsort(got[v], ROUNDS, sizeof(double), by_value);
	printf("| what | ns, less the loop | middle half |\n|---|---|---|\n");
	for (int v = 0; v < NR; v++)
		printf("| %s | %.2f | %.2f..%.2f |\n", variants[v].name,
		       v ? got[v][ROUNDS / 2] - got[0][ROUNDS / 2] : got[0][ROUNDS / 2],
		       got[v][ROUNDS / 4] - (v ? got[0][ROUNDS / 2] : 0), got[v][ROUNDS * 3 / 4] - (v ? got[0][ROUNDS / 2] : 0));
	return 0;
}
