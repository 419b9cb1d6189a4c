/* SPDX-License-Identifier: GPL-2.0-only */
/* idle-spin: windows, budget, adapting, credit; and the haltpoll back end on a tree of files. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/spin.h"
#include "run/haltpoll.h"
#include "run/idle_spin.h"

#define US 1000ull
#define MS 1000000ull
#define S 1000000000ull

static bool stopped;

static u64 window(struct roost_spin *s, u64 limit, u64 pct, u64 adapt, u64 now)
{
	return roost_spin_window(s, limit, pct, adapt, now, &stopped);
}

/* One window of its whole length. */
static u64 spin_whole(struct roost_spin *s, u64 limit, u64 pct, u64 adapt, u64 now, enum roost_spin_end how)
{
	u64 w = window(s, limit, pct, adapt, now);

	if (!w)
		return 0;
	s->start_ns = now;
	return roost_spin_close(s, how, now + w);
}

static void off_is_off(void **state)
{
	struct roost_spin s = { 0 };

	assert_int_equal(window(&s, 0, 20, 1, 5 * S), 0);
	assert_false(stopped);
	assert_int_equal(window(&s, 50 * US, 20, 1, 5 * S), 50 * US);
	assert_int_equal(window(&s, 0, 20, 0, 5 * S), 0);
	(void)state;
}

/* However the windows follow each other, a second holds no more than its share; and the next begins anew. */
static void budget(void **state)
{
	static const u64 pcts[] = { 1, 20, 50, 99 };

	for (size_t i = 0; i < 4; i++) {
		struct roost_spin s = { 0 };
		u64 now = 10 * S, begin = now, took = 0;

		while (now < begin + S) {
			u64 w = spin_whole(&s, 3 * MS, pcts[i], 0, now, ROOST_SPIN_MISS);

			took += w;
			now += w + 10 * US;
		}
		assert_true(took <= pcts[i] * S / 100);
		assert_true(took >= pcts[i] * S / 100 - 3 * MS);
		assert_true(window(&s, 3 * MS, pcts[i], 0, now + S) == 3 * MS);
	}
	struct roost_spin s = { 0 };

	assert_int_equal(window(&s, MS, 0, 1, 10 * S), 0);
	assert_true(stopped);
	(void)state;
}

static void misses_shrink_to_nothing(void **state)
{
	struct roost_spin s = { 0 };
	u64 now = 10 * S, before = ~0ull, w;
	int n = 0;

	while ((w = spin_whole(&s, 200 * US, 100, 1, now, ROOST_SPIN_MISS))) {
		assert_true(w < before);
		before = w;
		now += MS;
		assert_true(++n < 20);
	}
	assert_int_equal(n, ROOST_SPIN_STEPS + 1);
	/* without adapting: always the whole */
	assert_int_equal(window(&s, 200 * US, 100, 0, now), 200 * US);
	/* a new value of the knob starts anew */
	assert_int_equal(window(&s, 100 * US, 100, 1, now), 100 * US);
	(void)state;
}

static void work_grows_it(void **state)
{
	struct roost_spin s = { .limit_ns = 200 * US, .window_ns = 0 };

	roost_spin_work(&s, 201 * US);          /* no window would have caught it */
	assert_int_equal(s.window_ns, 0);
	roost_spin_work(&s, 30 * US);
	assert_int_equal(s.window_ns, 60 * US);
	roost_spin_work(&s, 50 * US);           /* caught already */
	assert_int_equal(s.window_ns, 60 * US);
	roost_spin_work(&s, 150 * US);
	assert_int_equal(s.window_ns, 200 * US); /* never beyond idle-spin */
	s.start_ns = 10 * S;
	assert_int_equal(roost_spin_close(&s, ROOST_SPIN_HIT, 10 * S + 10 * US), 10 * US);
	assert_int_equal(s.window_ns, 200 * US);
	s.start_ns = 10 * S;
	roost_spin_close(&s, ROOST_SPIN_CUT, 10 * S + 10 * US);
	assert_int_equal(s.window_ns, 200 * US);
	(void)state;
}

/* Ten minutes with something to do every 5 ms and never a hit: the thread is woken once in two seconds. */
static void an_idle_machine_stays_idle(void **state)
{
	struct roost_spin s = { 0 };
	int woken = 0, i;

	for (u64 now = 10 * S; now < 610 * S; now += 5 * MS)
		woken += roost_spin_may_nudge(&s, now);
	assert_true(woken <= 300 && woken >= 298);
	/* work that a window could catch earns one in four, and no hoard of them; work that none could catch earns none */
	s = (struct roost_spin){ .limit_ns = 200 * US, .credit_ns = 700 * S };
	for (i = 0; i < 100; i++)
		roost_spin_work(&s, 201 * US);
	assert_false(roost_spin_may_nudge(&s, 700 * S + 1));
	for (i = 1; i <= 3; i++) {
		roost_spin_work(&s, 100 * US);
		assert_false(roost_spin_may_nudge(&s, 700 * S + 1));
	}
	roost_spin_work(&s, 100 * US);
	assert_true(roost_spin_may_nudge(&s, 700 * S + 1));
	assert_false(roost_spin_may_nudge(&s, 700 * S + 1));
	for (i = 0; i < 100; i++)
		roost_spin_work(&s, 100 * US);
	for (i = 0; roost_spin_may_nudge(&s, 700 * S + 1); i++)
		assert_true(i < 100);
	assert_int_equal(i, ROOST_SPIN_CREDIT_MAX);
	(void)state;
}

/* ---- haltpoll ---- */

static char root[64];

#define IDLE "/sys/devices/system/cpu/cpuidle/"
#define PARM "/sys/module/haltpoll/parameters/"

static void put(const char *file, const char *text)
{
	char command[512];
	FILE *f;

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s%s)", root, file);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s%s", root, file);
	f = fopen(command, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void is(const char *file, const char *want)
{
	char path[256], text[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, want);
}

static int guest(void **state)
{
	strcpy(root, "/tmp/roost-haltpoll.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("/run/x", "");
	put(IDLE "available_governors", "menu teo haltpoll\n");
	put(IDLE "current_governor", "menu\n");
	put(IDLE "current_driver", "haltpoll\n");
	put(PARM "guest_halt_poll_ns", "200000\n");
	put(PARM "guest_halt_poll_allow_shrink", "Y\n");
	put(PARM "guest_halt_poll_grow", "3\n");
	put(PARM "guest_halt_poll_shrink", "5\n");
	put(PARM "guest_halt_poll_grow_start", "40000\n");
	(void)state;
	return 0;
}

static int gone(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	(void)state;
	return system(command) ? -1 : 0;
}

static void as_found(void)
{
	is(IDLE "current_governor", "menu");
	is(PARM "guest_halt_poll_ns", "200000");
	is(PARM "guest_halt_poll_allow_shrink", "Y");
	is(PARM "guest_halt_poll_grow", "3");
	is(PARM "guest_halt_poll_shrink", "5");
	is(PARM "guest_halt_poll_grow_start", "40000");
	assert_false(haltpoll_changed(root));
}

static void set_and_put_back(void **state)
{
	char text[512];

	assert_int_equal(haltpoll_set(root, 220 * US, true, text, sizeof(text)), 0);
	is(IDLE "current_governor", "haltpoll");
	is(PARM "guest_halt_poll_ns", "220000");
	is(PARM "guest_halt_poll_grow_start", "50000");
	assert_true(haltpoll_changed(root));
	/* a change, and one by a run that finds another's record: what was found first counts */
	assert_int_equal(haltpoll_set(root, 20 * US, false, text, sizeof(text)), 0);
	is(PARM "guest_halt_poll_ns", "20000");
	is(PARM "guest_halt_poll_allow_shrink", "N");
	is(PARM "guest_halt_poll_grow_start", "20000");
	assert_int_equal(haltpoll_restore(root, text, sizeof(text)), 0);
	as_found();
	assert_int_equal(haltpoll_restore(root, text, sizeof(text)), 0);
	(void)state;
}

static void a_failure_puts_all_back(void **state)
{
	char text[512] = "", path[256];

	/* can be read, not written: a directory in its place */
	snprintf(path, sizeof(path), "%s" PARM "guest_halt_poll_grow_start", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_true(haltpoll_set(root, 220 * US, true, text, sizeof(text)) < 0);
	assert_true(*text);
	is(IDLE "current_governor", "menu");
	is(PARM "guest_halt_poll_ns", "200000");
	(void)state;
}

static void a_torn_record_is_not_believed(void **state)
{
	char text[512] = "";

	put(HALTPOLL_RECORD, "200000\nY\n3");
	assert_true(haltpoll_restore(root, text, sizeof(text)) < 0);
	assert_true(*text);
	is(PARM "guest_halt_poll_ns", "200000");
	assert_true(haltpoll_changed(root));
	(void)state;
}

static void which_back_end(void **state)
{
	struct roost_knobs k = { .idle_spin_ns = 50 * US };
	char why[256];

	assert_int_equal(idle_spin_backend(root, &k, why, sizeof(why)), ROOST_BACKEND_HALTPOLL);
	k.idle_spin_backend = ROOST_BACKEND_SPINNER;
	assert_int_equal(idle_spin_backend(root, &k, why, sizeof(why)), ROOST_BACKEND_SPINNER);
	put(IDLE "current_driver", "none\n");
	k.idle_spin_backend = ROOST_BACKEND_AUTO;
	assert_int_equal(idle_spin_backend(root, &k, why, sizeof(why)), ROOST_BACKEND_SPINNER);
	k.idle_spin_backend = ROOST_BACKEND_HALTPOLL;
	assert_int_equal(idle_spin_backend(root, &k, why, sizeof(why)), -ENOTSUP);
	assert_non_null(strstr(why, "driver"));
	put(IDLE "available_governors", "menu haltpolling\n");
	assert_int_equal(idle_spin_backend(root, &k, why, sizeof(why)), -ENOTSUP);
	assert_non_null(strstr(why, "governor"));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_is_off),
		cmocka_unit_test(budget),
		cmocka_unit_test(misses_shrink_to_nothing),
		cmocka_unit_test(work_grows_it),
		cmocka_unit_test(an_idle_machine_stays_idle),
		cmocka_unit_test_setup_teardown(set_and_put_back, guest, gone),
		cmocka_unit_test_setup_teardown(a_failure_puts_all_back, guest, gone),
		cmocka_unit_test_setup_teardown(a_torn_record_is_not_believed, guest, gone),
		cmocka_unit_test_setup_teardown(which_back_end, guest, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
