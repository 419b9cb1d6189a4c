/* SPDX-License-Identifier: GPL-2.0-only */
/* What the guest's helper programs share: time, numbers from the command line, and one way to give up. */
#ifndef ROOST_TESTS_VM_GUEST_H
#define ROOST_TESTS_VM_GUEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A whole number of at least @least, or the end. */
static inline long number(const char *text, long least)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < least) {
		fprintf(stderr, "'%s' is no number of at least %ld\n", text, least);
		exit(2);
	}
	return v;
}

#endif
