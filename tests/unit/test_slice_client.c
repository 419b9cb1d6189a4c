/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libroost-slice against a server with maps of plain memory: registration, sections, grants made by hand
 * as the scheduler would, statistics, fork, threads that end in every way, limits, a roost that goes away.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "roost/slice.h"
#include "run/slice_server.h"
#include "slice/slot.h"

static char dir[] = "/tmp/roost-slice-XXXXXX";
static char path[64];
static struct slice_server *server;

/* The scheduler's side: what was published, mapped here too. */
static struct {
	pthread_mutex_t lock;
	struct {
		pid_t tgid;
		struct roost_slice_slot *slots;
		unsigned int nr_slots;
	} of[64];
	int fail_create;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int fake_create(void *ctx, unsigned int nr_slots)
{
	int fd;

	if (fake.fail_create)
		return -fake.fail_create;
	fd = memfd_create("slots", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, nr_slots * sizeof(struct roost_slice_slot)), 0);
	return fd;
}

static int fake_publish(void *ctx, pid_t tgid, int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < 64; i++) {
		if (fake.of[i].tgid)
			continue;
		fake.of[i].tgid = tgid;
		fake.of[i].nr_slots = (unsigned int)st.st_size / 64;
		fake.of[i].slots = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		break;
	}
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static void fake_withdraw(void *ctx, pid_t tgid)
{
	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < 64; i++) {
		if (fake.of[i].tgid != tgid)
			continue;
		munmap(fake.of[i].slots, fake.of[i].nr_slots * 64);
		memset(&fake.of[i], 0, sizeof(fake.of[i]));
	}
	pthread_mutex_unlock(&fake.lock);
}

static const struct slice_server_ops ops = { fake_create, fake_publish, fake_withdraw };

/* The slot that the scheduler finds for a thread, or NULL. */
static struct roost_slice_slot *find_slot(pid_t tgid, unsigned int tid)
{
	struct roost_slice_slot *found = NULL;

	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < 64 && !found; i++) {
		if (fake.of[i].tgid != tgid)
			continue;
		for (unsigned int n = 0; n < ROOST_SLICE_PROBES && !found; n++)
			if (fake.of[i].slots[(tid + n) & (fake.of[i].nr_slots - 1)].owner == tid)
				found = &fake.of[i].slots[(tid + n) & (fake.of[i].nr_slots - 1)];
	}
	pthread_mutex_unlock(&fake.lock);
	return found;
}

static struct roost_slice_slot *my_slot(void)
{
	return find_slot(getpid(), (unsigned int)gettid());
}

static int is_published(pid_t tgid)
{
	int yes = 0;

	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < 64; i++)
		yes |= fake.of[i].tgid == tgid;
	pthread_mutex_unlock(&fake.lock);
	return yes;
}

static void start_server(unsigned int max_total, unsigned int max_per_user)
{
	const struct slice_server_config config = { .path = path, .mode = 0600, .group = (gid_t)-1,
						    .max_total = max_total, .max_per_user = max_per_user };
	char error[256] = "";

	if (slice_server_start(&server, &config, &ops, NULL, error, sizeof(error)))
		fail_msg("%s", error);
}

static int up(void **state)
{
	setenv("ROOST_SLICE_SOCKET", path, 1);
	setenv("ROOST_SLICE", "roost", 1);
	fake.fail_create = 0;
	start_server(60, 60);
	return 0;
}

static int down(void **state)
{
	roost_slice_unregister();
	slice_server_stop(server);
	server = NULL;
	return 0;
}

static void unregistered_begin_and_end_do_nothing(void **state)
{
	char why[256];
	struct roost_slice_stats stats;

	roost_slice_begin();
	assert_int_equal(roost_slice_end(), 0);
	assert_int_equal(roost_slice_backend(), ROOST_SLICE_NONE);
	assert_int_equal(roost_slice_unregister(), -ENOENT);
	assert_int_equal(roost_slice_thread_stats(&stats), -ENOENT);
	assert_true(roost_slice_why(why, sizeof(why)) > 0);
	assert_non_null(strstr(why, "none: "));
	assert_int_equal(roost_slice_why(why, 5), (int)strlen("none: this thread is not registered"));
	assert_string_equal(why, "none");
}

static void begin_and_end_move_one_byte(void **state)
{
	struct roost_slice_slot *slot;

	assert_int_equal(roost_slice_register(), 0);
	assert_int_equal(roost_slice_register(), 0);
	assert_int_equal(roost_slice_backend(), ROOST_SLICE_ROOST);
	slot = my_slot();
	assert_non_null(slot);
	roost_slice_begin();
	assert_int_equal(slot->request, 1);
	assert_int_equal(roost_slice_end(), 0);
	assert_int_equal(slot->request, 0);
	assert_int_equal(roost_slice_unregister(), 0);
	assert_null(my_slot());
}

static void a_grant_is_seen_given_back_and_counted(void **state)
{
	struct roost_slice_stats stats;
	struct roost_slice_slot *slot;

	roost_slice_register();
	slot = my_slot();
	slot->asked += 2;
	slot->granted_nr++;
	roost_slice_begin();
	slot->granted = ROOST_SLICE_GRANTED;
	errno = 42;
	assert_int_equal(roost_slice_end(), 1);
	assert_int_equal(errno, 42);
	assert_int_equal(slot->granted, 0);
	assert_int_equal(roost_slice_end(), 0);
	assert_int_equal(roost_slice_thread_stats(&stats), 0);
	assert_int_equal(stats.asked, 2);
	assert_int_equal(stats.granted, 1);
	assert_int_equal(stats.given_back, 1);
	/* the next owner of the slot starts from nothing, the process keeps its sum */
	roost_slice_unregister();
	roost_slice_register();
	roost_slice_thread_stats(&stats);
	assert_int_equal(stats.given_back, 0);
	roost_slice_process_stats(&stats);
	assert_int_equal(stats.given_back, 1);
	assert_int_equal(stats.asked, 2);
}

static void a_spent_grant_gives_nothing_up(void **state)
{
	struct roost_slice_slot *slot;
	struct roost_slice_stats stats;

	roost_slice_register();
	slot = my_slot();
	roost_slice_begin();
	slot->granted = ROOST_SLICE_SPENT;
	slot->expired++;
	assert_int_equal(roost_slice_end(), 0);
	assert_int_equal(slot->granted, 0);
	roost_slice_thread_stats(&stats);
	assert_int_equal(stats.given_back, 0);
	assert_int_equal(stats.expired, 1);
}

/* What a child found, as its exit status. */
static int child_says(int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int child_is_unregistered(void)
{
	roost_slice_begin();
	if (roost_slice_end() || roost_slice_backend() != ROOST_SLICE_NONE || roost_slice_self_)
		return 1;
	if (roost_slice_register() || roost_slice_backend() != ROOST_SLICE_ROOST)
		return 2;
	roost_slice_begin();
	return roost_slice_end() ? 3 : 0;
}

static void a_child_starts_unregistered_and_spoils_nothing(void **state)
{
	struct roost_slice_slot *slot;

	roost_slice_register();
	slot = my_slot();
	roost_slice_begin();
	assert_int_equal(child_says(child_is_unregistered), 0);
	assert_int_equal(slot->request, 1);
	assert_int_equal(slot->owner, gettid());
	roost_slice_end();
	assert_int_equal(roost_slice_backend(), ROOST_SLICE_ROOST);
	assert_true(is_published(getpid()));
}

static int wait_until_withdrawn(pid_t pid)
{
	for (int i = 0; i < 2000; i++) {
		if (!is_published(pid))
			return 1;
		usleep(1000);
	}
	return 0;
}

/* The child's child has the connection too (a fork without handlers) and must not keep the map alive. */
static void a_map_dies_with_its_process(void **state)
{
	int tell[2], status;
	char c;
	pid_t pid, grandchild;

	assert_int_equal(pipe(tell), 0);
	pid = fork();
	if (!pid) {
		int rc = roost_slice_register();

		grandchild = (pid_t)syscall(SYS_fork);
		if (!grandchild) {
			pause();
			_exit(0);
		}
		if (rc || write(tell[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(tell[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	assert_true(is_published(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(wait_until_withdrawn(pid));
	kill(grandchild, SIGKILL);
	close(tell[0]);
	close(tell[1]);
	(void)c;
}

static void *register_and_return(void *arg)
{
	assert_int_equal(roost_slice_register(), 0);
	roost_slice_begin();
	*(unsigned int *)arg = (unsigned int)gettid();
	return NULL;
}

static void *register_and_vanish(void *arg)
{
	assert_int_equal(roost_slice_register(), 0);
	*(unsigned int *)arg = (unsigned int)gettid();
	syscall(SYS_exit, 0);
	return NULL;
}

static void a_thread_may_end_registered(void **state)
{
	unsigned int tid;
	pthread_t t;

	roost_slice_register();
	pthread_create(&t, NULL, register_and_return, &tid);
	pthread_join(t, NULL);
	assert_null(find_slot(getpid(), tid));
}

/* Slots left by threads that ended without a word are taken again when there is no other. */
static void slots_of_vanished_threads_are_found_again(void **state)
{
	unsigned int tid = 0;

#ifdef __SANITIZE_ADDRESS__
	skip();         /* ASan does not bear threads that end so */
#endif
	assert_int_equal(roost_slice_set_max_threads(64), 0);
	for (int i = 0; i < 200; i++) {
		pthread_t t;

		assert_int_equal(pthread_create(&t, NULL, register_and_vanish, &tid), 0);
		pthread_join(t, NULL);
	}
	roost_slice_register();
	assert_non_null(my_slot());
	assert_int_equal(roost_slice_set_max_threads(256), -EBUSY);
}

static void limits_of_max_threads(void **state)
{
	assert_int_equal(roost_slice_set_max_threads(63), -EINVAL);
	assert_int_equal(roost_slice_set_max_threads(4097), -EINVAL);
}

static void *own_section(void *arg)
{
	struct roost_slice_slot *slot;

	roost_slice_begin();    /* registers */
	slot = my_slot();
	*(int *)arg = slot && slot->request == 1 && roost_slice_backend() == ROOST_SLICE_ROOST;
	roost_slice_end();
	return NULL;
}

static int auto_child(void)
{
	pthread_t t;
	int ok = 0;

	if (roost_slice_register_process())
		return 1;
	/* this thread asked to be left out: begin does not bring it back */
	roost_slice_unregister();
	roost_slice_begin();
	if (roost_slice_backend() != ROOST_SLICE_NONE)
		return 2;
	pthread_create(&t, NULL, own_section, &ok);
	pthread_join(t, NULL);
	return ok ? 0 : 3;
}

/* The published map is in this process: the child's own view of it is what it maps. */
static int auto_child_alone(void)
{
	start_server(60, 60);
	return auto_child();
}

static void a_registered_process_registers_its_threads(void **state)
{
	slice_server_stop(server);
	assert_int_equal(child_says(auto_child_alone), 0);
	start_server(60, 60);
}

static void a_refusal_is_told_and_harmless(void **state)
{
	char why[256];

	fake.fail_create = ENOMEM;
	assert_int_equal(roost_slice_register(), -ENOMEM);
	roost_slice_why(why, sizeof(why));
	assert_non_null(strstr(why, "refused this process (Cannot allocate memory)"));
	roost_slice_begin();
	assert_int_equal(roost_slice_end(), 0);
	fake.fail_create = 0;
	assert_int_equal(roost_slice_register(), 0);
}

static void no_roost_is_told(void **state)
{
	char why[256];

	slice_server_stop(server);
	assert_int_equal(roost_slice_register(), -ENOENT);
	roost_slice_why(why, sizeof(why));
	assert_non_null(strstr(why, "no roost runs here"));
	setenv("ROOST_SLICE", "none", 1);
	assert_int_equal(roost_slice_register(), -EOPNOTSUPP);
	roost_slice_why(why, sizeof(why));
	assert_non_null(strstr(why, "environment"));
	start_server(60, 60);
}

static void a_roost_that_goes_and_comes_back(void **state)
{
	struct roost_slice_stats stats;
	char why[256];

	assert_int_equal(roost_slice_register(), 0);
	my_slot()->asked = 5;
	slice_server_stop(server);
	assert_int_equal(roost_slice_backend(), ROOST_SLICE_NONE);
	roost_slice_why(why, sizeof(why));
	assert_non_null(strstr(why, "has gone"));
	roost_slice_begin();            /* the memory is still there */
	assert_int_equal(roost_slice_end(), 0);
	start_server(60, 60);
	assert_int_equal(roost_slice_register(), 0);
	assert_int_equal(roost_slice_backend(), ROOST_SLICE_ROOST);
	assert_non_null(my_slot());
	roost_slice_process_stats(&stats);
	assert_true(stats.asked >= 5);
}

static int child_registers(void)
{
	return -roost_slice_register() & 0x7f;
}

static void the_number_of_processes_is_limited(void **state)
{
	slice_server_stop(server);
	start_server(1, 1);
	assert_int_equal(roost_slice_register(), 0);
	assert_int_equal(child_says(child_registers), ENOSPC);
	slice_server_stop(server);
	start_server(60, 60);
}

static int nobody_registers(void)
{
	if (setgid(65534) || setuid(65534))
		return 100;
	return child_registers();
}

static void the_number_of_a_users_processes_is_limited(void **state)
{
	pid_t first;
	int tell[2], status;
	char c = 0;

	if (getuid())
		skip();
	slice_server_stop(server);
	start_server(60, 1);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(child_says(nobody_registers), EACCES);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(pipe(tell), 0);
	first = fork();
	if (!first) {
		c = (char)nobody_registers();
		if (write(tell[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(tell[0], &c, 1), 1);
	assert_int_equal(c, 0);
	assert_int_equal(child_says(nobody_registers), EUSERS);
	/* another user's room is his own, and root is bound by the total only */
	assert_int_equal(child_says(child_registers), 0);
	kill(first, SIGKILL);
	waitpid(first, &status, 0);
	assert_true(wait_until_withdrawn(first));
	assert_int_equal(child_says(nobody_registers), 0);
	close(tell[0]);
	close(tell[1]);
}

static void *many(void *arg)
{
	for (int i = 0; i < 300; i++) {
		if (roost_slice_register())
			return arg;
		roost_slice_begin();
		roost_slice_end();
		if (i % 3 == 0)
			roost_slice_unregister();
	}
	return NULL;
}

static int fork_in_the_middle(void)
{
	pthread_t t[8];
	void *bad;
	int failed = 0;

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, many, (void *)1);
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			_exit(child_is_unregistered());
		waitpid(pid, &status, 0);
		failed |= !WIFEXITED(status) || WEXITSTATUS(status);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &bad);
		failed |= bad != NULL;
	}
	return failed;
}

static void threads_and_forks_at_once(void **state)
{
	assert_int_equal(child_says(fork_in_the_middle), 0);
}

static int kernel_child(void)
{
	int rc = roost_slice_register();
	char why[256];

	/* Either way it must live and tell: asking the kernel wrongly would be answered with SIGSEGV. */
	roost_slice_why(why, sizeof(why));
	if (rc)
		return strstr(why, "none: kernel: ") && !strstr(why, "not tried") ? 0 : 1;
	roost_slice_begin();
	roost_slice_end();
	return strstr(why, "kernel: ") == why ? 0 : 2;
}

static void the_kernels_back_end_is_asked_safely(void **state)
{
	setenv("ROOST_SLICE", "kernel", 1);
	roost_slice_unregister();
	assert_int_equal(child_says(kernel_child), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {
		T(limits_of_max_threads),
		T(slots_of_vanished_threads_are_found_again),
		T(unregistered_begin_and_end_do_nothing),
		T(begin_and_end_move_one_byte),
		T(a_grant_is_seen_given_back_and_counted),
		T(a_spent_grant_gives_nothing_up),
		T(a_child_starts_unregistered_and_spoils_nothing),
		T(a_map_dies_with_its_process),
		T(a_thread_may_end_registered),
		T(a_registered_process_registers_its_threads),
		T(a_refusal_is_told_and_harmless),
		T(no_roost_is_told),
		T(a_roost_that_goes_and_comes_back),
		T(the_number_of_processes_is_limited),
		T(the_number_of_a_users_processes_is_limited),
		T(threads_and_forks_at_once),
		T(the_kernels_back_end_is_asked_safely),
	};
	int rc;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/slice.sock", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return rc;
}
