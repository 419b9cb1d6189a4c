/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.c - `roost run`, also called scx_roost: loads the scheduler, stays with it, takes it off.
 *
 * Signals arrive through a descriptor, in the one loop that also looks every half second whether the
 * kernel still runs roost and whether a CPU has come that was not there at the load. A reload for such a
 * CPU keeps the knobs as they are then, whoever set them. However this process ends, the kernel goes back
 * to its own scheduler.
 */
#include "cli/running.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/notify.h"
#include "cli/print.h"
#include "cli/run_services.h"
#include "cli/stat_show.h"
#include "run/counters.h"
#include "run/doctor.h"
#include "run/haltpoll.h"
#include "run/knobs.h"

#define LOOK_MS 1000                /* an idle machine is not to be woken more often */
#define RESTARTS_IN_A_ROW_MAX 20    /* with less than a second between them: something is wrong */

struct run {
	struct cli *cli;
	struct roost_opts opts;
	struct roost *roost;
	struct run_services services;
	struct stat_stream stream;
	u64 start_ns, end_ns, next_line_ns, interval_ns;
	int signal_fd;
	bool stop;
};

/* ---- talk ---- */

static unsigned int talk_most;

static void talk(int level, const char *text)
{
	/* -v: warnings; -vv: all */
	if (talk_most && (level == 0 || talk_most > 1))
		fputs(text, stderr);
}

static unsigned int online_cpus(const struct roost_view *v)
{
	unsigned int n = 0;

	for (u32 i = 0; i < v->machine->nr_cpu_ids; i++)
		n += (v->cpus[i].flags & ROOST_CPU_ONLINE) != 0;
	return n;
}

/* "idle-smt=on idle-grace=1ms": what is not the default, or all of it. */
static void print_knobs(FILE *to, const struct roost_knobs *k, bool all)
{
	char text[KNOB_TEXT_MAX];
	bool any = false;

	for (size_t i = 0; i < knob_count; i++) {
		u64 v = knob_get(k, &knob_table[i]);

		if (v == knob_table[i].def && !all)
			continue;
		fprintf(to, " %s=%s", knob_table[i].key, knob_format(&knob_table[i], v, text));
		any = true;
	}
	if (!any)
		fputs(" all knobs at their defaults", to);
}

static json_t *knobs_json(const struct roost_knobs *k)
{
	json_t *j = json_object();
	char text[KNOB_TEXT_MAX];

	for (size_t i = 0; i < knob_count; i++)
		json_object_set_new(j, knob_table[i].key,
				    json_string(knob_format(&knob_table[i], knob_get(k, &knob_table[i]), text)));
	return j;
}

/* The one line of state. */
static void say_loaded(const struct run *run)
{
	const struct roost_view *v = roost_view(run->roost);
	const struct roost_machine *m = v->machine;
	struct utsname u;

	uname(&u);
	if (opt_flag(run->cli, OPT_JSON)) {
		cli_print_json_line(run->cli, json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:b, s:o}", "event", "loaded",
							"version", ROOST_VERSION, "kernel", u.release, "cpus_online",
							(int)online_cpus(v), "llcs", (int)m->nr_llcs, "nodes", (int)m->nr_nodes,
							"smt", (int)m->smt, "partial", (int)m->partial, "knobs",
							knobs_json(v->knobs)));
		return;
	}
	printf("roost " ROOST_VERSION " schedules %s on %u CPUs, %u LLC%s, %u node%s%s (Linux %s);",
	       m->partial ? "SCHED_EXT tasks" : "all ordinary tasks", online_cpus(v), m->nr_llcs, m->nr_llcs == 1 ? "" : "s",
	       m->nr_nodes, m->nr_nodes == 1 ? "" : "s", m->smt ? ", SMT" : "", u.release);
	print_knobs(stdout, v->knobs, opt_flag(run->cli, OPT_VERBOSE) > 0);
	putchar('\n');
	fflush(stdout);
}

/* Said once: weights and limits of control groups have no effect while roost schedules. */
static void say_ignored(const struct run *run)
{
	struct doctor_report *r = calloc(1, sizeof(*r));
	struct doctor_env env;

	if (!r)
		return;
	doctor_env_init(&env, "/");
	doctor_check_cgroups(&env, r);
	if (r->nr && r->check[0].state != DOCTOR_OK)
		cli_say(run->cli, "%s", r->check[0].found);
	free(r);
}

/* ---- loading ---- */

static int load(struct run *run)
{
	struct run_error *err = calloc(1, sizeof(*err));
	const char *more;
	int code = CLI_DONE;

	if (!err)
		return cli_fail(run->cli, "out of memory");
	if (roost_load(&run->roost, &run->opts, err)) {
		run->roost = NULL;
		/* one line; the verifier's words, where there are any, on demand */
		more = talk_most || err->missing || err->err == -EBUSY || !err->log[0] ? "" : " (-v shows what the kernel said)";
		code = err->missing ? cli_cannot(run->cli, "%s%s", err->text, more) : cli_fail(run->cli, "%s%s", err->text, more);
	} else {
		code = run_services_start(&run->services, run->cli, run->roost);
		if (code) {
			roost_unload(run->roost);
			run->roost = NULL;
		}
	}
	free(err);
	return code;
}

static void unload(struct run *run)
{
	if (!run->roost)
		return;
	run_services_stop(&run->services, run->cli);
	roost_unload(run->roost);
	run->roost = NULL;
}

static void start_lines(struct run *run)
{
	struct roost_view *v = roost_view(run->roost);
	struct roost_stats sum;
	u64 now = running_now_ns();

	counters_sum(&sum, v->stats, v->machine->nr_cpu_ids);
	stat_stream_start(&run->stream, &sum, now, online_cpus(v), opt_flag(run->cli, OPT_JSON));
	run->next_line_ns = now + run->interval_ns;
}

static int reload(struct run *run, const char *why)
{
	int code;

	/* as they are now: `roost set` may have changed them */
	run->opts.knobs = *roost_view(run->roost)->knobs;
	cli_say(run->cli, "%s; loading anew", why);
	unload(run);
	code = load(run);
	if (!code) {
		say_loaded(run);
		start_lines(run);
	}
	return code;
}

/* ---- the loop ---- */

/* SIGHUP: the configuration anew, all of it or none; a scheduler must not end over a typing error. */
static void reread_config(struct run *run)
{
	struct roost_knobs k;
	char *const *sets;
	size_t nr;

	knobs_default(&k);
	sets = opt_list(run->cli, OPT_SET, &nr);
	if (running_knobs(run->cli, &k, sets, nr))
		return;
	knobs_copy(roost_view(run->roost)->knobs, &k);
	cli_say(run->cli, "%s read again", opt_string(run->cli, OPT_CONFIG));
}

static void on_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP && opt_given(run->cli, OPT_CONFIG))
			reread_config(run);
		else
			run->stop = true;
	}
}

static int line_due(struct run *run, u64 now)
{
	struct roost_view *v = roost_view(run->roost);
	struct roost_stats sum;

	if (!run->interval_ns || now < run->next_line_ns)
		return 0;
	while (run->next_line_ns <= now)
		run->next_line_ns += run->interval_ns;
	counters_sum(&sum, v->stats, v->machine->nr_cpu_ids);
	run->stream.nr_cpus = online_cpus(v);
	return stat_stream_line(run->cli, &run->stream, &sum, now);
}

static int wait_ms(const struct run *run, u64 now)
{
	u64 until = now + LOOK_MS * 1000000ull;

	if (run->interval_ns && run->next_line_ns < until)
		until = run->next_line_ns;
	if (run->end_ns < until)
		until = run->end_ns;
	return until > now ? (int)((until - now) / 1000000) + 1 : 0;
}

/* It is off, and not by us: restart where the kernel asks for that, else say why. */
static int on_exit_of_roost(struct run *run, unsigned int *restarts, u64 *last_restart_ns)
{
	const struct roost_view *v = roost_view(run->roost);
	u64 now = running_now_ns();

	if (!roost_exit_restart(v->exit))
		return running_ended(run->cli, v);
	*restarts = now - *last_restart_ns < 1000000000ull ? *restarts + 1 : 0;
	*last_restart_ns = now;
	if (*restarts >= RESTARTS_IN_A_ROW_MAX)
		return cli_fail(run->cli, "the kernel asks for a restart again and again; giving up");
	return reload(run, "a CPU came or went");
}

static int stay(struct run *run)
{
	struct pollfd p = { .fd = run->signal_fd, .events = POLLIN };
	unsigned int restarts = 0;
	u64 last_restart_ns = 0, now;
	int code = 0;

	while (!code) {
		now = running_now_ns();
		if (poll(&p, 1, wait_ms(run, now)) > 0)
			on_signals(run);
		now = running_now_ns();
		if (run->stop || now >= run->end_ns)
			return CLI_DONE;
		if (!running_still(roost_view(run->roost)))
			code = on_exit_of_roost(run, &restarts, &last_restart_ns);
		else if (roost_outgrown(run->roost))
			code = reload(run, "a CPU came that was not known at the load");
		else
			code = line_due(run, now);
		if (!code && run->roost)
			run_services_look(&run->services, run->cli);
	}
	return code;
}

/* Before any thread is made, so that every thread has them blocked. */
static int take_signals(struct run *run)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signal_fd < 0 ? -errno : 0;
}

int cmd_run(struct cli *cli)
{
	struct run run = { .cli = cli, .signal_fd = -1 };
	char *const *sets;
	struct roost_kernel_state state;
	char text[512];
	size_t nr;
	int code, err;

	knobs_default(&run.opts.knobs);
	sets = opt_list(cli, OPT_SET, &nr);
	code = running_knobs(cli, &run.opts.knobs, sets, nr);
	/* all of it before the load: no typing error is worth a change of scheduler */
	if (!code)
		code = run_services_check(cli);
	if (code)
		return code;
	run.opts.partial = opt_flag(cli, OPT_PARTIAL);
	run.opts.talk = talk;
	talk_most = opt_flag(cli, OPT_VERBOSE);
	run.interval_ns = opt_u64(cli, OPT_INTERVAL);
	roost_kernel_state("", &state);
	/* left by one that was killed; the new one finds the machine as that one found it */
	if (!state.roost && haltpoll_restore("/", text, sizeof(text)))
		return cli_fail(cli, "%s", text);
	err = take_signals(&run);
	if (err)
		return cli_fail(cli, "cannot receive signals: %s", strerror(-err));
	code = load(&run);
	if (!code) {
		run.start_ns = running_now_ns();
		run.end_ns = opt_given(cli, OPT_DURATION) ? run.start_ns + opt_u64(cli, OPT_DURATION) : ~0ull;
		say_loaded(&run);
		say_ignored(&run);
		notify("READY=1\nSTATUS=scheduling");
		start_lines(&run);
		code = stay(&run);
		notify("STOPPING=1");
		unload(&run);
	}
	close(run.signal_fd);
	return code;
}
