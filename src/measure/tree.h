/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command and counts what it and all its descendants used: time, CPU, migrations, context switches,
 * run delay, instructions and L2 misses where the machine counts them. Whatever the command leaves running when it
 * ends is ended and counted too.
 */
#ifndef ROOST_MEASURE_TREE_H
#define ROOST_MEASURE_TREE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE_OUTPUT_MAX (1u << 20)	/* the end of what the command prints; the rest is dropped */

/* A child of the caller that is not part of the command: left alone, but reaped when it ends meanwhile. */
struct tree_spare {
	pid_t pid;
	int ended, status;
};

struct tree_command {
	char *const *argv;
	uint64_t limit_ns;			/* 0 = none */
	const volatile sig_atomic_t *stop;	/* set from a signal handler: end the command, now */
	int (*alive)(void *ctx);		/* asked ten times a second; nonzero = end the command. May be NULL */
	void *ctx;
	int count_hardware;			/* instructions and L2 misses, too */
	struct tree_spare *spare;		/* may be NULL */
};

/* NaN where something was not counted. */
struct tree_result {
	int status;		/* as of wait(2) */
	int stopped;		/* ended by stop or alive() */
	int timed_out;
	double seconds, user_s, system_s, run_delay_s;
	double switches, migrations, instructions, l2_misses;
	char *output;		/* stdout and stderr as they came, NUL-terminated; free() it */
	size_t output_len;
};

/* 0, or -errno when the command could not be run at all (the errno of exec, -ENOENT say). */
int tree_run(const struct tree_command *cmd, struct tree_result *r);

#endif
