/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * explain.c - `roost explain`: a line for each wakeup while it happens, or a table at the end.
 *
 * The kernel's side reports decisions only until a time that we write, and that we push a little ahead
 * again and again: however this program ends, reporting ends two seconds later.
 */
#include "cli/running.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "run/counters.h"
#include "run/why.h"

#define AHEAD_NS 2000000000ull
#define POLL_MS 250

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

struct explain {
	struct cli *cli;
	struct roost_view *view;
	u64 start_ns;
	u64 nr;
	bool json, summary, broken;
	bool discard;               /* what an earlier reader left in the ring */
	u64 chose[ROOST_RULE_COUNT], claimed[ROOST_RULE_COUNT], stayed[ROOST_RULE_COUNT];
	u64 passed[WHY_STEPS][WHY_REASONS];
	u64 ext_verdict[ROOST_EXT_VERDICT_COUNT], ext_end[ROOST_EXT_END_COUNT];
};

static json_t *event_json(const struct roost_event *e)
{
	json_t *passed = json_object(), *j;
	char task[17], waker[17];

	for (unsigned int step = 0; step < WHY_STEPS; step++) {
		if (why_reason(e->passed, step))
			json_object_set_new(passed, why_step_names[step],
					    json_string(why_reason_names[why_reason(e->passed, step)]));
	}
	why_printable(e->comm, task);
	why_printable(e->waker_comm, waker);
	j = json_pack("{s:I, s:s, s:i, s:s, s:i, s:i, s:i, s:i, s:b, s:s, s:o}", "now_ns", (json_int_t)e->now_ns, "task", task,
		      "pid", (int)e->pid, "waker_task", waker, "waker_pid", (int)e->waker_pid, "waker", e->waker, "prev", e->prev,
		      "cpu", e->cpu, "idle", (int)e->claimed, "rule",
		      e->rule < ROOST_RULE_COUNT ? rule_names[e->rule].name : "?", "passed", passed);
	if (why_has_target(e)) {
		json_object_set_new(j, "target", json_integer(e->target));
		json_object_set_new(j, "target_rule", json_string(e->target_rule < ROOST_TARGET_COUNT ?
								  target_names[e->target_rule] : "?"));
	}
	return j;
}

static void count(struct explain *x, const struct roost_event *e)
{
	x->nr++;
	if (e->rule < ROOST_RULE_COUNT) {
		x->chose[e->rule]++;
		x->claimed[e->rule] += e->claimed != 0;
		x->stayed[e->rule] += e->cpu == e->prev;
	}
	for (unsigned int step = 0; step < WHY_STEPS; step++)
		x->passed[step][why_reason(e->passed, step)]++;
}

static json_t *slice_json(const struct roost_ext_event *e)
{
	char task[17];

	why_printable(e->comm, task);
	return json_pack("{s:I, s:s, s:i, s:i, s:s, s:I}", "now_ns", (json_int_t)e->now_ns, "task", task, "pid", (int)e->pid,
			 "cpu", e->cpu, "slice_ext", why_slice_word(e), "spent_ns", (json_int_t)e->spent_ns);
}

static int on_slice_event(struct explain *x, const struct roost_ext_event *e)
{
	char line[256];

	if (!e->end && e->verdict < ROOST_EXT_VERDICT_COUNT)
		x->ext_verdict[e->verdict]++;
	else if (e->end < ROOST_EXT_END_COUNT)
		x->ext_end[e->end]++;
	if (x->summary)
		return 0;
	if (x->json) {
		cli_print_json_line(x->cli, slice_json(e));
	} else {
		why_slice_line(e, x->start_ns, line, sizeof(line));
		puts(line);
	}
	if (ferror(stdout))
		x->broken = true;
	return 0;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct explain *x = ctx;
	const struct roost_event *e = data;
	char line[640];

	if (x->discard)
		return 0;
	if (size == sizeof(struct roost_ext_event))
		return on_slice_event(x, data);
	if (size < sizeof(*e))
		return 0;
	count(x, e);
	if (x->summary)
		return 0;
	if (x->json) {
		cli_print_json_line(x->cli, event_json(e));
	} else {
		why_line(e, x->start_ns, line, sizeof(line));
		puts(line);
	}
	if (ferror(stdout))
		x->broken = true;
	return 0;
}

/* Each thing that was told of slice-ext, by its word. */
static void slice_summary(const struct explain *x, json_t *json)
{
	for (u32 i = 0; i < ROOST_EXT_VERDICT_COUNT + ROOST_EXT_END_COUNT; i++) {
		bool is_end = i >= ROOST_EXT_VERDICT_COUNT;
		u32 which = is_end ? i - ROOST_EXT_VERDICT_COUNT : i;
		const struct roost_ext_event e = { .verdict = is_end ? 0 : which, .end = is_end ? which : 0 };
		u64 n = is_end ? x->ext_end[which] : x->ext_verdict[which];

		if (n && json)
			json_object_set_new(json, why_slice_word(&e), json_integer((json_int_t)n));
		else if (n)
			printf("slice-ext: %-20s %12llu\n", why_slice_word(&e), n);
	}
}

static void print_summary(const struct explain *x)
{
	printf("%llu wakeups in %.1f s\n\n%-16s %12s %6s %6s %6s  %s\n", x->nr, (double)(running_now_ns() - x->start_ns) / 1e9,
	       "RULE", "CHOSE", "SHARE", "IDLE", "STAYED", "MEANING");
	for (size_t r = 0; r < ROOST_RULE_COUNT; r++) {
		u64 n = x->chose[r];

		if (n)
			printf("%-16s %12llu %5.1f%% %5.1f%% %5.1f%%  %s\n", rule_names[r].name, n,
			       100.0 * (double)n / (double)x->nr, 100.0 * (double)x->claimed[r] / (double)n,
			       100.0 * (double)x->stayed[r] / (double)n, rule_names[r].help);
	}
	printf("\n%-16s", "PASSED OVER");
	for (unsigned int why = 1; why < WHY_REASONS; why++)
		printf(" %*s", (int)strlen(why_reason_names[why]) > 9 ? (int)strlen(why_reason_names[why]) : 9,
		       why_reason_names[why]);
	putchar('\n');
	for (unsigned int step = 0; step < WHY_STEPS; step++) {
		printf("%-16s", why_step_names[step]);
		for (unsigned int why = 1; why < WHY_REASONS; why++)
			printf(" %*llu", (int)strlen(why_reason_names[why]) > 9 ? (int)strlen(why_reason_names[why]) : 9,
			       x->passed[step][why]);
		putchar('\n');
	}
	slice_summary(x, NULL);
}

static json_t *summary_json(const struct explain *x)
{
	json_t *rules = json_object(), *passed = json_object(), *slice = json_object(), *j;

	slice_summary(x, slice);

	for (size_t r = 0; r < ROOST_RULE_COUNT; r++) {
		if (x->chose[r])
			json_object_set_new(rules, rule_names[r].name,
					    json_pack("{s:I, s:I, s:I}", "chose", (json_int_t)x->chose[r], "idle",
						      (json_int_t)x->claimed[r], "stayed", (json_int_t)x->stayed[r]));
	}
	for (unsigned int step = 0; step < WHY_STEPS; step++) {
		j = json_object();
		for (unsigned int why = 1; why < WHY_REASONS; why++)
			json_object_set_new(j, why_reason_names[why], json_integer((json_int_t)x->passed[step][why]));
		json_object_set_new(passed, why_step_names[step], j);
	}
	return json_pack("{s:I, s:f, s:o, s:o, s:o}", "wakeups", (json_int_t)x->nr, "seconds",
			 (double)(running_now_ns() - x->start_ns) / 1e9, "rules", rules, "passed", passed, "slice_ext",
			 slice);
}

/* Only one reader can empty the ring: whoever's time has not run out has it. */
static int claim_events(const struct cli *cli, struct roost_control *c)
{
	u64 now = running_now_ns(), until = __atomic_load_n(&c->explain_until_ns, __ATOMIC_RELAXED);

	if (until > now || !__atomic_compare_exchange_n(&c->explain_until_ns, &until, now + AHEAD_NS, false, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED))
		return cli_fail(cli, "another 'roost explain' is reading; end it first (a killed one frees it after 2 s)");
	return 0;
}

static int watch(struct explain *x, struct ring_buffer *ring)
{
	struct roost_control *control = x->view->control;
	u64 seconds = opt_u64(x->cli, OPT_SECONDS), end = seconds ? x->start_ns + seconds * 1000000000ull : UINT64_MAX, now;
	int n, wait_ms;

	while (!stop && !x->broken && (now = running_now_ns()) < end) {
		if (!running_still(x->view))
			return running_ended(x->cli, x->view);
		__atomic_store_n(&control->explain_until_ns, now + AHEAD_NS, __ATOMIC_RELAXED);
		wait_ms = end - now < POLL_MS * 1000000ull ? (int)((end - now) / 1000000) + 1 : POLL_MS;
		n = ring_buffer__poll(ring, wait_ms);
		if (n < 0 && n != -EINTR)
			return cli_fail(x->cli, "cannot read the decisions: %s", strerror(-n));
		fflush(stdout);
	}
	return x->broken ? CLI_FAILED : CLI_DONE;
}

static int explain(struct explain *x)
{
	struct roost_control *control = x->view->control;
	struct ring_buffer *ring = NULL;
	int code;

	ring = ring_buffer__new(x->view->events_fd, on_event, x, NULL);
	if (!ring)
		return cli_fail(x->cli, "cannot read the decisions: %s", strerror(errno));
	code = claim_events(x->cli, control);
	if (code) {
		ring_buffer__free(ring);
		return code;
	}
	control->explain_pid = (u32)opt_u64(x->cli, OPT_PID);
	x->discard = true;
	ring_buffer__consume(ring);
	x->discard = false;
	x->start_ns = running_now_ns();
	code = watch(x, ring);
	if (x->summary && code == CLI_DONE) {
		if (x->json)
			code = cli_print_json(x->cli, summary_json(x));
		else
			print_summary(x);
	}
	__atomic_store_n(&control->explain_until_ns, 0, __ATOMIC_RELAXED);
	ring_buffer__free(ring);
	return code;
}

int cmd_explain(struct cli *cli)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct explain *x = calloc(1, sizeof(*x));
	int code;

	if (!x)
		return cli_fail(cli, "out of memory");
	x->cli = cli;
	x->json = opt_flag(cli, OPT_JSON);
	x->summary = opt_flag(cli, OPT_SUMMARY);
	code = running_open(cli, &x->view, true);
	if (!code) {
		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGTERM, &sa, NULL);
		code = explain(x);
		roost_close(x->view);
	}
	free(x);
	return code;
}
