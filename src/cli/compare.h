/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of `roost compare`: its variants, and the host that switches them and runs the command. */
#ifndef ROOST_CLI_COMPARE_H
#define ROOST_CLI_COMPARE_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>

#include "measure/meter.h"
#include "measure/plan.h"
#include "measure/study.h"
#include "measure/tree.h"
#include "run/fair.h"
#include "run/knobs.h"

struct compare_variant {
	char name[64];
	bool kernel;			/* roost is not loaded */
	struct fair_settings fair;	/* of the kernel's own scheduler, where it has them (docs/kernel.md) */
	struct roost_knobs knobs;
};

/*
 * "kernel,warm,mine:idle-grace=1ms,util-fits=on": kernel, a profile, or NAME:KEY=VALUE with more KEY=VALUE after it
 * (profile=NAME as the first starts from that profile, else from the defaults). kernel:KEY=VALUE,... is the kernel's own
 * scheduler with features that kernel/apply gave it. 0, or -EINVAL and a line.
 */
int compare_parse_variants(const char *text, struct compare_variant *v, unsigned *n, char *refusal, size_t size);
/* The knobs that differ from their defaults, as a user would type them. */
void compare_knobs_text(const struct roost_knobs *k, char *buf, size_t size);

struct roost_child;

/* Switches variants by starting and ending `roost run`, and runs the command. */
struct compare_host {
	const struct compare_variant *variants;
	char *const *argv;
	u64 limit_ns;
	const struct pattern *patterns;
	unsigned n_patterns, first_pattern_metric;
	const volatile sig_atomic_t *stop;
	bool progress;			/* stderr is a terminal */
	bool keep_output;		/* show what the command prints */
	struct meter *meter;
	const struct study *study;
	unsigned rounds, warmup;

	struct roost_child *child;	/* NULL: roost is not loaded */
	struct fair_settings fair_was;	/* as found, put back between variants and at the end */
	bool fair_known, fair_changed;
	int active;			/* variant; -1 = none yet */
	int run_errno;			/* why the command could not be run at all */
	int cannot;			/* exit code of a roost run that would not load */
};

struct cli;

/* Before the first run: can --report's FILE be written? Nothing is changed. 0, or CLI_MISUSED and the reason said. */
int compare_report_check(const struct cli *cli, const char *path);
/* What was there stays unless all of the new one could be written. 0, or CLI_FAILED and the reason said. */
int compare_report_write(const struct cli *cli, const struct study *s, const char *path);

json_t *compare_json(const struct study *s);

void compare_host_ops(struct compare_host *host, struct plan_host *ops);

#endif
