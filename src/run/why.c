/* SPDX-License-Identifier: GPL-2.0-only */
/* why.c - decisions in words; see why.h. */
#include "run/why.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "run/counters.h"

const char *const why_step_names[WHY_STEPS] = {
	"bias-prev", "target", "prev", "per-cpu-kthread", "recent", "idle-smt", "idle-core", "scan",
};

const char *const why_reason_names[WHY_REASONS] = {
	"not-reached", "off", "looked-at", "other-llc", "busy", "not-allowed", "idle-core-first", "depth", "no-case",
};

static const char *const reason_words[WHY_REASONS] = {
	"", "off", "looked at already", "in another LLC", "busy", "not allowed", "an idle core comes first",
	"depth used up", "not the case",
};

unsigned int why_reason(u32 passed, unsigned int step)
{
	unsigned int reason = passed >> (4 * step) & 15;

	return reason < WHY_REASONS ? reason : 0;
}

void why_passed(u32 passed, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int step = 0; step < WHY_STEPS && at < size; step++) {
		unsigned int reason = why_reason(passed, step);

		if (reason)
			at += (size_t)snprintf(buf + at, size - at, "%s%s: %s", at ? ", " : "", why_step_names[step],
					       reason_words[reason]);
	}
}

void why_printable(const char comm[16], char out[static 17])
{
	size_t i;

	for (i = 0; i < 16 && comm[i]; i++)
		out[i] = isprint((unsigned char)comm[i]) ? comm[i] : '?';
	out[i] = '\0';
}

bool why_has_target(const struct roost_event *e)
{
	return e->rule > ROOST_RULE_NONE && e->rule <= ROOST_RULE_TARGET_LAST;
}

void why_line(const struct roost_event *e, u64 start_ns, char *buf, size_t size)
{
	char task[17], waker[17], passed[256], from[64] = "";
	/* the kernel's side may read a clock that lags ours by a little */
	u64 at_us = e->now_ns > start_ns ? (e->now_ns - start_ns) / 1000 : 0;
	const char *rule = e->rule < ROOST_RULE_COUNT ? rule_names[e->rule].name : "?";

	why_printable(e->comm, task);
	why_printable(e->waker_comm, waker);
	why_passed(e->passed, passed, sizeof(passed));
	if (why_has_target(e))
		snprintf(from, sizeof(from), ", target %d (%s)", e->target,
			 e->target_rule < ROOST_TARGET_COUNT ? target_names[e->target_rule] : "?");
	snprintf(buf, size, "%4llu.%06llu  %s[%u] woken by %s[%u] on %d: prev %d%s -> CPU %d%s by %s%s%s%s", at_us / 1000000,
		 at_us % 1000000, task, e->pid, waker, e->waker_pid, e->waker, e->prev, from, e->cpu,
		 e->claimed ? " (idle)" : "", rule, *passed ? " [" : "", passed, *passed ? "]" : "");
}

const char *why_slice_word(const struct roost_ext_event *e)
{
	static const char *const verdicts[ROOST_EXT_VERDICT_COUNT] = {
		[ROOST_EXT_OUTSIDE] = "outside", [ROOST_EXT_GRANT] = "granted", [ROOST_EXT_HOLD] = "held",
		[ROOST_EXT_OVER] = "over", [ROOST_EXT_REFUSE_OFF] = "refused-off",
		[ROOST_EXT_REFUSE_SPENT] = "refused-spent", [ROOST_EXT_REFUSE_BLOCKED] = "refused-overruns",
		[ROOST_EXT_REFUSE_BUDGET] = "refused-budget",
	};
	static const char *const ends[ROOST_EXT_END_COUNT] = {
		[ROOST_EXT_END_NONE] = "none", [ROOST_EXT_END_GIVEN_BACK] = "given-back",
		[ROOST_EXT_END_EXPIRED] = "expired", [ROOST_EXT_END_CUT] = "cut-short",
	};

	if (e->end)
		return e->end < ROOST_EXT_END_COUNT ? ends[e->end] : "?";
	return e->verdict < ROOST_EXT_VERDICT_COUNT ? verdicts[e->verdict] : "?";
}

void why_slice_line(const struct roost_ext_event *e, u64 start_ns, char *buf, size_t size)
{
	static const struct {
		u32 verdict, end;
		const char *text;
	} words[] = {
		{ ROOST_EXT_GRANT, 0, "granted more time, it is in a critical section" },
		{ ROOST_EXT_REFUSE_OFF, 0, "refused more time: slice-ext is off" },
		{ ROOST_EXT_REFUSE_SPENT, 0, "refused more time: it had its grant in this section" },
		{ ROOST_EXT_REFUSE_BLOCKED, 0, "refused more time: it overran too often" },
		{ ROOST_EXT_REFUSE_BUDGET, 0, "refused more time: grants have used their share of this CPU" },
		{ 0, ROOST_EXT_END_GIVEN_BACK, "gave the rest of its grant back" },
		{ 0, ROOST_EXT_END_EXPIRED, "ran its grant to the end" },
		{ 0, ROOST_EXT_END_CUT, "lost its grant, it blocked or a higher class came" },
	};
	u64 at_us = e->now_ns > start_ns ? (e->now_ns - start_ns) / 1000 : 0;
	const char *text = "?";
	char task[17], spent[40] = "";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].verdict == e->verdict && words[i].end == e->end)
			text = words[i].text;
	why_printable(e->comm, task);
	if (e->end)
		snprintf(spent, sizeof(spent), " after %llu.%llu us", e->spent_ns / 1000, e->spent_ns % 1000 / 100);
	snprintf(buf, size, "%4llu.%06llu  %s[%u] on CPU %d %s%s", at_us / 1000000, at_us % 1000000, task, e->pid, e->cpu,
		 text, spent);
}
