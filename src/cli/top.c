/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.c - `roost top`: the running roost on a full screen. The drawing is src/measure/topview.c; here are the terminal, the
 * keys and the ways out: whatever ends this, but SIGKILL, gives the terminal back as it was.
 */
#include "cli/cli.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/running.h"
#include "measure/topview.h"
#include "run/counters.h"
#include "run/knobs.h"

#define EDIT_MAX 31

struct top {
	struct cli *cli;
	struct roost_view *view;
	struct roost_stats before, since;
	u64 before_ns;
	double interval_s;
	char kernel[80];
	char edit[EDIT_MAX + 1], message[KNOB_REFUSAL_MAX];
	int editing, quit;
	unsigned selected;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = sig;
}

/* A bug must not leave a broken terminal beside the core dump. */
static void on_crash(int sig)
{
	static const char restore[] = "\033[?1049l\033[?25h\033[0m\r\n";

	if (write(STDOUT_FILENO, restore, sizeof(restore) - 1) < 0)
		_exit(1);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT }, crashes[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };
	struct sigaction a = { .sa_handler = on_signal };

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &a, NULL);
	a.sa_handler = on_crash;
	a.sa_flags = (int)SA_RESETHAND;
	for (unsigned i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &a, NULL);
}

/* ---- drawing ---- */

static void start_screen(void)
{
	static const struct { short look, color; } pairs[] = {
		{ LOOK_BUSY, COLOR_GREEN }, { LOOK_CROWDED, COLOR_YELLOW }, { LOOK_SPIN, COLOR_CYAN },
		{ LOOK_GRACE, COLOR_BLUE }, { LOOK_RT, COLOR_RED }, { LOOK_WARN, COLOR_RED },
	};

	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(50);
	timeout(0);
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		init_pair(pairs[i].look, pairs[i].color, -1);
}

static attr_t attributes(unsigned char look)
{
	attr_t color = has_colors() ? COLOR_PAIR(look) : A_NORMAL;

	switch (look) {
	case LOOK_PLAIN: return A_NORMAL;
	case LOOK_DIM: return A_DIM;
	case LOOK_BOLD: return A_BOLD;
	case LOOK_SELECTED: return A_REVERSE;
	case LOOK_GRACE:
	case LOOK_RT:
	case LOOK_CROWDED: return color | A_BOLD;
	default: return color;
	}
}

static void draw(struct top *t)
{
	struct roost_knobs knobs = *t->view->knobs;
	struct top_data d = { .machine = t->view->machine, .cpus = t->view->cpus, .llcs = t->view->llcs, .words = t->view->words,
			      .knobs = &knobs, .since = &t->since, .interval_s = t->interval_s, .now_ns = running_now_ns(),
			      .kernel = t->kernel, .writable = t->view->writable, .selected = t->selected,
			      .edit = t->editing ? t->edit : NULL, .message = t->message[0] ? t->message : NULL };
	struct top_canvas c;

	if (top_canvas_init(&c, LINES, COLS))
		return;
	top_draw(&c, &d);
	for (int row = 0; row < c.rows; row++)
		for (int col = 0; col < c.cols; col++) {
			const struct top_cell *cell = &c.cell[row * c.cols + col];

			mvaddch(row, col, (chtype)(unsigned char)cell->c | attributes(cell->look));
		}
	top_canvas_free(&c);
	refresh();
}

static void sample(struct top *t, u64 now)
{
	struct roost_stats sum;

	counters_sum(&sum, t->view->stats, t->view->machine->nr_cpu_ids);
	counters_since(&t->since, &sum, &t->before);
	t->interval_s = (double)(now - t->before_ns) / 1e9;
	t->before = sum;
	t->before_ns = now;
}

/* ---- keys ---- */

/* One assignment, checked as `roost set` checks it: all or nothing. */
static void assign(struct top *t, const char *value)
{
	struct roost_knobs k = *t->view->knobs;
	char text[80], *list[] = { text };

	snprintf(text, sizeof(text), "%s=%s", knob_table[t->selected].key, value);
	t->message[0] = 0;
	if (!knobs_assign(&k, list, 1, t->message))
		knobs_copy(t->view->knobs, &k);
}

static void key_while_editing(struct top *t, int key)
{
	size_t n = strlen(t->edit);

	if (key == '\n' || key == KEY_ENTER) {
		t->editing = 0;
		assign(t, t->edit);
	} else if (key == 27) {
		t->editing = 0;
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n) {
		t->edit[n - 1] = 0;
	} else if (key > ' ' && key < 127 && n < EDIT_MAX) {
		t->edit[n] = (char)key;
		t->edit[n + 1] = 0;
	}
}

static void begin_edit(struct top *t)
{
	const struct knob *k = &knob_table[t->selected];

	if (!t->view->writable) {
		snprintf(t->message, sizeof(t->message), "only the user who may load roost can change knobs (root)");
		return;
	}
	if (k->kind == KNOB_BOOL) {
		assign(t, knob_get(t->view->knobs, k) ? "off" : "on");
		return;
	}
	t->editing = 1;
	t->edit[0] = 0;
}

static void key_pressed(struct top *t, int key)
{
	if (key == KEY_RESIZE)
		return;
	t->message[0] = 0;
	if (t->editing) {
		key_while_editing(t, key);
		return;
	}
	switch (key) {
	case 'q':
	case 'Q':
		t->quit = 1;
		break;
	case KEY_UP:
	case 'k':
		t->selected = (t->selected + (unsigned)knob_count - 1) % (unsigned)knob_count;
		break;
	case KEY_DOWN:
	case 'j':
		t->selected = (t->selected + 1) % (unsigned)knob_count;
		break;
	case '\n':
	case KEY_ENTER:
	case ' ':
		begin_edit(t);
		break;
	case 'd':
		if (t->view->writable) {
			char value[KNOB_TEXT_MAX];

			assign(t, knob_format(&knob_table[t->selected], knob_table[t->selected].def, value));
		}
		break;
	}
}

/* Draws by the interval, and at once after a key or a change of size. Returns how roost ended, or 0. */
static int loop(struct top *t, u64 interval_ns)
{
	u64 next = running_now_ns();

	for (;;) {
		u64 now = running_now_ns();
		int key;

		if (stop || t->quit)
			return CLI_DONE;
		if (now >= next) {
			if (!running_still(t->view))
				return -1;
			sample(t, now);
			next = now + interval_ns;
		}
		draw(t);
		timeout((int)((next - now) / 1000000) + 1);
		key = getch();
		while (key != ERR && !t->quit) {
			key_pressed(t, key);
			timeout(0);
			key = getch();
		}
	}
}

int cmd_top(struct cli *cli)
{
	struct top t = { .cli = cli };
	struct utsname u;
	SCREEN *screen;
	int code;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cli_refuse(cli, "stdin and stdout must be a terminal; 'roost stat --interval 1s' prints lines instead");
	code = running_open(cli, &t.view, true);
	if (code)
		return code;
	uname(&u);
	snprintf(t.kernel, sizeof(t.kernel), "%.16s %.60s", u.sysname, u.release);
	counters_sum(&t.before, t.view->stats, t.view->machine->nr_cpu_ids);
	t.before_ns = running_now_ns();
	catch_signals();
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		roost_close(t.view);
		return cli_fail(cli, "the terminal '%s' is not known here; set TERM", getenv("TERM") ? getenv("TERM") : "");
	}
	start_screen();
	code = loop(&t, opt_u64(cli, OPT_REFRESH));
	endwin();
	delscreen(screen);
	if (code < 0)
		code = running_ended(cli, t.view);
	roost_close(t.view);
	return code;
}
