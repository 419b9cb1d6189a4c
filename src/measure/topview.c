/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of `roost top`; topview.h. From above: a title, the machine, rates, rules beside knobs, the keys. */
#include "measure/topview.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/counters.h"
#include "run/knobs.h"

#define MIN_COLS 40
#define MIN_ROWS 10

int top_canvas_init(struct top_canvas *c, int rows, int cols)
{
	c->rows = rows > 0 ? rows : 1;
	c->cols = cols > 0 ? cols : 1;
	c->cell = calloc((size_t)c->rows * (size_t)c->cols, sizeof(*c->cell));
	return c->cell ? 0 : -1;
}

void top_canvas_free(struct top_canvas *c)
{
	free(c->cell);
	c->cell = NULL;
}

static void put(struct top_canvas *c, int row, int col, char ch, enum top_look look)
{
	if (row >= 0 && row < c->rows && col >= 0 && col < c->cols)
		c->cell[row * c->cols + col] = (struct top_cell){ ch, (unsigned char)look };
}

/* Returns the column behind the text. Nothing is drawn outside the canvas. */
static int text(struct top_canvas *c, int row, int col, enum top_look look, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static int text(struct top_canvas *c, int row, int col, enum top_look look, const char *fmt, ...)
{
	char buf[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	for (const char *p = buf; *p; p++)
		put(c, row, col++, *p >= ' ' && *p < 127 ? *p : '?', look);
	return col;
}

/* ---- the machine ---- */

char top_cpu_state(const struct top_data *d, u32 i, enum top_look *look)
{
	const struct roost_cpu *cpu = &d->cpus[i];
	const struct roost_llc_word *w;
	u64 bit = 1ull << (i % 64);

	*look = LOOK_DIM;
	if (!(cpu->flags & ROOST_CPU_ONLINE) || cpu->word >= d->machine->nr_words)
		return 'x';
	w = &d->words[cpu->word];
	if (cpu->flags & ROOST_CPU_RT_HELD) {
		*look = LOOK_RT;
		return 'R';
	}
	if (w->spin & bit) {
		*look = LOOK_SPIN;
		return '~';
	}
	if (!cpu->nr_runnable)
		return w->idle & bit ? '.' : '-';
	if (cpu->nr_runnable > 1) {
		*look = LOOK_CROWDED;
		return cpu->nr_runnable > 9 ? '+' : (char)('0' + cpu->nr_runnable);
	}
	if (cpu->nr_idle_class) {
		*look = LOOK_PLAIN;
		return 'i';
	}
	if (d->knobs->idle_grace_ns && cpu->idle_exit_ns && d->now_ns < cpu->idle_exit_ns + d->knobs->idle_grace_ns) {
		*look = LOOK_GRACE;
		return 'g';
	}
	*look = LOOK_BUSY;
	return '#';
}

/* Columns that the CPUs of one LLC take, "[##][##]" or "####". */
static int llc_width(const struct top_data *d, u32 llc, int brackets)
{
	int width = 0;

	for (u32 i = 0; i < d->machine->nr_cpu_ids; i++)
		if (d->cpus[i].llc == llc && d->cpus[i].nr_siblings)
			width += 1 + (brackets && d->cpus[i].siblings[0] == i ? 2 : 0);
	return width;
}

static void draw_llc(struct top_canvas *c, const struct top_data *d, u32 llc, int row, int col, int brackets)
{
	for (u32 i = 0; i < d->machine->nr_cpu_ids; i++) {
		const struct roost_cpu *cpu = &d->cpus[i];
		enum top_look look;

		/* a core is drawn at its first CPU, with all its threads */
		if (cpu->llc != llc || !cpu->nr_siblings || cpu->siblings[0] != i)
			continue;
		if (brackets)
			put(c, row, col++, '[', LOOK_DIM);
		for (u32 s = 0; s < cpu->nr_siblings && s < ROOST_MAX_SIBLINGS; s++) {
			char ch = top_cpu_state(d, cpu->siblings[s], &look);

			put(c, row, col++, ch, look);
		}
		if (brackets)
			put(c, row, col++, ']', LOOK_DIM);
	}
}

/* For machines that do not fit: how many of an LLC's CPUs do what. */
static void draw_llc_short(struct top_canvas *c, const struct top_data *d, u32 llc, int row, int col)
{
	unsigned busy = 0, idle = 0, waiting = 0;
	enum top_look look;

	for (u32 i = 0; i < d->machine->nr_cpu_ids; i++)
		if (d->cpus[i].llc == llc && (d->cpus[i].flags & ROOST_CPU_ONLINE)) {
			char s = top_cpu_state(d, i, &look);

			if (s == '.' || s == '-')
				idle++;
			else
				busy++;
			waiting += d->cpus[i].nr_queued;
		}
	text(c, row, col, busy ? LOOK_BUSY : LOOK_DIM, "%3u/%-3u%s", busy, busy + idle, waiting ? "+" : "");
}

/* Draws the machine into at most @rows rows; returns how many it took. */
static int draw_machine(struct top_canvas *c, const struct top_data *d, int top, int rows)
{
	u32 n = d->machine->nr_llcs;
	int label = 8, widest[2] = { 0, 0 }, form, cell = 0, columns = 1;

	for (form = 0; form < 2; form++)
		for (u32 l = 0; l < n; l++) {
			int w = llc_width(d, l, !form);

			widest[form] = w > widest[form] ? w : widest[form];
		}
	for (form = 0; form < 3; form++) {
		cell = label + (form < 2 ? widest[form] : 9) + 2;
		columns = c->cols / cell ? c->cols / cell : 1;
		if (cell <= c->cols && ((int)n + columns - 1) / columns <= rows)
			break;
	}
	if (form == 3)
		form = 2;
	/* as few columns as will do: LLCs one under the other are easier to read */
	while (columns > 1 && ((int)n + columns - 2) / (columns - 1) <= rows)
		columns--;
	for (u32 l = 0; l < n; l++) {
		int per = ((int)n + columns - 1) / columns, row = (int)l % per, col = (int)l / per * cell;

		if (row >= rows)
			continue;
		text(c, top + row, col, LOOK_DIM, "N%u L%u", d->llcs[l].node, l);
		if (form < 2)
			draw_llc(c, d, l, top + row, col + label, !form);
		else
			draw_llc_short(c, d, l, top + row, col + label);
	}
	n = (n + (u32)columns - 1) / (u32)columns;
	return (int)n < rows ? (int)n : rows;
}

/* ---- rates ---- */

static const char *count_text(double v, char buf[static 16])
{
	if (v >= 1e9)
		snprintf(buf, 16, "%.2fG", v / 1e9);
	else if (v >= 1e6)
		snprintf(buf, 16, "%.2fM", v / 1e6);
	else if (v >= 1e4)
		snprintf(buf, 16, "%.1fk", v / 1e3);
	else
		snprintf(buf, 16, "%.0f", v);
	return buf;
}

static const char *time_text(double ns, char buf[static 16])
{
	if (ns >= 1e9)
		snprintf(buf, 16, "%.2fs", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(buf, 16, "%.1fms", ns / 1e6);
	else
		snprintf(buf, 16, "%.1fus", ns / 1e3);
	return buf;
}

static double rate(const struct top_data *d, u64 n)
{
	return d->interval_s > 0 ? (double)n / d->interval_s : 0;
}

static void draw_rates(struct top_canvas *c, const struct top_data *d, int row)
{
	const struct roost_stats *s = d->since;
	u64 distance[ROOST_DIST_COUNT] = { 0 }, all = 0;
	char a[16], b[16], e[16], f[16];
	int col;

	for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
		for (unsigned k = 0; k < ROOST_DIST_COUNT; k++) {
			distance[k] += s->rule_distance[r][k];
			all += s->rule_distance[r][k];
		}
	text(c, row, 0, LOOK_PLAIN, "wakeups %s/s  switches %s/s  kicks %s/s  preempted %s/s", count_text(rate(d, s->nr_wakeups), a),
	     count_text(rate(d, s->nr_switches), b), count_text(rate(d, s->nr_kicks_idle + s->nr_kicks_preempt), e),
	     count_text(rate(d, s->nr_preempt), f));
	col = text(c, row + 1, 0, LOOK_PLAIN, "moves:");
	for (unsigned k = 0; k < ROOST_DIST_COUNT; k++) {
		enum top_look look = k > ROOST_DIST_LLC && distance[k] ? LOOK_WARN : LOOK_PLAIN;

		col = text(c, row + 1, col, look, " %s %s/s", k ? distance_names[k] : "none", count_text(rate(d, distance[k]), a));
		if (distance[k])
			col = text(c, row + 1, col, look, " %.0f%%", 100.0 * (double)distance[k] / (double)all);
	}
	text(c, row + 2, 0, LOOK_PLAIN, "waits: p50 %s p95 %s p99 %s, longest %s", time_text(counters_wait_quantile_ns(s, .5), a),
	     time_text(counters_wait_quantile_ns(s, .95), b), time_text(counters_wait_quantile_ns(s, .99), e),
	     time_text((double)s->wait_max_ns, f));
	if (d->knobs->idle_spin_ns)
		text(c, row + 2, 50, LOOK_SPIN, "spins %.1f CPUs, %s kicks saved/s", rate(d, s->spin_ns) / 1e9,
		     count_text(rate(d, s->spin_kicks_avoided), f));
}

/* ---- rules and knobs ---- */

static void draw_rules(struct top_canvas *c, const struct top_data *d, int row, int rows, int cols)
{
	u64 left[ROOST_RULE_COUNT], total = 0;
	char a[16];

	memcpy(left, d->since->rule, sizeof(left));
	left[ROOST_RULE_NONE] = 0;
	for (unsigned r = 0; r < ROOST_RULE_COUNT; r++)
		total += left[r];
	text(c, row, 0, LOOK_BOLD, "%-18s%9s%7s", "rule", "a second", "share");
	for (int i = 1; i < rows; i++) {
		unsigned best = 0;
		int bar;

		for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
			if (left[r] > left[best])
				best = r;
		if (!left[best])
			return;
		text(c, row + i, 0, LOOK_PLAIN, "%-18s%9s%6.1f%%", rule_names[best].name, count_text(rate(d, left[best]), a),
		     100.0 * (double)left[best] / (double)total);
		bar = (int)((double)left[best] / (double)total * (cols - 36) + 0.5);
		for (int k = 0; k < bar; k++)
			put(c, row + i, 35 + k, '=', LOOK_BUSY);
		left[best] = 0;
	}
}

static void draw_knobs(struct top_canvas *c, const struct top_data *d, int row, int rows, int col)
{
	int first = (int)d->selected - (rows - 2);

	text(c, row, col, LOOK_BOLD, "knob%s", d->writable ? "" : " (may not be changed by this user)");
	if (first < 0)
		first = 0;
	for (int i = 0; i + 1 < rows && (size_t)(first + i) < knob_count; i++) {
		const struct knob *k = &knob_table[first + i];
		int chosen = first + i == (int)d->selected;
		u64 v = knob_get(d->knobs, k);
		char value[KNOB_TEXT_MAX];
		const char *shown = chosen && d->edit ? d->edit : knob_format(k, v, value);
		enum top_look look = chosen ? LOOK_SELECTED : v != k->def ? LOOK_BOLD : LOOK_PLAIN;

		text(c, row + 1 + i, col, look, "%c%-21s %-12s%s", chosen ? '>' : ' ', k->key, shown, chosen && d->edit ? "_" : "");
	}
}

static void draw_keys(struct top_canvas *c, const struct top_data *d)
{
	int row = c->rows - 1;
	char range[2 * KNOB_TEXT_MAX];

	if (d->message)
		text(c, row, 0, LOOK_WARN, "%s", d->message);
	else if (d->edit)
		text(c, row, 0, LOOK_DIM, "%s: %s; Enter sets it, Esc leaves it", knob_table[d->selected].key,
		     knob_range(&knob_table[d->selected], range));
	else
		text(c, row, 0, LOOK_DIM, "q quit%s  . idle  # busy  2 queued  ~ spins  g grace  R real-time  x offline",
		     d->writable ? "  Up/Down Enter: knobs" : "");
}

void top_draw(struct top_canvas *c, const struct top_data *d)
{
	unsigned online = 0, busy = 0;
	int row, machine_rows, rest, split;

	for (int i = 0; i < c->rows * c->cols; i++)
		c->cell[i] = (struct top_cell){ ' ', LOOK_PLAIN };
	if (c->cols < MIN_COLS || c->rows < MIN_ROWS) {
		text(c, 0, 0, LOOK_WARN, "needs %dx%d", MIN_COLS, MIN_ROWS);
		return;
	}
	for (u32 i = 0; i < d->machine->nr_cpu_ids; i++)
		if (d->cpus[i].flags & ROOST_CPU_ONLINE) {
			online++;
			busy += d->cpus[i].nr_runnable > 0;
		}
	text(c, 0, 0, LOOK_BOLD, "roost: %u of %u CPUs busy, %u LLC%s, %u node%s%s  %s", busy, online, d->machine->nr_llcs,
	     d->machine->nr_llcs == 1 ? "" : "s", d->machine->nr_nodes, d->machine->nr_nodes == 1 ? "" : "s",
	     d->machine->partial ? ", partial" : "", d->kernel);
	/* the machine may have all but what rates, some rules and the keys need */
	machine_rows = draw_machine(c, d, 1, c->rows > 22 ? c->rows - 16 : c->rows > 14 ? c->rows - 12 : 2);
	row = 1 + machine_rows;
	draw_rates(c, d, row);
	row += 3;
	rest = c->rows - 1 - row;
	split = c->cols >= 76 ? c->cols - 39 : c->cols;
	if (rest > 1 && split < c->cols) {
		draw_rules(c, d, row, rest, split);
		draw_knobs(c, d, row, rest, split);
	} else if (rest > 1) {
		draw_knobs(c, d, row, rest, 0);
	}
	draw_keys(c, d);
}
