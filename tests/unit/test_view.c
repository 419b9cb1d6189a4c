/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_view.c - the window on a running roost, over real BPF maps pinned by the test itself and a made-up
 * /sys. Needs root and may mount a bpffs of its own; exits 77 where it may not.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/view.h"

#define NR_CPUS 70

static char dir[] = "/tmp/roost-view-XXXXXX";
static char pins[64], sys[64];
static struct roost_view_place place = { pins, sys };

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", sys, path);
	for (char *s = full + strlen(sys) + 1; (s = strchr(s, '/')) != NULL; s++) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void kernel_says(const char *state, const char *ops)
{
	put("/sys/kernel/sched_ext/state", state);
	put("/sys/kernel/sched_ext/root/ops", ops);
}

/* A map under the pins, its first value written. */
static void pin(const char *name, enum bpf_map_type type, u32 value_size, u32 entries, const void *value)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	char path[128];
	u32 key = 0;
	int fd;

	if (type == BPF_MAP_TYPE_ARRAY)
		opts.map_flags = BPF_F_MMAPABLE;
	fd = bpf_map_create(type, name, type == BPF_MAP_TYPE_ARRAY ? 4 : 0, value_size, entries, &opts);
	assert_true(fd >= 0);
	if (value)
		assert_int_equal(bpf_map_update_elem(fd, &key, value, 0), 0);
	snprintf(path, sizeof(path), "%s/%s", pins, name);
	unlink(path);
	assert_int_equal(bpf_obj_pin(fd, path), 0);
	close(fd);
}

static void pin_all(u32 abi, u32 nr_cpu_ids)
{
	struct roost_machine m = { .abi_version = abi, .nr_cpu_ids = nr_cpu_ids, .nr_llcs = 2, .nr_words = 2 };
	struct roost_knobs k = { .slice_ns = 3000000, .idle_smt = 1 };
	struct roost_stats s = { .nr_wakeups = 7 };

	pin("machine", BPF_MAP_TYPE_ARRAY, sizeof(m), 1, &m);
	pin("knobs", BPF_MAP_TYPE_ARRAY, sizeof(k), 1, &k);
	pin("control", BPF_MAP_TYPE_ARRAY, sizeof(struct roost_control), 1, NULL);
	pin("cpus", BPF_MAP_TYPE_ARRAY, sizeof(struct roost_cpu), NR_CPUS, NULL);
	pin("stats", BPF_MAP_TYPE_ARRAY, sizeof(s), NR_CPUS, &s);
	pin("llcs", BPF_MAP_TYPE_ARRAY, sizeof(struct roost_llc), 2, NULL);
	pin("words", BPF_MAP_TYPE_ARRAY, sizeof(struct roost_llc_word), 2, NULL);
	pin("events", BPF_MAP_TYPE_RINGBUF, 0, 4096, NULL);
}

static void state_is_the_kernels(void **state)
{
	struct roost_view *v;
	struct roost_kernel_state s;

	assert_int_equal(roost_view_open(&v, &place, 0), -EOPNOTSUPP);
	pin_all(ROOST_ABI_VERSION, NR_CPUS);
	kernel_says("disabled\n", "");
	/* pins that a killed loader left behind */
	assert_int_equal(roost_view_open(&v, &place, 0), -ENOENT);
	assert_null(v);
	kernel_says("enabled\n", "lavd_1.0\n");
	assert_int_equal(roost_view_open(&v, &place, 0), -EBUSY);
	roost_kernel_state(sys, &s);
	assert_string_equal(s.ops, "lavd_1.0");
	kernel_says("enabled\n", "roost_0.1.0\n");
	assert_int_equal(roost_view_open(&v, &place, 0), 0);
	assert_true(roost_view_alive(v));
	kernel_says("disabled\n", "roost_0.1.0\n");
	assert_false(roost_view_alive(v));
	roost_view_close(v);
}

static void read_and_write(void **state)
{
	struct roost_view *a, *b;

	kernel_says("enabled\n", "roost\n");
	pin_all(ROOST_ABI_VERSION, NR_CPUS);
	assert_int_equal(roost_view_open(&a, &place, 0), 0);
	assert_int_equal(roost_view_open(&b, &place, ROOST_VIEW_WRITE | ROOST_VIEW_EVENTS), 0);
	assert_int_equal(a->machine->nr_cpu_ids, NR_CPUS);
	assert_true(a->knobs->slice_ns == 3000000 && a->stats[0].nr_wakeups == 7 && a->stats[NR_CPUS - 1].nr_wakeups == 0);
	assert_true(a->events_fd < 0 && b->events_fd >= 0);
	b->knobs->idle_grace_ns = 5;
	b->control->explain_pid = 42;
	assert_true(a->knobs->idle_grace_ns == 5 && a->control->explain_pid == 42);
	roost_view_close(b);
	roost_view_close(a);
}

static void another_version(void **state)
{
	struct roost_view *v;

	kernel_says("enabled\n", "roost\n");
	pin_all(ROOST_ABI_VERSION + 1, NR_CPUS);
	assert_int_equal(roost_view_open(&v, &place, 0), -EPROTO);
	pin_all(ROOST_ABI_VERSION, NR_CPUS + 1);
	assert_int_equal(roost_view_open(&v, &place, 0), -EPROTO);
	pin_all(ROOST_ABI_VERSION, NR_CPUS);
	pin("knobs", BPF_MAP_TYPE_ARRAY, sizeof(struct roost_knobs) + 8, 1, NULL);
	assert_int_equal(roost_view_open(&v, &place, 0), -EPROTO);
	pin("knobs", BPF_MAP_TYPE_RINGBUF, 0, 4096, NULL);
	assert_int_equal(roost_view_open(&v, &place, ROOST_VIEW_WRITE), -EPROTO);
}

static void maps_not_pinned(void **state)
{
	struct roost_view_place elsewhere = { "/nonexistent", sys };
	struct roost_view *v;

	kernel_says("enabled\n", "roost\n");
	assert_int_equal(roost_view_open(&v, &elsewhere, 0), -ENODEV);
	assert_int_equal(roost_view_open(&v, &elsewhere, ROOST_VIEW_WRITE), -ENODEV);
}

static int tidy(void **state)
{
	char cmd[128];

	umount2(pins, MNT_DETACH);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

static int skipped(const char *why)
{
	printf("test_view: skipped: %s: %s\n", why, strerror(errno));
	return 77;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_is_the_kernels),
		cmocka_unit_test(read_and_write),
		cmocka_unit_test(another_version),
		cmocka_unit_test(maps_not_pinned),
	};
	int failed;

	if (!mkdtemp(dir))
		return skipped(dir);
	snprintf(pins, sizeof(pins), "%s/bpf", dir);
	snprintf(sys, sizeof(sys), "%s/root", dir);
	mkdir(pins, 0700);
	mkdir(sys, 0700);
	/* in a mount namespace of its own, so that nothing stays behind however the test ends */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", pins, "bpf", 0, NULL)) {
		int err = errno;

		tidy(NULL);
		errno = err;
		return skipped("cannot mount a bpffs");
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tidy(NULL);
	return failed ? 1 : 0;
}
