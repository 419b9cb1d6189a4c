/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The built-in loads: real processes and threads that do what docs/loads.md describes, for people
 * who have no workload of their own at hand.
 *
 * A load is a name, a table of options and a function. The function runs to its end in the calling
 * process, cleans up, and hands back one JSON object. Nothing here prints. Children ask the kernel to be
 * killed when their parent dies, so that no way of ending `roost load` leaves any behind.
 */
#ifndef ROOST_LOAD_LOAD_H
#define ROOST_LOAD_LOAD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct hist;

enum load_opt_kind {
	LOAD_COUNT,	/* uint64_t, a whole number, K/M/G allowed behind it */
	LOAD_SECONDS,	/* uint64_t nanoseconds; a bare number means seconds, as the real tools take it */
	LOAD_MICROS,	/* uint64_t nanoseconds; a bare number means microseconds */
	LOAD_FLAG,	/* uint64_t, 0 or set to .def by being given */
	LOAD_WORD,	/* uint64_t index into .words ("pipe|futex|socket") */
	LOAD_CPU_PAIR,	/* int[2], "A,B" */
};

struct load_opt {
	const char *name;
	char letter;		/* 0: long form only */
	enum load_opt_kind kind;
	size_t offset;		/* into the load's configuration */
	uint64_t min, max, def;	/* in the unit stored */
	const char *words;
	const char *help;
};

struct load {
	const char *name;
	const char *what;
	const struct load_opt *opts;	/* ends with a NULL name */
	size_t conf_size;
	/* 0 and *out, or -errno and a line in @err. */
	int (*run)(const void *conf, json_t **out, char *err, size_t err_len);
};

extern const struct load load_hackbench, load_schbench, load_pingpong, load_lockfight, load_memcache, load_web;
extern const struct load *const load_all[];	/* ends with NULL */

const struct load *load_find(const char *name);
/* Fills @conf (conf_size bytes) from defaults, then argv[1..]. 0, or -EINVAL and a line in @err. */
int load_parse(const struct load *l, int argc, char **argv, void *conf, char *err, size_t err_len);
/* What is typed ("-l, --loop N"; four blanks where there is no letter), and what that means. */
void load_opt_text(const struct load_opt *o, char *typed, size_t typed_len, char *help, size_t help_len);
/* One line a option into @buf; what `roost load NAME --help` shows. */
void load_help(const struct load *l, char *buf, size_t len);

#endif
