/* SPDX-License-Identifier: GPL-2.0-only */
/* doctor.c - the checks that read files and ask system calls; see doctor.h. BTF is in doctor_btf.c. */
#include "run/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "run/haltpoll.h"
#include "run/kernel_state.h"

#define SAY(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* ---- reading ---- */

struct doctor_check *doctor_add(struct doctor_report *r, const char *name, enum doctor_state state)
{
	/* the last slot is overwritten rather than overrun: more checks than slots is a bug tests see */
	size_t at = r->nr < DOCTOR_CHECKS_MAX ? r->nr++ : DOCTOR_CHECKS_MAX - 1;
	struct doctor_check *c = &r->check[at];

	memset(c, 0, sizeof(*c));
	c->name = name;
	c->state = state;
	return c;
}

static FILE *open_file(const struct doctor_env *env, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", env->root, path);
	return fopen(full, "re");
}

int doctor_read_line(const struct doctor_env *env, const char *path, char *buf, size_t size)
{
	FILE *f = open_file(env, path);
	int err = 0;

	buf[0] = '\0';
	if (!f)
		return -errno;
	errno = 0;
	if (!fgets(buf, (int)size, f) && errno)
		err = -errno;
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return err;
}

bool doctor_exists(const struct doctor_env *env, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", env->root, path);
	return access(full, F_OK) == 0;
}

/* The value of the first line that starts with key; false when there is none. */
static bool find_line(const struct doctor_env *env, const char *path, const char *key, char *value, size_t size)
{
	FILE *f = open_file(env, path);
	char line[512];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		const char *v = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		while (isspace((unsigned char)*v))
			v++;
		snprintf(value, size, "%s", v);
		value[strcspn(value, "\n")] = '\0';
		found = true;
	}
	fclose(f);
	return found;
}

/* ---- the checks, in the order in which they are shown ---- */

static void check_sched_ext(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c;
	char config[256], value[32];

	if (doctor_exists(env, "/sys/kernel/sched_ext")) {
		c = doctor_add(r, "sched-ext", DOCTOR_OK);
		SAY(c->found, "the kernel has sched_ext (CONFIG_SCHED_CLASS_EXT)");
		return;
	}
	c = doctor_add(r, "sched-ext", DOCTOR_MISSING);
	snprintf(config, sizeof(config), "/boot/config-%s", r->release);
	if (find_line(env, config, "# CONFIG_SCHED_CLASS_EXT", value, sizeof(value)))
		SAY(c->found, "CONFIG_SCHED_CLASS_EXT is not set in this kernel (%s says so)", config);
	else if (atoi(r->release) < 6)
		SAY(c->found, "this kernel is older than sched_ext, which came with Linux 6.12");
	else
		SAY(c->found, "CONFIG_SCHED_CLASS_EXT is not set in this kernel: /sys/kernel/sched_ext is absent");
	SAY(c->todo, "boot a kernel that has it (Debian: linux-image-cloud-amd64 or linux-image-amd64 of "
		     "trixie-backports), or try ./demo, which boots one in a virtual machine");
}

static void check_jit(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c;
	char value[32];
	int err = doctor_read_line(env, "/proc/sys/net/core/bpf_jit_enable", value, sizeof(value));

	if (err == 0 && strcmp(value, "0") == 0) {
		c = doctor_add(r, "bpf-jit", DOCTOR_MISSING);
		SAY(c->found, "the BPF compiler (JIT) is off; loading would fail with error 524");
		SAY(c->todo, "sysctl -w net.core.bpf_jit_enable=1");
	} else if (err == 0) {
		c = doctor_add(r, "bpf-jit", DOCTOR_OK);
		SAY(c->found, "the BPF compiler (JIT) is on");
	} else if (err == -EACCES || err == -EPERM) {
		c = doctor_add(r, "bpf-jit", DOCTOR_NOTE);
		SAY(c->found, "only root may see whether the BPF compiler (JIT) is on");
	} else {
		c = doctor_add(r, "bpf-jit", DOCTOR_NOTE);
		SAY(c->found, "/proc/sys/net/core/bpf_jit_enable is absent: the kernel has no switch for its BPF compiler");
	}
}

static void check_privilege(const struct doctor_env *env, struct doctor_report *r)
{
	static const struct { const char *name; unsigned int bit; } caps[] = {
		{ "CAP_SYS_ADMIN", 21 }, { "CAP_SYS_NICE", 23 }, { "CAP_PERFMON", 38 }, { "CAP_BPF", 39 },
	};
	struct doctor_check *c = doctor_add(r, "privilege", DOCTOR_OK);
	char value[64], lacking[96] = "";
	unsigned long long have;

	if (!find_line(env, "/proc/self/status", "CapEff:", value, sizeof(value))) {
		c->state = DOCTOR_NOTE;
		SAY(c->found, "/proc/self/status does not say what this process may do");
		return;
	}
	have = strtoull(value, NULL, 16);
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		if (!(have >> caps[i].bit & 1))
			snprintf(lacking + strlen(lacking), sizeof(lacking) - strlen(lacking), "%s%s",
				 *lacking ? ", " : "", caps[i].name);
	}
	if (!*lacking) {
		SAY(c->found, "this process may load schedulers");
		return;
	}
	c->state = DOCTOR_BLOCKED;
	SAY(c->found, "this process may not load schedulers: it lacks %s", lacking);
	SAY(c->todo, "run roost as root (sudo roost run), in a container with these capabilities");
}

static void check_lockdown(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c;
	char value[128];

	if (doctor_read_line(env, "/sys/kernel/security/lockdown", value, sizeof(value)) ||
	    !strstr(value, "[confidentiality]")) {
		c = doctor_add(r, "lockdown", DOCTOR_OK);
		SAY(c->found, "%s", strstr(value, "[integrity]") ?
		    "kernel lockdown is at integrity, which roost does not mind" : "kernel lockdown is not in the way");
		return;
	}
	c = doctor_add(r, "lockdown", DOCTOR_WARN);
	SAY(c->found, "kernel lockdown is at confidentiality: BPF programs may be refused, tracing is off");
	SAY(c->todo, "if loading fails, boot with lockdown=integrity or without secure boot");
}

static void check_other_scheduler(const struct doctor_env *env, struct doctor_report *r)
{
	struct roost_kernel_state k;
	struct doctor_check *c;

	roost_kernel_state(env->root, &k);
	if (!k.supported)
		return;     /* said above */
	if (strcmp(k.state, "disabled") == 0) {
		c = doctor_add(r, "other-scheduler", DOCTOR_OK);
		SAY(c->found, "no other sched_ext scheduler is loaded");
	} else if (k.roost) {
		c = doctor_add(r, "other-scheduler", DOCTOR_NOTE);
		SAY(c->found, "roost itself is loaded");
	} else {
		c = doctor_add(r, "other-scheduler", DOCTOR_BLOCKED);
		SAY(c->found, "the scheduler '%s' is loaded (state: %s); only one can be", *k.ops ? k.ops : "(unnamed)", k.state);
		SAY(c->todo, "stop it first: systemctl stop scx.service (or scx_loader.service), or end the program that "
			     "loaded it; echo S > /proc/sysrq-trigger ejects any");
	}
}

static void check_preempt_rt(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c;
	char value[16];

	if (doctor_read_line(env, "/sys/kernel/realtime", value, sizeof(value)) || strcmp(value, "1") != 0) {
		c = doctor_add(r, "preempt-rt", DOCTOR_OK);
		SAY(c->found, "not a PREEMPT_RT kernel");
		return;
	}
	c = doctor_add(r, "preempt-rt", DOCTOR_MISSING);
	SAY(c->found, "this is a PREEMPT_RT kernel, which refuses sched_ext schedulers (error 95)");
	SAY(c->todo, "boot the same version without PREEMPT_RT (Debian: the image without -rt- in its name)");
}

/* Core scheduling: tasks with cookies share cores only with their like, which no sched_ext scheduler honours. */
static void check_core_scheduling(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "core-scheduling", DOCTOR_OK);
	struct dirent *e;
	char path[512];
	DIR *proc;
	int with_cookie = 0;

	if (!env->core_cookie) {
		c->state = DOCTOR_NOTE;
		SAY(c->found, "core-scheduling cookies cannot be seen from here");
		return;
	}
	snprintf(path, sizeof(path), "%s/proc", env->root);
	proc = opendir(path);
	while (proc && (e = readdir(proc)) != NULL) {
		u64 cookie = 0;
		int pid = atoi(e->d_name);

		if (pid > 0 && env->core_cookie(pid, &cookie) == 0 && cookie && !with_cookie)
			with_cookie = pid;
	}
	if (proc)
		closedir(proc);
	if (!with_cookie) {
		SAY(c->found, "no process uses core scheduling");
		return;
	}
	c->state = DOCTOR_BLOCKED;
	SAY(c->found, "core scheduling is in use (process %d has a cookie); a sched_ext scheduler can hang such a "
		      "machine", with_cookie);
	SAY(c->todo, "end what sets the cookies (prctl PR_SCHED_CORE; coresched of util-linux, some container "
		     "runtimes), or switch SMT off");
}

static void check_mounts(const struct doctor_env *env, struct doctor_report *r)
{
	static const struct { const char *name, *dir, *type, *why; } wanted[] = {
		{ "bpffs", "/sys/fs/bpf", "bpf", "roost does not need it, other BPF tools may" },
		{ "debugfs", "/sys/kernel/debug", "debugfs", "roost does not need it; the kernel's own scheduler switches are there" },
	};
	FILE *f;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct doctor_check *c = doctor_add(r, wanted[i].name, DOCTOR_NOTE);
		char line[512], dir[256], type[64];

		f = open_file(env, "/proc/self/mounts");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%*s %255s %63s", dir, type) == 2 && strcmp(dir, wanted[i].dir) == 0 &&
			    strcmp(type, wanted[i].type) == 0)
				c->state = DOCTOR_OK;
		}
		if (f)
			fclose(f);
		if (c->state == DOCTOR_OK) {
			SAY(c->found, "%s is mounted", wanted[i].dir);
			continue;
		}
		SAY(c->found, "%s is not mounted; %s", wanted[i].dir, wanted[i].why);
		SAY(c->todo, "mount -t %s %s %s", wanted[i].type, wanted[i].type, wanted[i].dir);
	}
}

static void check_memlock(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "memlock", DOCTOR_OK);
	char value[96];
	int major = atoi(r->release);

	if (!find_line(env, "/proc/self/limits", "Max locked memory", value, sizeof(value)))
		SAY(value, "%s", "unknown");
	value[strcspn(value, " ")] = '\0';
	if (major >= 6 || major == 0)
		SAY(c->found, "locked-memory limit (%s) does not count for BPF since Linux 5.11", value);
	else if (strcmp(value, "unlimited") == 0)
		SAY(c->found, "locked memory is not limited");
	else {
		c->state = DOCTOR_WARN;
		SAY(c->found, "locked memory is limited to %s", value);
		SAY(c->todo, "ulimit -l unlimited");
	}
}

static void check_cpus(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "cpus", DOCTOR_OK);
	char possible[256], online[256], smt[16], nohz[256];
	const char *last;

	if (doctor_read_line(env, "/sys/devices/system/cpu/possible", possible, sizeof(possible)) ||
	    doctor_read_line(env, "/sys/devices/system/cpu/online", online, sizeof(online))) {
		c->state = DOCTOR_WARN;
		SAY(c->found, "/sys/devices/system/cpu does not say which CPUs there are");
		SAY(c->todo, "mount -t sysfs sysfs /sys");
		return;
	}
	if (doctor_read_line(env, "/sys/devices/system/cpu/smt/active", smt, sizeof(smt)))
		smt[0] = '0';
	SAY(c->found, "online %.80s, possible %.80s, SMT %s", online, possible, smt[0] == '1' ? "on" : "off");
	last = strrchr(possible, '-') > strrchr(possible, ',') ? strrchr(possible, '-') : strrchr(possible, ',');
	if (atoi(last ? last + 1 : possible) >= ROOST_MAX_CPUS) {
		c->state = DOCTOR_MISSING;
		SAY(c->todo, "roost knows CPUs 0 to %d; boot with nr_cpus=%d", ROOST_MAX_CPUS - 1, ROOST_MAX_CPUS);
	}
	if (doctor_read_line(env, "/sys/devices/system/cpu/nohz_full", nohz, sizeof(nohz)) == 0 &&
	    isdigit((unsigned char)nohz[0])) {
		c = doctor_add(r, "nohz-full", DOCTOR_NOTE);
		SAY(c->found, "CPUs %.80s stop their tick (nohz_full); with more than one task there roost keeps it going", nohz);
	}
}

/* idle-spin: what `auto` takes is what `roost run` would, by the same test. */
static void check_idle_spin(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "idle-spin", DOCTOR_OK);
	char driver[64], why[160];

	if (haltpoll_check(env->root, why, sizeof(why)))
		SAY(c->found, "back ends: spinner; not haltpoll (%s); auto takes spinner", why);
	else if (!doctor_read_line(env, "/sys/devices/system/cpu/cpuidle/current_driver", driver, sizeof(driver)))
		SAY(c->found, "back ends: haltpoll, spinner; auto takes haltpoll (driver %s)", driver);
}

static void check_slice_ext(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c = doctor_add(r, "slice-ext", DOCTOR_OK);
	bool kernel = doctor_exists(env, "/sys/kernel/debug/rseq/slice_ext_nsec") ||
		      (env->rseq_slice && env->rseq_slice() == 1);

	if (kernel)
		SAY(c->found, "back ends: the kernel's own (rseq) and roost's; clients take the kernel's");
	else
		SAY(c->found, "back ends: roost's; not the kernel's own (it needs 7.0 with CONFIG_RSEQ_SLICE_EXTENSION)");
}

void doctor_run(const struct doctor_env *env, struct doctor_report *r)
{
	struct doctor_check *c;
	char release[sizeof(r->release)];

	memset(r, 0, sizeof(*r));
	if (doctor_read_line(env, "/proc/sys/kernel/osrelease", release, sizeof(release)) || !*release)
		SAY(release, "%s", "unknown");
	memcpy(r->release, release, sizeof(release));
	c = doctor_add(r, "kernel", DOCTOR_OK);
	SAY(c->found, "Linux %s", release);
	check_sched_ext(env, r);
	check_preempt_rt(env, r);
	doctor_check_btf(env, r);
	check_jit(env, r);
	check_privilege(env, r);
	check_lockdown(env, r);
	check_other_scheduler(env, r);
	check_core_scheduling(env, r);
	check_mounts(env, r);
	check_memlock(env, r);
	check_cpus(env, r);
	doctor_check_cgroups(env, r);
	check_idle_spin(env, r);
	check_slice_ext(env, r);
}

/* ---- this machine ---- */

static int live_core_cookie(int pid, u64 *cookie)
{
	unsigned long value = 0;

	/* PIDTYPE_PID = 0: one thread */
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, pid, 0, &value))
		return -errno;
	*cookie = value;
	return 0;
}

#define PRCTL_RSEQ_SLICE_EXTENSION 79   /* PR_RSEQ_SLICE_EXTENSION of 7.0; Debian 12's headers are older */
#define PRCTL_RSEQ_SLICE_GET 1

static int live_rseq_slice(void)
{
	/* asked of a kernel without it: EINVAL; of one configured without it: EOPNOTSUPP */
	return prctl(PRCTL_RSEQ_SLICE_EXTENSION, PRCTL_RSEQ_SLICE_GET, 0, 0, 0) >= 0 ? 1 : 0;
}

void doctor_env_init(struct doctor_env *env, const char *root)
{
	bool here = !root || !*root || strcmp(root, "/") == 0;

	env->root = here ? "" : root;
	env->core_cookie = here ? live_core_cookie : NULL;
	env->rseq_slice = here ? live_rseq_slice : NULL;
}

/* ---- reading the report ---- */

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[] = {
		[DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_WARN] = "warning",
		[DOCTOR_BLOCKED] = "blocked", [DOCTOR_MISSING] = "missing",
	};

	return names[state];
}

enum doctor_state doctor_worst(const struct doctor_report *r)
{
	enum doctor_state worst = DOCTOR_OK;

	for (size_t i = 0; i < r->nr; i++) {
		if (r->check[i].state > worst)
			worst = r->check[i].state;
	}
	return worst;
}

const struct doctor_check *doctor_first(const struct doctor_report *r, enum doctor_state state)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (r->check[i].state == state)
			return &r->check[i];
	}
	return NULL;
}

const struct doctor_check *doctor_find(const struct doctor_report *r, const char *name)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (strcmp(r->check[i].name, name) == 0)
			return &r->check[i];
	}
	return NULL;
}

/* Errors whose meaning is known even when every check is well. */
static const char *plain_words(int err, bool *missing)
{
	*missing = false;
	switch (err) {
	case 524:
		*missing = true;
		return "the BPF compiler (JIT) refused the program (error 524)";
	case EOPNOTSUPP:
		*missing = true;
		return "this kernel refuses sched_ext schedulers (error 95)";
	case EBUSY:
		return "another scheduler was loaded, or a CPU came or went, at the same moment; try again";
	case EPERM:
	case EACCES:
		return "the kernel did not permit it, though the capabilities are there; a security module may forbid BPF";
	case ENOMEM:
		return "the kernel has no memory for the scheduler's maps";
	case E2BIG:
		*missing = true;
		return "the kernel's verifier found the program too large; roost run -vv shows its words";
	case EINVAL:
		*missing = true;
		return "the kernel's verifier refused the program; roost run -vv shows its words";
	}
	return NULL;
}

void doctor_explain(const struct doctor_env *env, int err, char *text, size_t size, bool *missing)
{
	struct doctor_report *r = malloc(sizeof(*r));
	const struct doctor_check *c = NULL;
	const char *words;

	if (err < 0)
		err = -err;
	if (r) {
		doctor_run(env, r);
		c = doctor_first(r, DOCTOR_MISSING);
		if (!c)
			c = doctor_first(r, DOCTOR_BLOCKED);
	}
	if (c) {
		*missing = c->state == DOCTOR_MISSING;
		snprintf(text, size, "%s%s%s", c->found, *c->todo ? "; " : "", c->todo);
	} else {
		words = plain_words(err, missing);
		snprintf(text, size, "%s", words ? words : strerror(err));
	}
	free(r);
}
