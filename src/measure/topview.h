/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `roost top` shows, drawn into a grid of characters: no terminal is needed to draw, or to test it, on any machine and
 * any size of screen.
 */
#ifndef ROOST_MEASURE_TOPVIEW_H
#define ROOST_MEASURE_TOPVIEW_H

#include "policy/abi.h"

/* How a cell looks; the terminal makes colours of it. */
enum top_look { LOOK_PLAIN, LOOK_DIM, LOOK_BOLD, LOOK_BUSY, LOOK_CROWDED, LOOK_SPIN, LOOK_GRACE, LOOK_RT, LOOK_SELECTED, LOOK_WARN };

struct top_cell {
	char c;
	unsigned char look;
};

struct top_canvas {
	int rows, cols;
	struct top_cell *cell;	/* rows * cols */
};

struct top_data {
	const struct roost_machine *machine;
	const struct roost_cpu *cpus;
	const struct roost_llc *llcs;
	const struct roost_llc_word *words;
	const struct roost_knobs *knobs;
	const struct roost_stats *since;	/* what happened in the last interval */
	double interval_s;
	u64 now_ns;
	const char *kernel;
	int writable;
	/* what the user does */
	unsigned selected;			/* knob */
	const char *edit;			/* the new value being typed, or NULL */
	const char *message;			/* a refusal, or NULL */
};

int top_canvas_init(struct top_canvas *c, int rows, int cols);
void top_canvas_free(struct top_canvas *c);
void top_draw(struct top_canvas *c, const struct top_data *d);

/* One character for what a CPU does. */
char top_cpu_state(const struct top_data *d, u32 cpu, enum top_look *look);

#endif
