/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare_host.c - the real thing behind `roost compare`: starts and ends `roost run` to switch variants, and
 * runs the command.
 *
 * It is `roost run` itself that is measured, with all that works beside a loaded roost (spinner threads, the slice-ext
 * server), not a second way of loading. Every change of variant takes it off and loads it anew, so that no variant
 * inherits anything from another; two runs in a row of the same variant keep it. Then a short pause, which is the same
 * for all, lets the machine settle.
 */
#include "cli/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/counters.h"
#include "run/run.h"

#define LOAD_PATIENCE_MS 180000 /* an emulated machine takes its time */
#define END_PATIENCE_MS 15000
#define SETTLE_MS 200

struct roost_child {
	struct tree_spare spare;
	int out_fd, err_fd;
	char err[2048];
	size_t err_len;
	struct roost_view *view;
};

static void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* ---- the roost run beside us ---- */

static void exec_roost(const struct compare_variant *v, int out, int err, pid_t parent)
{
	char set[64][96], *argv[3 + 2 * 64], text[KNOB_TEXT_MAX];
	int n = 0, null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0); /* Ctrl-C is for the comparison, which ends it in order */
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	argv[n++] = "roost";
	argv[n++] = "run";
	for (size_t i = 0; i < knob_count && i < 64; i++) {
		u64 value = knob_get(&v->knobs, &knob_table[i]);

		if (value == knob_table[i].def)
			continue;
		snprintf(set[i], sizeof(set[i]), "%s=%s", knob_table[i].key, knob_format(&knob_table[i], value, text));
		argv[n++] = "--set";
		argv[n++] = set[i];
	}
	argv[n] = NULL;
	execv("/proc/self/exe", argv);
	dprintf(2, "cannot run roost itself: %s\n", strerror(errno));
	_exit(CLI_FAILED);
}

/* Keeps the beginning of what it says: the reason comes first, details follow. */
static void hear(struct roost_child *c)
{
	char buf[512];
	ssize_t n;

	while ((n = read(c->err_fd, buf, sizeof(buf))) > 0) {
		size_t room = sizeof(c->err) - 1 - c->err_len, take = (size_t)n < room ? (size_t)n : room;

		memcpy(c->err + c->err_len, buf, take);
		c->err_len += take;
		c->err[c->err_len] = 0;
	}
	while (read(c->out_fd, buf, sizeof(buf)) > 0)
		;
}

/* The last line it said, without its "roost run: ". */
static void last_words(struct roost_child *c, char *why, size_t len)
{
	char *end, *line, *skip;

	hear(c);
	end = c->err + strlen(c->err);
	while (end > c->err && end[-1] == '\n')
		*--end = 0;
	line = strrchr(c->err, '\n');
	line = line ? line + 1 : c->err;
	/* "what the kernel said is shown with -v" is no reason */
	if (line > c->err && strstr(line, "shown with -v")) {
		line[-1] = 0;
		line = strrchr(c->err, '\n');
		line = line ? line + 1 : c->err;
	}
	skip = strstr(line, ": ");
	if (skip && !strncmp(line, "roost run", 9))
		line = skip + 2;
	snprintf(why, len, "%s", *line ? line : "roost run ended without a word");
}

static void reap(struct roost_child *c, unsigned patience_ms)
{
	for (unsigned ms = 0; !c->spare.ended; ms += 10) {
		if (waitpid(c->spare.pid, &c->spare.status, WNOHANG) == c->spare.pid) {
			c->spare.ended = 1;
			return;
		}
		if (ms == patience_ms)
			kill(c->spare.pid, SIGKILL);
		sleep_ms(10);
	}
}

static void end_child(struct compare_host *h)
{
	struct roost_child *c = h->child;

	if (!c)
		return;
	roost_close(c->view);
	if (!c->spare.ended)
		kill(c->spare.pid, SIGTERM);
	reap(c, END_PATIENCE_MS);
	close(c->out_fd);
	close(c->err_fd);
	free(c);
	h->child = NULL;
}

/* It prints one line when it is loaded. 0, or -errno and why. */
static int await_loaded(struct compare_host *h, char *why, size_t len)
{
	struct roost_child *c = h->child;

	for (unsigned ms = 0; ms < LOAD_PATIENCE_MS; ms += 50) {
		struct pollfd p = { c->out_fd, POLLIN, 0 };

		if (h->stop && *h->stop)
			return -EINTR;
		if (poll(&p, 1, 50) <= 0)
			continue;
		if (p.revents & POLLIN)
			return 0;
		reap(c, 5000);
		last_words(c, why, len);
		if (WIFEXITED(c->spare.status))
			h->cannot = WEXITSTATUS(c->spare.status);
		return -EIO;
	}
	snprintf(why, len, "roost was not loaded after %d s", LOAD_PATIENCE_MS / 1000);
	return -ETIMEDOUT;
}

static int start_child(struct compare_host *h, unsigned variant, char *why, size_t len)
{
	struct roost_child *c = calloc(1, sizeof(*c));
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, rc;
	pid_t me = getpid();

	if (!c || pipe2(out, O_CLOEXEC | O_NONBLOCK) || pipe2(err, O_CLOEXEC | O_NONBLOCK)) {
		snprintf(why, len, "%s", strerror(errno));
		free(c);
		return -errno;
	}
	c->out_fd = out[0];
	c->err_fd = err[0];
	c->spare.pid = fork();
	if (!c->spare.pid)
		exec_roost(&h->variants[variant], out[1], err[1], me);
	close(out[1]);
	close(err[1]);
	if (c->spare.pid < 0) {
		snprintf(why, len, "%s", strerror(errno));
		close(out[0]);
		close(err[0]);
		free(c);
		return -EAGAIN;
	}
	h->child = c;
	rc = await_loaded(h, why, len);
	if (!rc)
		rc = roost_find(&c->view, false);
	if (rc == -EPERM || rc == -ENOENT)
		rc = 0; /* loaded, but its counters cannot be read: no rules then */
	if (rc)
		end_child(h);
	return rc;
}

/* ---- what the plan asks for ---- */

/* The kernel's own features as they were found. */
static void fair_back(struct compare_host *h)
{
	char why[KNOB_REFUSAL_MAX];

	if (h->fair_changed && fair_write("", &h->fair_was, why))
		fprintf(stderr, "roost compare: the kernel's own features could not be put back: %s\n", why);
	h->fair_changed = false;
}

static int fair_switch(struct compare_host *h, const struct fair_settings *s, char *why, size_t len)
{
	char refusal[KNOB_REFUSAL_MAX];
	bool any = false;
	int rc;

	for (int i = 0; i < FAIR_COUNT; i++)
		any |= s->set[i];
	if (!any)
		return 0;
	if (!h->fair_known && !fair_read("", &h->fair_was))
		h->fair_known = true;
	rc = fair_write("", s, refusal);
	if (rc)
		snprintf(why, len, "%s", refusal);
	h->fair_changed = h->fair_known && !rc;
	return rc;
}

static int activate(void *ctx, unsigned variant, char *why, size_t len)
{
	struct compare_host *h = ctx;
	int rc = 0;

	if (h->active == (int)variant)
		return 0;
	end_child(h);
	fair_back(h);
	h->active = -1;
	if (!h->variants[variant].kernel)
		rc = start_child(h, variant, why, len);
	else
		rc = fair_switch(h, &h->variants[variant].fair, why, len);
	if (!rc) {
		h->active = (int)variant;
		sleep_ms(SETTLE_MS);
	}
	return rc;
}

static int child_gone(void *ctx)
{
	struct compare_host *h = ctx;

	return h->child && h->child->spare.ended;
}

static void fill_machine(struct study_run *r, const struct meter_sample *d, double seconds)
{
	static const struct { unsigned metric; enum meter_value from; } map[] = {
		{ M_MACHINE_USER, METER_USER_S }, { M_MACHINE_SYSTEM, METER_SYSTEM_S },
		{ M_MACHINE_RUN_DELAY, METER_RUN_DELAY_S }, { M_MACHINE_MIGRATIONS, METER_MIGRATIONS },
		{ M_MACHINE_SWITCHES, METER_SWITCHES }, { M_MACHINE_IDLE, METER_IDLE_WAKEUPS },
		{ M_MACHINE_ENERGY, METER_ENERGY_J },
	};

	for (unsigned i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		r->value[map[i].metric] = d->v[map[i].from];
	r->value[M_MACHINE_CPU] = isnan(d->v[METER_BUSY_S]) ? d->v[METER_USER_S] + d->v[METER_SYSTEM_S] : d->v[METER_BUSY_S];
	r->value[M_MACHINE_MEMORY] = d->v[METER_MEMORY_BYTES] / seconds;
}

static void fill_tree(struct study_run *r, const struct tree_result *t)
{
	r->value[M_TIME] = t->seconds;
	r->value[M_CPU] = t->user_s + t->system_s;
	r->value[M_USER] = t->user_s;
	r->value[M_SYSTEM] = t->system_s;
	r->value[M_RUN_DELAY] = t->run_delay_s;
	r->value[M_MIGRATIONS] = t->migrations;
	r->value[M_SWITCHES] = t->switches;
	r->value[M_L2] = t->l2_misses / t->instructions * 1000;
}

static void fill_output(const struct compare_host *h, struct study_run *r, const struct tree_result *t)
{
	load_line_find(&r->load, t->output);
	if (r->load.found) {
		r->value[M_LOAD_RATE] = r->load.ops_per_second;
		r->value[M_LOAD_P50] = r->load.p50_s;
		r->value[M_LOAD_P95] = r->load.p95_s;
		r->value[M_LOAD_P99] = r->load.p99_s;
	}
	for (unsigned i = 0; i < h->n_patterns; i++)
		r->value[h->first_pattern_metric + i] = pattern_find(&h->patterns[i], t->output);
}

static void judge(const struct compare_host *h, struct study_run *r, const struct tree_result *t)
{
	r->outcome = RUN_OK;
	if (h->stop && *h->stop) {
		r->outcome = RUN_STOPPED;
		snprintf(r->note, sizeof(r->note), "interrupted");
	} else if (t->timed_out) {
		r->outcome = RUN_FAILED;
		snprintf(r->note, sizeof(r->note), "not done after %.3g s", (double)h->limit_ns / 1e9);
	} else if (WIFSIGNALED(t->status)) {
		r->outcome = RUN_FAILED;
		snprintf(r->note, sizeof(r->note), "killed by signal %d (%s)", WTERMSIG(t->status),
			 strsignal(WTERMSIG(t->status)));
	} else if (WEXITSTATUS(t->status)) {
		r->outcome = RUN_FAILED;
		snprintf(r->note, sizeof(r->note), "exit code %d", WEXITSTATUS(t->status));
	}
}

static void show_output(const struct tree_result *t, const struct study_run *r, bool always)
{
	const char *tail = t->output;

	/* Of a failing command the end is worth seeing. */
	if (!always) {
		if (r->outcome != RUN_FAILED)
			return;
		if (t->output_len > 600)
			tail = t->output + t->output_len - 600;
	}
	if (*tail)
		fprintf(stderr, "%s%s", tail, tail[strlen(tail) - 1] == '\n' ? "" : "\n");
}

static int run(void *ctx, struct study_run *r)
{
	struct compare_host *h = ctx;
	struct roost_stats before, after, diff;
	struct roost_view *view = h->child ? h->child->view : NULL;
	struct tree_command cmd = { .argv = h->argv, .limit_ns = h->limit_ns, .stop = h->stop, .alive = child_gone, .ctx = h,
				    .count_hardware = 1, .spare = h->child ? &h->child->spare : NULL };
	struct meter_sample m0, m1, md;
	struct tree_result t;
	int rc;

	if (view)
		counters_sum(&before, view->stats, view->machine->nr_cpu_ids);
	meter_read(h->meter, &m0);
	rc = tree_run(&cmd, &t);
	if (rc) {
		h->run_errno = -rc;
		return rc;
	}
	meter_read(h->meter, &m1);
	meter_delta(h->meter, &m0, &m1, &md);
	if (view && !h->child->spare.ended) {
		counters_sum(&after, view->stats, view->machine->nr_cpu_ids);
		counters_since(&diff, &after, &before);
		memcpy(r->rules, diff.rule, sizeof(r->rules));
		r->rules[ROOST_RULE_NONE] = 0;
		r->has_rules = 1;
	}
	fill_machine(r, &md, t.seconds);
	fill_tree(r, &t);
	fill_output(h, r, &t);
	judge(h, r, &t);
	if (h->progress)
		fputs("\r\033[K", stderr);
	show_output(&t, r, h->keep_output);
	free(t.output);
	return 0;
}

/* It leaves within a second of being ejected, with the reason as its last words. */
static int ejected(void *ctx, unsigned variant, char *why, size_t len)
{
	struct compare_host *h = ctx;
	struct roost_child *c = h->child;

	if (!c)
		return 0;
	if (!c->spare.ended && waitpid(c->spare.pid, &c->spare.status, WNOHANG) == c->spare.pid)
		c->spare.ended = 1;
	if (!c->spare.ended && c->view && c->view->exit->done)
		reap(c, END_PATIENCE_MS);
	if (!c->spare.ended)
		return 0;
	last_words(c, why, len);
	end_child(h);
	h->active = -1;
	return 1;
}

static void restore(void *ctx)
{
	struct compare_host *h = ctx;

	end_child(h);
	fair_back(h);
	h->active = -1;
	if (h->progress)
		fputs("\r\033[K", stderr);
}

static void progress(void *ctx, unsigned variant, int round, const struct study_run *r)
{
	struct compare_host *h = ctx;

	if (!h->progress || r)
		return;
	if (round < 0)
		fprintf(stderr, "\r\033[Kwarm-up %d of %u: %s", round + (int)h->warmup + 1, h->warmup,
			h->study->variant[variant].name);
	else
		fprintf(stderr, "\r\033[Kround %d of %u: %s", round + 1, h->rounds, h->study->variant[variant].name);
	fflush(stderr);
}

void compare_host_ops(struct compare_host *host, struct plan_host *ops)
{
	*ops = (struct plan_host){ host, activate, run, ejected, restore, progress };
	host->active = -1;
}
