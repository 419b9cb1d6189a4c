/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor.h - what roost needs from a kernel, checked one by one, each with what to do when it is missing.
 *
 * `roost doctor` prints the whole report; `roost run` uses it to say in plain words why a load failed.
 * Everything is read from files under a root directory, so that any machine can be described to a test;
 * the few things that only a system call knows come in through struct doctor_env.
 */
#ifndef ROOST_RUN_DOCTOR_H
#define ROOST_RUN_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,        /* worth knowing, in nobody's way */
	DOCTOR_WARN,        /* roost runs, with something missing */
	DOCTOR_BLOCKED,     /* not now: needs root, another scheduler is loaded */
	DOCTOR_MISSING,     /* this kernel cannot */
};

struct doctor_check {
	const char *name;       /* "sched-ext": stable, for JSON and for tests */
	enum doctor_state state;
	char found[320];        /* what was found, one sentence */
	char todo[320];         /* what to do about it; "" when nothing */
};

#define DOCTOR_CHECKS_MAX 32

struct doctor_report {
	char release[128];      /* uname -r */
	size_t nr;
	struct doctor_check check[DOCTOR_CHECKS_MAX];
};

struct doctor_env {
	const char *root;       /* "" or "/" for this machine */
	/* What no file tells; NULL where it cannot be asked (a root that is not this machine). */
	int (*core_cookie)(int pid, u64 *cookie);   /* core scheduling; 0 or -errno */
	int (*rseq_slice)(void);                    /* 1 the kernel has it, 0 it has not, -errno */
};

/* The environment of this machine when root is "" or "/", of files alone otherwise. */
void doctor_env_init(struct doctor_env *env, const char *root);

/* Always completes; what cannot be found out is said in the report. */
void doctor_run(const struct doctor_env *env, struct doctor_report *report);

/* The worst of all checks; and the first check that is that bad, or NULL when all are well. */
enum doctor_state doctor_worst(const struct doctor_report *report);
const struct doctor_check *doctor_first(const struct doctor_report *report, enum doctor_state state);
const struct doctor_check *doctor_find(const struct doctor_report *report, const char *name);
const char *doctor_state_name(enum doctor_state state);

/*
 * Why loading or attaching failed with -err, in one line; *missing = the kernel cannot (exit 3) rather
 * than something in the way (exit 1). The report may be NULL: then it is made here.
 */
void doctor_explain(const struct doctor_env *env, int err, char *text, size_t size, bool *missing);

/* ---- parts, shared by the two files of the doctor ---- */
struct doctor_check *doctor_add(struct doctor_report *r, const char *name, enum doctor_state state);
/* First line of root + path, without newline; 0 or -errno. */
int doctor_read_line(const struct doctor_env *env, const char *path, char *buf, size_t size);
bool doctor_exists(const struct doctor_env *env, const char *path);
void doctor_check_btf(const struct doctor_env *env, struct doctor_report *r);
/* The check "cgroup-cpu" alone; `roost run` says it once. */
void doctor_check_cgroups(const struct doctor_env *env, struct doctor_report *r);

#endif
