/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor_btf.c - what the kernel's type information (BTF) says about sched_ext: the record that
 * schedulers fill in, the kernel functions roost calls, and the fault that makes every load fail.
 *
 * That fault: from 7.1 on some kernel functions take a hidden last argument, `struct bpf_prog_aux *aux`,
 * which only the verifier fills in. A current pahole writes the public function without it and adds a
 * twin NAME_impl that has it. A pahole too old for this leaves the argument in the public function and
 * makes no twin; then no program's declaration matches ("func_proto incompatible with vmlinux").
 */
#include "run/doctor.h"

#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

/*
 * What roost calls, oldest name first; any one of a row will do, each row is needed. Optional functions
 * (weak in the BPF object) are not listed.
 */
static const char *const needed[][3] = {
	{ "scx_bpf_create_dsq", NULL, NULL },
	{ "scx_bpf_dispatch", "scx_bpf_dsq_insert", "scx_bpf_dsq_insert___v2" },
	{ "scx_bpf_dispatch_vtime", "scx_bpf_dsq_insert_vtime", "__scx_bpf_dsq_insert_vtime" },
	{ "scx_bpf_consume", "scx_bpf_dsq_move_to_local", "scx_bpf_dsq_move_to_local___v2" },
	{ "scx_bpf_dispatch_from_dsq", "scx_bpf_dsq_move", NULL },
	{ "scx_bpf_kick_cpu", NULL, NULL },
	{ "scx_bpf_task_cpu", NULL, NULL },
	{ "bpf_iter_scx_dsq_new", NULL, NULL },
};

#define NR_NEEDED (sizeof(needed) / sizeof(needed[0]))

static int find_func(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
}

/* Does the function's last argument have the hidden one's name and type? */
static bool keeps_aux(const struct btf *btf, int func_id)
{
	const struct btf_type *func = btf__type_by_id(btf, (__u32)func_id);
	const struct btf_type *proto = btf__type_by_id(btf, func->type), *t;
	const struct btf_param *last;
	const char *name;

	if (!proto || !btf_is_func_proto(proto) || btf_vlen(proto) == 0)
		return false;
	last = btf_params(proto) + btf_vlen(proto) - 1;
	name = btf__name_by_offset(btf, last->name_off);
	if (!name || strcmp(name, "aux") != 0)
		return false;
	t = btf__type_by_id(btf, last->type);
	if (!t || !btf_is_ptr(t))
		return false;
	/* const, in the kernels that have it */
	for (t = btf__type_by_id(btf, t->type); t && btf_is_mod(t); )
		t = btf__type_by_id(btf, t->type);
	name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
	return name && strcmp(name, "bpf_prog_aux") == 0;
}

static bool is_broken(const struct btf *btf, const char *name, int id)
{
	char twin[96];

	snprintf(twin, sizeof(twin), "%s_impl", name);
	return keeps_aux(btf, id) && find_func(btf, twin) < 0;
}

static void check_kfuncs(const struct btf *btf, struct doctor_report *r)
{
	struct doctor_check *c;
	char absent[160] = "", broken[160] = "";
	unsigned int nr_absent = 0, nr_broken = 0;

	for (size_t i = 0; i < NR_NEEDED; i++) {
		const char *there = NULL;
		bool good = false;

		for (size_t j = 0; j < 3 && needed[i][j]; j++) {
			int id = find_func(btf, needed[i][j]);

			if (id < 0)
				continue;
			there = needed[i][j];
			good |= !is_broken(btf, there, id);
		}
		if (!there && nr_absent++ < 3)
			snprintf(absent + strlen(absent), sizeof(absent) - strlen(absent), "%s%s",
				 *absent ? ", " : "", needed[i][0]);
		if (there && !good && nr_broken++ < 2)
			snprintf(broken + strlen(broken), sizeof(broken) - strlen(broken), "%s%s",
				 *broken ? ", " : "", there);
	}
	c = doctor_add(r, "kfuncs", nr_absent ? DOCTOR_MISSING : DOCTOR_OK);
	if (nr_absent) {
		snprintf(c->found, sizeof(c->found), "the kernel has %u of the %zu sched_ext functions roost needs; "
			 "absent: %s%s", (unsigned int)NR_NEEDED - nr_absent, NR_NEEDED, absent, nr_absent > 3 ? ", ..." : "");
		snprintf(c->todo, sizeof(c->todo), "use a kernel of 6.12 or later; these functions came with sched_ext");
	} else {
		snprintf(c->found, sizeof(c->found), "all %zu sched_ext functions roost needs", NR_NEEDED);
	}
	c = doctor_add(r, "kfunc-arguments", nr_broken ? DOCTOR_MISSING : DOCTOR_OK);
	if (nr_broken) {
		snprintf(c->found, sizeof(c->found), "this kernel's type information shows a hidden argument (aux) in %s%s: "
			 "it was built with a pahole too old for it, and no sched_ext scheduler loads on it",
			 broken, nr_broken > 2 ? " and others" : "");
		snprintf(c->todo, sizeof(c->todo), "use another build of this kernel (made with a newer pahole) or another "
			 "version; Debian's 7.1.13 and 7.2.12 have this fault, 7.0.13 and 7.3.4 do not");
	} else {
		snprintf(c->found, sizeof(c->found), "the functions' arguments are as programs declare them");
	}
}

void doctor_check_btf(const struct doctor_env *env, struct doctor_report *r)
{
	const char *path = "/sys/kernel/btf/vmlinux";
	char full[512];
	struct doctor_check *c;
	struct btf *btf;
	int err;

	if (!doctor_exists(env, path)) {
		c = doctor_add(r, "btf", DOCTOR_MISSING);
		snprintf(c->found, sizeof(c->found), "%s is absent: the kernel was built without CONFIG_DEBUG_INFO_BTF", path);
		snprintf(c->todo, sizeof(c->todo), "use a distribution's kernel, or build with CONFIG_DEBUG_INFO_BTF=y");
		return;
	}
	snprintf(full, sizeof(full), "%s%s", env->root, path);
	btf = btf__parse(full, NULL);
	if (!btf) {
		err = errno;
		c = doctor_add(r, "btf", DOCTOR_MISSING);
		snprintf(c->found, sizeof(c->found), "%s cannot be read: %s", path, strerror(err));
		snprintf(c->todo, sizeof(c->todo), "%s", err == EACCES || err == EPERM ? "run this as root" :
			 "use another build of this kernel; its type information is damaged");
		return;
	}
	c = doctor_add(r, "btf", DOCTOR_OK);
	snprintf(c->found, sizeof(c->found), "type information is there (%u types)", btf__type_cnt(btf));

	if (btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT) < 0) {
		c = doctor_add(r, "sched-ext-ops", DOCTOR_MISSING);
		snprintf(c->found, sizeof(c->found), "struct sched_ext_ops is not in the kernel's type information");
		snprintf(c->todo, sizeof(c->todo), "as for sched-ext above: the kernel needs CONFIG_SCHED_CLASS_EXT");
	} else {
		c = doctor_add(r, "sched-ext-ops", DOCTOR_OK);
		snprintf(c->found, sizeof(c->found), "struct sched_ext_ops is there");
		check_kfuncs(btf, r);
	}
	btf__free(btf);
}
