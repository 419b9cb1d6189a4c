/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of a command; tree.h says what is counted.
 *
 * No cgroup is made for it: a group of its own would change how the kernel's fair class schedules the command, and
 * only in one of the variants. Instead this process becomes the parent of every orphan (PR_SET_CHILD_SUBREAPER) and
 * waits for all of them, so that the CPU time wait4 gives is the whole tree's.
 */
#include "measure/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/perf.h"
#include "measure/rundelay.h"

#define NS 1000000000ull
#define ALIVE_EVERY_MS 100
#define TERM_PATIENCE_NS (2 * NS)	/* from SIGTERM to SIGKILL */

struct run {
	const struct tree_command *cmd;
	struct tree_result *r;
	pid_t pid;
	int out_fd, pid_fd;
	int perf[PERF_KINDS];
	struct rundelay *delay;
	uint64_t begin_ns, term_ns;
	size_t room;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void exec_child(char *const *argv, int go, int out, int fail)
{
	int null = open("/dev/null", O_RDONLY), err;
	char byte;

	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (null > 2)
		close(null);
	/* The parent arms the counters first. */
	if (read(go, &byte, 1) == 1)
		execvp(argv[0], argv);
	err = errno;
	if (write(fail, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void keep(struct run *run, const char *data, size_t len)
{
	struct tree_result *r = run->r;

	if (r->output_len + len + 1 > run->room) {
		size_t want = run->room ? run->room * 2 : 16384;
		char *more;

		if (want > 2 * TREE_OUTPUT_MAX) {
			/* Full: the first half goes. */
			memmove(r->output, r->output + r->output_len - TREE_OUTPUT_MAX / 2, TREE_OUTPUT_MAX / 2);
			r->output_len = TREE_OUTPUT_MAX / 2;
		} else {
			more = realloc(r->output, want);
			if (!more)
				return;
			r->output = more;
			run->room = want;
		}
	}
	if (r->output_len + len + 1 > run->room)
		return;
	memcpy(r->output + r->output_len, data, len);
	r->output_len += len;
	r->output[r->output_len] = 0;
}

/* 0 = at its end or nothing there for now. */
static int drain(struct run *run)
{
	char buf[8192];
	ssize_t n = read(run->out_fd, buf, sizeof(buf));

	if (n > 0)
		keep(run, buf, (size_t)n);
	return n > 0;
}

static pid_t spared(const struct run *run)
{
	return run->cmd->spare && !run->cmd->spare->ended ? run->cmd->spare->pid : 0;
}

/* Children that were adopted from the command: everything whose parent is this process. Returns how many. */
static unsigned kill_adopted(pid_t except)
{
	DIR *d = opendir("/proc");
	unsigned found = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[300], line[512], *p;
		int parent = 0;
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]) || atoi(e->d_name) == except)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
		if (p && sscanf(p + 1, " %*c %d", &parent) == 1 && parent == getpid()) {
			kill(atoi(e->d_name), SIGKILL);
			found++;
		}
	}
	if (d)
		closedir(d);
	return found;
}

static void add_usage(struct tree_result *r, const struct rusage *u)
{
	r->user_s += (double)u->ru_utime.tv_sec + (double)u->ru_utime.tv_usec / 1e6;
	r->system_s += (double)u->ru_stime.tv_sec + (double)u->ru_stime.tv_usec / 1e6;
	r->switches += (double)(u->ru_nvcsw + u->ru_nivcsw);
}

/* A child that is not the command itself: an orphan, which counts, or the caller's own, which does not. */
static void reaped_other(struct run *run, pid_t pid, int status, const struct rusage *u)
{
	if (pid == spared(run)) {
		run->cmd->spare->ended = 1;
		run->cmd->spare->status = status;
	} else {
		add_usage(run->r, u);
	}
}

/* Orphans that end while the command runs; see wait_command for the rest. */
static void reap_orphans(struct run *run)
{
	struct rusage u;
	int status;

	for (;;) {
		siginfo_t info = { 0 };

		/* The command itself is left for wait_command(), in whatever order they end. */
		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) || !info.si_pid || info.si_pid == run->pid)
			return;
		if (wait4(info.si_pid, &status, 0, &u) > 0)
			reaped_other(run, info.si_pid, status, &u);
	}
}

static void wait_command(struct run *run)
{
	struct rusage u;
	int status;

	while (wait4(run->pid, &run->r->status, 0, &u) < 0)
		if (errno != EINTR)
			return;
	add_usage(run->r, &u);
	run->pid = -1;
	/* What it left behind. New orphans may come as their parents die: again until there is no child. */
	for (;;) {
		pid_t pid = wait4(-1, &status, WNOHANG, &u);

		if (pid > 0)
			reaped_other(run, pid, status, &u);
		else if (pid < 0 && errno != EINTR)
			return;
		else if (pid == 0 && !kill_adopted(spared(run)))
			return;
		else if (pid == 0)
			usleep(1000);
	}
}

static void end_command(struct run *run, int how)
{
	kill(-run->pid, how);
	kill(run->pid, how);
}

/* Ends the command in time when it must be ended; tells how long poll() may sleep. */
static int supervise(struct run *run)
{
	const struct tree_command *c = run->cmd;
	uint64_t now = now_ns();

	if (!run->term_ns) {
		if (c->limit_ns && now - run->begin_ns > c->limit_ns)
			run->r->timed_out = 1;
		if ((c->stop && *c->stop) || (c->alive && c->alive(c->ctx)))
			run->r->stopped = 1;
		if (run->r->stopped || run->r->timed_out) {
			run->term_ns = now;
			end_command(run, SIGTERM);
		}
	} else if (now - run->term_ns > TERM_PATIENCE_NS) {
		end_command(run, SIGKILL);
	}
	if (run->delay)
		rundelay_collect(run->delay);
	reap_orphans(run);
	return ALIVE_EVERY_MS;
}

static void follow(struct run *run)
{
	struct pollfd p[2] = { { run->pid_fd, POLLIN, 0 }, { run->out_fd, POLLIN, 0 } };
	uint64_t next = run->begin_ns;

	for (;;) {
		uint64_t now = now_ns();
		int n;

		if (now >= next)
			next = now + (uint64_t)supervise(run) * 1000000;
		n = poll(p, 2, (int)((next - now) / 1000000) + 1);
		if (n > 0 && p[0].revents)
			break;
		if (n > 0 && p[1].revents && !drain(run))
			p[1].fd = -1; /* it closed its output, and runs on */
	}
	run->r->seconds = (double)(now_ns() - run->begin_ns) / 1e9;
}

static void open_counters(struct run *run)
{
	for (int k = 0; k < PERF_KINDS; k++)
		run->perf[k] = k >= PERF_INSTRUCTIONS && !run->cmd->count_hardware ? -1 :
			       perf_open_tree((enum perf_kind)k, run->pid);
	run->delay = rundelay_open();
}

static void read_counters(struct run *run)
{
	struct tree_result *r = run->r;
	double switches = perf_read(run->perf[PERF_SWITCHES]);

	r->migrations = perf_read(run->perf[PERF_MIGRATIONS]);
	r->instructions = perf_read(run->perf[PERF_INSTRUCTIONS]);
	r->l2_misses = perf_read(run->perf[PERF_L2_MISSES]);
	if (!isnan(switches))
		r->switches = switches; /* else what wait4 gave */
	for (int k = 0; k < PERF_KINDS; k++)
		if (run->perf[k] >= 0)
			close(run->perf[k]);
}

static int start(struct run *run, int *fail_fd)
{
	int go[2] = { -1, -1 }, out[2] = { -1, -1 }, fail[2] = { -1, -1 }, rc = 0;

	if (pipe2(go, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(fail, O_CLOEXEC)) {
		rc = -errno;
		goto out;
	}
	run->pid = fork();
	if (run->pid < 0) {
		rc = -errno;
		goto out;
	}
	if (!run->pid)
		exec_child(run->cmd->argv, go[0], out[1], fail[1]);
	setpgid(run->pid, run->pid);
	run->pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
	if (run->pid_fd < 0) {
		rc = -errno;
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
		goto out;
	}
	open_counters(run);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	run->begin_ns = now_ns();
	if (write(go[1], "g", 1) != 1)
		rc = -errno;
	run->out_fd = out[0];
	*fail_fd = fail[0];
	out[0] = fail[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (out[i] >= 0)
			close(out[i]);
		if (fail[i] >= 0)
			close(fail[i]);
	}
	return rc;
}

int tree_run(const struct tree_command *cmd, struct tree_result *r)
{
	struct run run = { .cmd = cmd, .r = r, .out_fd = -1, .pid_fd = -1 };
	int fail_fd = -1, exec_errno = 0, rc;

	memset(r, 0, sizeof(*r));
	r->run_delay_s = NAN;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	keep(&run, "", 0);
	rc = start(&run, &fail_fd);
	if (rc)
		goto out;
	follow(&run);
	/* The exec's own failure: its pipe closes without a word when it worked. */
	fcntl(fail_fd, F_SETFL, O_NONBLOCK);
	if (read(fail_fd, &exec_errno, sizeof(exec_errno)) == sizeof(exec_errno))
		rc = -exec_errno;
	end_command(&run, SIGKILL); /* the rest of its process group; itself is a zombie by now */
	wait_command(&run);
	while (drain(&run))
		;
	read_counters(&run);
	if (run.delay)
		r->run_delay_s = rundelay_close(run.delay);
out:
	if (run.out_fd >= 0)
		close(run.out_fd);
	if (run.pid_fd >= 0)
		close(run.pid_fd);
	if (fail_fd >= 0)
		close(fail_fd);
	if (rc) {
		free(r->output);
		r->output = NULL;
	}
	return rc;
}
