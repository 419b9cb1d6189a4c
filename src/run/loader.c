/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loader.c - loads the scheduler: opens the embedded object, sizes its maps for this machine, switches off
 * what this kernel has no use for, loads, fills the records, attaches.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/bpf_object.h"
#include "run/doctor.h"
#include "run/layout.h"
#include "run/run.h"
#include "run/slice_maps.h"
#include "run/view.h"

/*
 * Tracepoints that tell what the kernel does not tell a scheduler. Optional: without the first some real-time tasks go
 * unseen, without the others a CPU on its way out is seen a moment late.
 */
static const struct {
	const char *program, *point;
} traces[] = {
	{ "roost_sched_switch", "sched_switch" },
	{ "roost_cpuhp_enter", "cpuhp_enter" },
	{ "roost_cpuhp_exit", "cpuhp_exit" },
};
#define NR_TRACES (sizeof(traces) / sizeof(traces[0]))

struct roost {
	struct bpf_object *object;
	struct bpf_link *ops, *traces[NR_TRACES];
	struct roost_view *view;
	struct roost_layout layout;
	u64 hotplug_seq;
};

/* ---- libbpf's talk: kept for the error, and passed on ---- */

static struct run_error *talk_error;
static void (*talk_to)(int level, const char *text);

static int on_talk(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t have, more, most = sizeof(talk_error->log) - 1;
	char *line, *from;

	/* the verifier's log comes as one line of up to a megabyte */
	if (vasprintf(&line, format, args) < 0)
		return 0;
	if (talk_to)
		talk_to((int)level, line);
	if (talk_error && level != LIBBPF_DEBUG) {
		/* keep the end: that is where the verifier says what it refused */
		more = strlen(line);
		from = more > most ? line + more - most : line;
		more = strlen(from);
		have = strlen(talk_error->log);
		if (have + more > most) {
			memmove(talk_error->log, talk_error->log + have + more - most, most - more);
			have = most - more;
		}
		memcpy(talk_error->log + have, from, more + 1);
	}
	free(line);
	return 0;
}

__attribute__((format(printf, 3, 4)))
static int fail(struct run_error *err, int code, const char *format, ...)
{
	va_list args;

	err->err = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

static u64 read_hotplug_seq(void)
{
	FILE *f = fopen("/sys/kernel/sched_ext/hotplug_seq", "re");
	unsigned long long seq = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &seq) != 1)
		seq = 0;
	fclose(f);
	return seq;
}

/* ---- opening: sizes and choices ---- */

static bool kernel_has_func(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) >= 0;
}

static bool kernel_has_trace(const struct btf *btf, const char *point)
{
	char name[64];

	snprintf(name, sizeof(name), "btf_trace_%s", point);
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) >= 0;
}

static u64 kernel_enum(const struct btf *btf, const char *type, const char *name)
{
	int id = btf ? btf__find_by_name(btf, type) : -1, i;
	const struct btf_type *t = id >= 0 ? btf__type_by_id(btf, (u32)id) : NULL;

	if (!t)
		return 0;
	for (i = 0; i < btf_vlen(t); i++) {
		if (btf_is_enum64(t)) {
			const struct btf_enum64 *e = &btf_enum64(t)[i];

			if (!strcmp(btf__name_by_offset(btf, e->name_off), name))
				return btf_enum64_value(e);
		} else if (btf_is_enum(t)) {
			const struct btf_enum *e = &btf_enum(t)[i];

			if (!strcmp(btf__name_by_offset(btf, e->name_off), name))
				return (u32)e->val;
		}
	}
	return 0;
}

static int size_map(struct bpf_object *o, const char *name, u32 entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, name);

	if (!map)
		return -ENOENT;
	return bpf_map__set_max_entries(map, entries ? entries : 1);
}

/* The ops as the object's own BTF lays them out: kernel.h's struct, pointers holding programs. */
struct ops_shadow {
	void *select_cpu, *enqueue, *dispatch, *tick, *runnable, *running, *stopping, *quiescent, *yield, *set_weight,
		*update_idle, *cpu_acquire, *cpu_release, *init_task, *exit_task, *enable, *cpu_online, *cpu_offline, *init,
		*exit;
	u64 flags;
	u32 timeout_ms;
	u64 hotplug_seq;
	char name[128];
};

static int set_ops(struct roost *r, const struct roost_opts *opts, const struct btf *btf)
{
	struct bpf_map *map = bpf_object__find_map_by_name(r->object, "roost_ops");
	bool release = !kernel_has_func(btf, "scx_bpf_reenqueue_local___v2");
	struct bpf_program *p;
	struct ops_shadow *ops;
	size_t size;

	ops = map ? bpf_map__initial_value(map, &size) : NULL;
	if (!ops || size != sizeof(*ops))
		return -EPROTO;
	ops->flags = kernel_enum(btf, "scx_ops_flags", "SCX_OPS_ENQ_MIGRATION_DISABLED") |
		     kernel_enum(btf, "scx_ops_flags", "SCX_OPS_ALLOW_QUEUED_WAKEUP");
	if (opts->partial)
		ops->flags |= kernel_enum(btf, "scx_ops_flags", "SCX_OPS_SWITCH_PARTIAL");
	ops->hotplug_seq = r->hotplug_seq;
	if (!release) {
		/* on its way out from 6.19 on, and no longer needed */
		ops->cpu_acquire = NULL;
		ops->cpu_release = NULL;
	}
	p = bpf_object__find_program_by_name(r->object, "roost_cpu_acquire");
	if (p)
		bpf_program__set_autoload(p, release);
	p = bpf_object__find_program_by_name(r->object, "roost_cpu_release");
	if (p)
		bpf_program__set_autoload(p, release);
	for (size_t i = 0; i < NR_TRACES; i++) {
		p = bpf_object__find_program_by_name(r->object, traces[i].program);
		if (p)
			bpf_program__set_autoload(p, kernel_has_trace(btf, traces[i].point));
	}
	return 0;
}

static int prepare(struct roost *r, const struct roost_opts *opts)
{
	struct btf *btf = btf__load_vmlinux_btf();
	u32 nr = r->layout.machine.nr_cpu_ids;
	int err;

	err = size_map(r->object, "roost_cpus", nr);
	if (!err)
		err = size_map(r->object, "roost_stats", nr);
	if (!err)
		err = size_map(r->object, "roost_llcs", r->layout.machine.nr_llcs);
	if (!err)
		err = size_map(r->object, "roost_words", r->layout.machine.nr_words);
	if (!err)
		err = size_map(r->object, "roost_spins", nr);
	if (!err)
		err = size_map(r->object, "roost_spin_rings", nr);
	if (!err)
		err = slice_maps_prepare(r->object, nr);
	if (!err)
		err = set_ops(r, opts, btf);
	btf__free(btf);
	return err;
}

/* ---- filling and attaching ---- */

static int open_view(struct roost *r)
{
	int fds[8], events;
	u32 i;

	for (i = 0; i < 8; i++) {
		fds[i] = bpf_object__find_map_fd_by_name(r->object, view_map_name(i));
		if (fds[i] < 0)
			return fds[i];
	}
	events = bpf_object__find_map_fd_by_name(r->object, view_map_name(8));
	return view_open(&r->view, fds, events, true, true);
}

static void fill_records(struct roost *r, const struct roost_opts *opts)
{
	const struct roost_layout *l = &r->layout;
	struct roost_view *v = r->view;

	*v->knobs = opts->knobs;
	memcpy((void *)v->machine, &l->machine, sizeof(l->machine));
	memcpy((void *)v->cpus, l->cpus, l->machine.nr_cpu_ids * sizeof(*l->cpus));
	memcpy((void *)v->llcs, l->llcs, l->machine.nr_llcs * sizeof(*l->llcs));
	memcpy((void *)v->words, l->words, l->machine.nr_words * sizeof(*l->words));
}

static int try_load(struct roost *r, const struct roost_opts *opts, struct run_error *err)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, open_opts, .object_name = "roost");
	struct bpf_program *p;
	size_t i;
	int code;

	r->object = bpf_object__open_mem(roost_bpf_object_begin, (size_t)(roost_bpf_object_end - roost_bpf_object_begin),
					 &open_opts);
	if (!r->object)
		return fail(err, -errno, "cannot open the BPF object in this program: %s", strerror(errno));
	code = prepare(r, opts);
	if (code)
		return fail(err, code, "cannot prepare the BPF object: %s", strerror(-code));
	code = bpf_object__load(r->object);
	if (code)
		return fail(err, code, "the kernel refused to load roost: %s", strerror(-code));
	code = open_view(r);
	if (code)
		return fail(err, code, "cannot map roost's records: %s", strerror(-code));
	fill_records(r, opts);
	r->ops = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(r->object, "roost_ops"));
	if (!r->ops) {
		code = -errno;
		return fail(err, code, "the kernel refused to start roost: %s", strerror(errno));
	}
	for (i = 0; i < NR_TRACES; i++) {
		p = bpf_object__find_program_by_name(r->object, traces[i].program);
		if (p && bpf_program__autoload(p))
			r->traces[i] = bpf_program__attach(p);
	}
	return 0;
}

static void drop(struct roost *r)
{
	for (size_t i = 0; i < NR_TRACES; i++) {
		bpf_link__destroy(r->traces[i]);
		r->traces[i] = NULL;
	}
	bpf_link__destroy(r->ops);
	roost_close(r->view);
	bpf_object__close(r->object);
	roost_layout_free(&r->layout);
	r->ops = NULL;
	r->view = NULL;
	r->object = NULL;
}

static int read_machine(struct roost *r, const struct roost_opts *opts, struct run_error *err)
{
	struct topo_error topo = { 0 };
	struct machine *m = NULL;
	int code;

	r->hotplug_seq = read_hotplug_seq();
	if (!opts->machine) {
		code = topology_from_sysfs("/", &m, &topo);
		if (code)
			return fail(err, code, "cannot read the machine: %s", topo.text);
	}
	code = roost_layout_make(opts->machine ? opts->machine : m, &r->layout);
	topology_free(m);
	if (code)
		return fail(err, code, "cannot lay out the machine: %s", strerror(-code));
	r->layout.machine.partial = opts->partial;
	return 0;
}

#define HOTPLUG_RETRIES 10

int roost_load(struct roost **out, const struct roost_opts *opts, struct run_error *err)
{
	struct roost *r = calloc(1, sizeof(*r));
	libbpf_print_fn_t before;
	struct doctor_env doctor;
	char name[128];
	int code = -ENOMEM, tries;

	memset(err, 0, sizeof(*err));
	if (!r)
		return fail(err, code, "out of memory");
	talk_error = err;
	talk_to = opts->talk;
	before = libbpf_set_print(on_talk);
	for (tries = 0; tries < HOTPLUG_RETRIES; tries++) {
		err->log[0] = '\0';
		code = read_machine(r, opts, err);
		if (!code)
			code = try_load(r, opts, err);
		if (code != -EBUSY)
			break;
		/* a CPU came or went meanwhile, or another scheduler sits there */
		if (!roost_current_scheduler(name, sizeof(name)) && name[0]) {
			fail(err, code, "another sched_ext scheduler is loaded: \"%s\"; stop it first (it unloads when its program ends)",
			     name);
			break;
		}
		if (tries < HOTPLUG_RETRIES - 1)
			drop(r);
		usleep(20000);
	}
	libbpf_set_print(before);
	talk_error = NULL;
	talk_to = NULL;
	if (code) {
		if (code != -EBUSY && code != -ENOMEM) {
			doctor_env_init(&doctor, "/");
			doctor_explain(&doctor, code, err->text, sizeof(err->text), &err->missing);
		}
		err->err = code;
		drop(r);
		free(r);
		return code;
	}
	*out = r;
	return 0;
}

void roost_unload(struct roost *r)
{
	if (!r)
		return;
	drop(r);
	free(r);
}

/* ---- looking at it ---- */

struct roost_view *roost_view(struct roost *r)
{
	return r->view;
}

int roost_map_fd(struct roost *r, const char *name)
{
	return bpf_object__find_map_fd_by_name(r->object, name);
}

bool roost_alive(const struct roost *r)
{
	return !*(volatile const u32 *)&r->view->exit->done;
}

bool roost_outgrown(struct roost *r)
{
	struct topo_error topo = { 0 };
	struct machine *m = NULL;
	bool outgrown = false;
	u64 seq = read_hotplug_seq();
	u32 cpu;

	if (seq == r->hotplug_seq)
		return false;
	r->hotplug_seq = seq;
	if (topology_from_sysfs("/", &m, &topo))
		return false;
	for (cpu = 0; cpu < m->nr_cpu_ids; cpu++)
		if (m->cpus[cpu].online &&
		    (cpu >= r->layout.machine.nr_cpu_ids || r->layout.cpus[cpu].llc == ROOST_NOWHERE))
			outgrown = true;
	topology_free(m);
	return outgrown;
}

/* The kernel's own numbers (enum scx_exit_kind) have not changed since 6.12. */
#define EXIT_DONE 1
#define EXIT_UNREG 64
#define EXIT_UNREG_KERN 66
#define EXIT_SYSRQ 67
#define EXIT_ERROR 1024
#define EXIT_ERROR_STALL 1026
#define ECODE_RESTART (1ULL << 48)

int roost_exit_code(const struct roost_exit *e)
{
	return e->done && e->kind != EXIT_DONE && e->kind != EXIT_UNREG ? 4 : 0;
}

bool roost_exit_restart(const struct roost_exit *e)
{
	return e->done && e->kind == EXIT_UNREG_KERN && ((u64)e->code & ECODE_RESTART);
}

void roost_exit_text(const struct roost_view *v, char *buf, size_t size)
{
	const struct roost_exit *e = v->exit;
	size_t have;
	u32 cpu;

	snprintf(buf, size, "%s%s%s", e->reason[0] ? e->reason : "unloaded", e->msg[0] ? ": " : "", e->msg);
	if (e->kind != EXIT_ERROR_STALL)
		return;
	for (cpu = 0; cpu < v->machine->nr_cpu_ids; cpu++) {
		if (!(v->cpus[cpu].flags & ROOST_CPU_RT_HELD))
			continue;
		have = strlen(buf);
		snprintf(buf + have, size - have, "; CPU %u was held by a task of a real-time or deadline class: pid %u",
			 cpu, v->cpus[cpu].rt_pid);
	}
}
