/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_doctor.c - the doctor looks at machines made of files: a good one, and one fault at a time.
 * The kernels' type information is built here, in the shapes that good and faulty kernels show.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/doctor.h"

static char root[] = "/tmp/roost-doctor-XXXXXX";
static struct doctor_report report;

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')) != NULL; s++) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void drop(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(remove(full), 0);
}

/* ---- type information ---- */

enum fault { GOOD, OLD_PAHOLE, WITH_TWINS, NEW_NAMES, NO_FUNCTIONS, NO_OPS, GARBAGE };

/* `bool NAME(u64 id)`, or with a hidden `struct bpf_prog_aux *aux` at its end */
static void add_func(struct btf *btf, int u64_id, int aux_ptr, const char *name, bool hidden)
{
	int proto = btf__add_func_proto(btf, u64_id);

	assert_true(proto > 0);
	btf__add_func_param(btf, "id", u64_id);
	if (hidden)
		btf__add_func_param(btf, "aux", aux_ptr);
	assert_true(btf__add_func(btf, name, BTF_FUNC_GLOBAL, proto) > 0);
}

static void put_btf(enum fault fault)
{
	static const char *const old_names[] = {
		"scx_bpf_create_dsq", "scx_bpf_dsq_insert", "scx_bpf_dsq_insert_vtime", "scx_bpf_dsq_move_to_local",
		"scx_bpf_kick_cpu", "scx_bpf_dsq_move", "scx_bpf_task_cpu", "bpf_iter_scx_dsq_new",
	};
	static const char *const new_names[] = {
		"scx_bpf_create_dsq", "scx_bpf_dsq_insert___v2", "__scx_bpf_dsq_insert_vtime",
		"scx_bpf_dsq_move_to_local___v2", "scx_bpf_kick_cpu", "scx_bpf_dsq_move", "scx_bpf_task_cpu",
		"bpf_iter_scx_dsq_new",
	};
	const char *const *names = fault == NEW_NAMES ? new_names : old_names;
	struct btf *btf = btf__new_empty();
	char full[512], twin[96];
	const void *raw;
	__u32 size;
	FILE *f;
	int u64_id, aux, aux_ptr;

	assert_non_null(btf);
	u64_id = btf__add_int(btf, "u64", 8, 0);
	aux = btf__add_struct(btf, "bpf_prog_aux", 8);
	btf__add_field(btf, "id", u64_id, 0, 0);
	aux_ptr = btf__add_ptr(btf, btf__add_const(btf, aux));
	if (fault != NO_OPS) {
		btf__add_struct(btf, "sched_ext_ops", 8);
		btf__add_field(btf, "flags", u64_id, 0, 0);
	}
	for (int i = 0; i < 8 && fault != NO_FUNCTIONS; i++) {
		add_func(btf, u64_id, aux_ptr, names[i], fault == OLD_PAHOLE && i % 4 == 0);
		if (fault == WITH_TWINS) {
			snprintf(twin, sizeof(twin), "%s_impl", names[i]);
			add_func(btf, u64_id, aux_ptr, twin, true);
		}
	}
	raw = btf__raw_data(btf, &size);
	assert_non_null(raw);
	put("/sys/kernel/btf/vmlinux", "");
	snprintf(full, sizeof(full), "%s/sys/kernel/btf/vmlinux", root);
	f = fopen(full, "w");
	assert_non_null(f);
	if (fault == GARBAGE)
		fputs("this is not type information", f);
	else
		assert_int_equal(fwrite(raw, 1, size, f), size);
	fclose(f);
	btf__free(btf);
}

/* ---- the machine ---- */

static int cookie_of_nobody(int pid, u64 *cookie)
{
	*cookie = 0;
	return 0;
}

static int cookie_of_one(int pid, u64 *cookie)
{
	*cookie = 4711;
	return 0;
}

static void put_good_machine(void)
{
	put("/proc/sys/kernel/osrelease", "7.3.4+deb13-cloud-amd64\n");
	put("/proc/sys/net/core/bpf_jit_enable", "1\n");
	put("/proc/self/status", "Name:\troost\nCapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n");
	put("/proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         8388608              8388608              bytes\n");
	put("/proc/self/mounts", "proc /proc proc rw 0 0\nbpf /sys/fs/bpf bpf rw,mode=700 0 0\n"
				 "debugfs /sys/kernel/debug debugfs rw 0 0\n");
	put("/proc/42/comm", "sh\n");
	put("/sys/kernel/sched_ext/state", "disabled\n");
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	put("/sys/devices/system/cpu/possible", "0-15\n");
	put("/sys/devices/system/cpu/online", "0-15\n");
	put("/sys/devices/system/cpu/smt/active", "1\n");
	put_btf(GOOD);
}

static const struct doctor_check *look(const char *name)
{
	struct doctor_env env;
	const struct doctor_check *c;

	doctor_env_init(&env, root);
	assert_null(env.core_cookie);   /* never ask this machine about another */
	env.core_cookie = cookie_of_nobody;
	doctor_run(&env, &report);
	assert_true(report.nr < DOCTOR_CHECKS_MAX);
	for (size_t i = 0; i < report.nr; i++) {
		c = &report.check[i];
		assert_true(*c->found);
		if (c->state >= DOCTOR_WARN && !*c->todo)
			fail_msg("%s: a fault with nothing to do about it", c->name);
		if (strlen(c->found) + 1 >= sizeof(c->found) || strlen(c->todo) + 1 >= sizeof(c->todo))
			fail_msg("%s: cut short", c->name);
	}
	return doctor_find(&report, name);
}

/* One check is as bad as expected and says so in these words, and every other check stays well. */
static void expect(const char *name, enum doctor_state state, const char *found, const char *todo)
{
	const struct doctor_check *c = look(name);

	assert_non_null(c);
	if (c->state != state)
		fail_msg("%s is '%s': %s", name, doctor_state_name(c->state), c->found);
	if (!strstr(c->found, found) || !strstr(c->todo, todo))
		fail_msg("%s says: %s -> %s", name, c->found, c->todo);
	for (size_t i = 0; i < report.nr; i++) {
		if (&report.check[i] != c && report.check[i].state >= DOCTOR_BLOCKED)
			fail_msg("%s is '%s' too", report.check[i].name, doctor_state_name(report.check[i].state));
	}
}

static void a_good_machine(void **state)
{
	put_good_machine();
	look("kernel");
	for (size_t i = 0; i < report.nr; i++) {
		if (report.check[i].state != DOCTOR_OK)
			fail_msg("%s: %s", report.check[i].name, report.check[i].found);
	}
	assert_int_equal(doctor_worst(&report), DOCTOR_OK);
	assert_string_equal(report.release, "7.3.4+deb13-cloud-amd64");
	put_btf(WITH_TWINS);    /* a hidden argument with a twin is how it should be */
	assert_int_equal(look("kfunc-arguments")->state, DOCTOR_OK);
	assert_int_equal(doctor_worst(&report), DOCTOR_OK);
	put_btf(NEW_NAMES);
	look("kfuncs");
	assert_int_equal(doctor_worst(&report), DOCTOR_OK);
}

static void no_sched_ext(void **state)
{
	put_good_machine();
	drop("/sys/kernel/sched_ext/state");
	drop("/sys/kernel/sched_ext");
	expect("sched-ext", DOCTOR_MISSING, "CONFIG_SCHED_CLASS_EXT is not set in this kernel: /sys/", "./demo");
	put("/boot/config-7.3.4+deb13-cloud-amd64", "CONFIG_BPF=y\n# CONFIG_SCHED_CLASS_EXT is not set\n");
	expect("sched-ext", DOCTOR_MISSING, "(/boot/config-7.3.4+deb13-cloud-amd64 says so)", "trixie-backports");
	put("/proc/sys/kernel/osrelease", "5.15.0\n");
	expect("sched-ext", DOCTOR_MISSING, "older than sched_ext", "./demo");
}

static void type_information(void **state)
{
	put_good_machine();
	put_btf(OLD_PAHOLE);
	expect("kfunc-arguments", DOCTOR_MISSING, "hidden argument (aux) in scx_bpf_create_dsq, scx_bpf_kick_cpu: it was "
	       "built with a pahole too old", "7.1.13 and 7.2.12");
	put_btf(NO_FUNCTIONS);
	expect("kfuncs", DOCTOR_MISSING, "0 of the 8", "6.12");
	put_btf(NO_OPS);
	expect("sched-ext-ops", DOCTOR_MISSING, "struct sched_ext_ops is not", "CONFIG_SCHED_CLASS_EXT");
	put_btf(GARBAGE);
	expect("btf", DOCTOR_MISSING, "cannot be read", "damaged");
	drop("/sys/kernel/btf/vmlinux");
	expect("btf", DOCTOR_MISSING, "CONFIG_DEBUG_INFO_BTF", "CONFIG_DEBUG_INFO_BTF=y");
}

static void settings_in_the_way(void **state)
{
	put_good_machine();
	put("/proc/sys/net/core/bpf_jit_enable", "0\n");
	expect("bpf-jit", DOCTOR_MISSING, "524", "sysctl -w net.core.bpf_jit_enable=1");
	put_good_machine();
	put("/sys/kernel/realtime", "1\n");
	expect("preempt-rt", DOCTOR_MISSING, "PREEMPT_RT", "without PREEMPT_RT");
	drop("/sys/kernel/realtime");
	put("/proc/self/status", "CapEff:\t0000000000800000\n");
	expect("privilege", DOCTOR_BLOCKED, "it lacks CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF", "sudo roost run");
	put_good_machine();
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect("lockdown", DOCTOR_WARN, "confidentiality", "lockdown=integrity");
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	expect("lockdown", DOCTOR_OK, "integrity", "");
	put_good_machine();
	put("/proc/self/mounts", "proc /proc proc rw 0 0\n");
	expect("bpffs", DOCTOR_NOTE, "not mounted", "mount -t bpf bpf /sys/fs/bpf");
	put_good_machine();
	put("/sys/devices/system/cpu/possible", "0-9000\n");
	expect("cpus", DOCTOR_MISSING, "possible 0-9000", "nr_cpus=8192");
	put("/sys/devices/system/cpu/possible", "0-3,8-8191\n");
	expect("cpus", DOCTOR_OK, "SMT on", "");
	put("/sys/devices/system/cpu/nohz_full", "2-3\n");
	expect("nohz-full", DOCTOR_NOTE, "2-3", "");
	put("/sys/devices/system/cpu/nohz_full", "(null)\n");
	assert_null(look("nohz-full"));
	drop("/sys/devices/system/cpu/nohz_full");
}

static void another_scheduler(void **state)
{
	put_good_machine();
	put("/sys/kernel/sched_ext/state", "enabled\n");
	put("/sys/kernel/sched_ext/root/ops", "bpfland_1.0.9\n");
	expect("other-scheduler", DOCTOR_BLOCKED, "'bpfland_1.0.9' is loaded", "systemctl stop scx");
	put("/sys/kernel/sched_ext/root/ops", "roost\n");
	expect("other-scheduler", DOCTOR_NOTE, "roost itself is loaded", "");
	put("/sys/kernel/sched_ext/root/ops", "roost_0.1.0\n");
	expect("other-scheduler", DOCTOR_NOTE, "roost itself is loaded", "");
	put("/sys/kernel/sched_ext/root/ops", "roosters\n");
	expect("other-scheduler", DOCTOR_BLOCKED, "'roosters' is loaded", "");
	put("/sys/kernel/sched_ext/state", "disabled\n");
}

static void core_scheduling(void **state)
{
	struct doctor_env env;

	put_good_machine();
	doctor_env_init(&env, root);
	env.core_cookie = cookie_of_one;
	doctor_run(&env, &report);
	assert_int_equal(doctor_find(&report, "core-scheduling")->state, DOCTOR_BLOCKED);
	assert_non_null(strstr(doctor_find(&report, "core-scheduling")->found, "process 42 has a cookie"));
}

static void back_ends(void **state)
{
	put_good_machine();
	expect("idle-spin", DOCTOR_OK, "no cpuidle); auto takes spinner", "");
	put("/sys/devices/system/cpu/cpuidle/available_governors", "menu haltpolling\n");
	expect("idle-spin", DOCTOR_OK, "no haltpoll governor: it has it only as a KVM guest); auto takes spinner", "");
	put("/sys/devices/system/cpu/cpuidle/available_governors", "menu haltpoll\n");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	expect("idle-spin", DOCTOR_OK, "no cpuidle driver", "");
	put("/sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n");
	expect("idle-spin", DOCTOR_OK, "no guest_halt_poll_ns", "");
	put("/sys/module/haltpoll/parameters/guest_halt_poll_ns", "200000\n");
	expect("idle-spin", DOCTOR_OK, "the governor cannot be changed", "");
	put("/sys/devices/system/cpu/cpuidle/current_governor", "menu\n");
	expect("idle-spin", DOCTOR_OK, "auto takes haltpoll", "");
	expect("slice-ext", DOCTOR_OK, "not the kernel's own", "");
	put("/sys/kernel/debug/rseq/slice_ext_nsec", "5000\n");
	expect("slice-ext", DOCTOR_OK, "clients take the kernel's", "");
}

static void failed_loads_in_plain_words(void **state)
{
	struct doctor_env env;
	char text[700];
	bool missing;

	put_good_machine();
	doctor_env_init(&env, root);
	env.core_cookie = cookie_of_nobody;
	doctor_explain(&env, -524, text, sizeof(text), &missing);
	assert_true(missing && strstr(text, "JIT"));
	doctor_explain(&env, EBUSY, text, sizeof(text), &missing);
	assert_true(!missing && strstr(text, "try again"));
	doctor_explain(&env, -ENOENT, text, sizeof(text), &missing);
	assert_string_equal(text, "No such file or directory");
	put_btf(OLD_PAHOLE);
	doctor_explain(&env, -EINVAL, text, sizeof(text), &missing);
	assert_true(missing && strstr(text, "pahole"));
	put_btf(GOOD);
	put("/sys/kernel/sched_ext/state", "enabled\n");
	put("/sys/kernel/sched_ext/root/ops", "lavd\n");
	doctor_explain(&env, -EBUSY, text, sizeof(text), &missing);
	assert_true(!missing && strstr(text, "'lavd' is loaded"));
}

/* Nothing at all is there: every check still completes. */
static void weights_and_limits_of_groups_are_named(void **state)
{
	struct doctor_report r = { 0 };
	struct doctor_env env;

	doctor_env_init(&env, root);
	put("/sys/fs/cgroup/plain/cpu.weight", "100\n");
	put("/sys/fs/cgroup/plain/cpu.max", "max 100000\n");
	doctor_check_cgroups(&env, &r);
	assert_int_equal(r.check[0].state, DOCTOR_OK);
	put("/sys/fs/cgroup/web/heavy/cpu.weight", "200\n");
	put("/sys/fs/cgroup/web/cpu.max", "50000 100000\n");
	r.nr = 0;
	doctor_check_cgroups(&env, &r);
	assert_int_equal(r.check[0].state, DOCTOR_NOTE);
	assert_non_null(strstr(r.check[0].found, "1 control group with a CPU weight and 1 with a CPU limit"));
}

static void an_empty_root(void **state)
{
	struct doctor_env env;

	doctor_env_init(&env, "/nonexistent-root");
	doctor_run(&env, &report);
	assert_int_equal(doctor_worst(&report), DOCTOR_MISSING);
	assert_string_equal(report.release, "unknown");
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	return system(cmd);
}

/* Every test starts from an empty root. */
static int empty_root(void **state)
{
	return remove_root(state) || mkdir(root, 0755);
}

#define TEST(f) cmocka_unit_test_setup(f, empty_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_machine),
		TEST(no_sched_ext),
		TEST(type_information),
		TEST(settings_in_the_way),
		TEST(another_scheduler),
		TEST(core_scheduling),
		TEST(back_ends),
		TEST(failed_loads_in_plain_words),
		TEST(weights_and_limits_of_groups_are_named),
		TEST(an_empty_root),
	};

	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
