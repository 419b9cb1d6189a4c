/* SPDX-License-Identifier: GPL-2.0-only */
/* Running a command and counting its tree: output, status, CPU time of all descendants, nothing left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/tree.h"

static struct tree_result sh(const char *script, uint64_t limit_ns)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct tree_command c = { .argv = argv, .limit_ns = limit_ns };
	struct tree_result r;

	assert_int_equal(tree_run(&c, &r), 0);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	return r;
}

static void output_and_status(void **state)
{
	struct tree_result r = sh("echo out; echo err >&2; exit 3", 0);

	assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 3);
	assert_string_equal(r.output, "out\nerr\n");
	free(r.output);
	r = sh("kill -9 $$", 0);
	assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == 9);
	assert_string_equal(r.output, "");
	free(r.output);
	/* Longer than is kept: the end is there. */
	r = sh("head -c 6000000 /dev/zero | tr '\\0' x; echo the end", 0);
	assert_true(r.output_len <= 2 * TREE_OUTPUT_MAX);
	assert_string_equal(r.output + r.output_len - 8, "the end\n");
	free(r.output);
	/* Closed output does not end the run. */
	r = sh("exec >&- 2>&-; sleep 0.2", 0);
	assert_true(r.seconds >= 0.2);
	free(r.output);
}

static void commands_that_cannot_run(void **state)
{
	char *missing[] = { "/no/such/program", NULL }, *dir[] = { "/", NULL };
	struct tree_command c = { .argv = missing };
	struct tree_result r;

	assert_int_equal(tree_run(&c, &r), -ENOENT);
	c.argv = dir;
	assert_int_equal(tree_run(&c, &r), -EACCES);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* CPU time of grandchildren nobody waited for is counted, and they are ended with the command. */
static void everything_is_counted_and_ended(void **state)
{
	struct tree_result r = sh("(setsid sh -c 'i=0; while :; do i=$((i+1)); done' &) ; sleep 0.6", 0);
	char marker[32], line[400];
	FILE *ps;

	assert_true(r.seconds > 0.5 && r.seconds < 10);
	assert_true(r.user_s + r.system_s > 0.05);
	free(r.output);
	snprintf(marker, sizeof(marker), "7%d.25", getpid());
	snprintf(line, sizeof(line), "setsid sleep %s & sleep %s & (sleep %s &) ; true", marker, marker, marker);
	r = sh(line, 0);
	free(r.output);
	snprintf(line, sizeof(line), "grep -lz '^%s$' /proc/[0-9]*/cmdline 2>/dev/null", marker);
	ps = popen(line, "r");
	assert_null(fgets(line, sizeof(line), ps));
	pclose(ps);
}

static void counts(void **state)
{
	struct tree_result r = sh("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01; done", 0);

	assert_true(r.switches >= 10);
	/* Where the kernel lets us: none of these may be negative or a guess. */
	assert_true(isnan(r.migrations) || r.migrations >= 0);
	assert_true(isnan(r.run_delay_s) || (r.run_delay_s > 0 && r.run_delay_s < 60));
	assert_true(isnan(r.instructions)); /* not asked for */
	print_message("switches %g migrations %g run delay %g s\n", r.switches, r.migrations, r.run_delay_s);
	free(r.output);
	/* Two that want the same CPU wait about half of the time each. */
	r = sh("for i in 1 2; do taskset -c 0 timeout 0.8 sh -c 'while :; do :; done' & done; wait", 0);
	assert_true(isnan(r.run_delay_s) || (r.run_delay_s > 0.5 && r.run_delay_s < 4 * r.seconds));
	free(r.output);
}

static void limits(void **state)
{
	struct tree_result r = sh("sleep 30", 300000000);

	assert_true(r.timed_out && r.seconds < 5);
	free(r.output);
	/* One that will not go. */
	r = sh("trap '' TERM; while :; do sleep 1; done", 200000000);
	assert_true(r.timed_out && r.seconds < 8);
	free(r.output);
}

static volatile sig_atomic_t stop;

static void on_alarm(int sig)
{
	stop = 1;
}

static int calls;

static int not_alive(void *ctx)
{
	return ++calls > 2;
}

static void stopping(void **state)
{
	char *argv[] = { "sleep", "30", NULL };
	struct tree_command c = { .argv = argv, .stop = &stop };
	struct tree_result r;

	signal(SIGALRM, on_alarm);
	alarm(1);
	assert_int_equal(tree_run(&c, &r), 0);
	assert_true(r.stopped && r.seconds < 5);
	free(r.output);
	c.stop = NULL;
	c.alive = not_alive;
	assert_int_equal(tree_run(&c, &r), 0);
	assert_true(r.stopped && r.seconds < 5);
	free(r.output);
}

/* The caller's own child outlives the run; when it dies meanwhile its status is handed over. */
static void a_spared_child(void **state)
{
	char *argv[] = { "sh", "-c", "(setsid sleep 60 &); sleep 0.3", NULL };
	struct tree_spare spare = { .pid = fork() };
	struct tree_command c = { .argv = argv, .spare = &spare };
	struct tree_result r;

	if (!spare.pid) {
		usleep(900000);
		_exit(7);
	}
	assert_int_equal(tree_run(&c, &r), 0);
	free(r.output);
	assert_false(spare.ended);
	assert_int_equal(waitpid(spare.pid, NULL, WNOHANG), 0);
	argv[2] = "sleep 1.5";
	assert_int_equal(tree_run(&c, &r), 0);
	free(r.output);
	assert_true(spare.ended && WEXITSTATUS(spare.status) == 7 && r.seconds >= 1.5);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status),
		cmocka_unit_test(commands_that_cannot_run),
		cmocka_unit_test(everything_is_counted_and_ended),
		cmocka_unit_test(counts),
		cmocka_unit_test(limits),
		cmocka_unit_test(stopping),
		cmocka_unit_test(a_spared_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
