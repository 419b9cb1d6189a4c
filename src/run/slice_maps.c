/* SPDX-License-Identifier: GPL-2.0-only */
/* slice_maps.c - see slice_maps.h. */
#include "run/slice_maps.h"
#include "policy/slice_ext.h"
#include "slice/slot.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

static int create_slots(void *ctx, unsigned int nr_slots)
{
	/* BPF_F_INNER_MAP: one hash may hold arrays of different lengths. */
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	int fd;

	(void)ctx;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "roost_slots", sizeof(unsigned int), sizeof(struct roost_slice_slot),
			    nr_slots, &opts);
	return fd < 0 ? -errno : fd;
}

/* The scheduler does not look for sections at all while there is no process that could have one. */
static int write_state(struct slice_maps *m)
{
	struct roost_ext_state state = { .nr_procs = m->nr_procs };
	const unsigned int zero = 0;

	return bpf_map_update_elem(m->state_fd, &zero, &state, BPF_ANY) ? -errno : 0;
}

static int publish(void *ctx, pid_t tgid, int map_fd)
{
	struct slice_maps *m = ctx;
	unsigned int key = (unsigned int)tgid;
	int rc;

	if (bpf_map_update_elem(m->procs_fd, &key, &map_fd, BPF_ANY))
		return -errno;
	m->nr_procs++;
	rc = write_state(m);
	if (rc) {
		m->nr_procs--;
		bpf_map_delete_elem(m->procs_fd, &key);
	}
	return rc;
}

static void withdraw(void *ctx, pid_t tgid)
{
	struct slice_maps *m = ctx;
	unsigned int key = (unsigned int)tgid;

	bpf_map_delete_elem(m->procs_fd, &key);
	m->nr_procs--;
	write_state(m);
}

const struct slice_server_ops slice_maps_ops = { .create = create_slots, .publish = publish, .withdraw = withdraw };

int slice_maps_prepare(struct bpf_object *object, unsigned int nr_cpu_ids)
{
	static const char *const one_a_cpu[] = { "roost_ext_cpus", "roost_ext_hists" };
	struct bpf_map *map = bpf_object__find_map_by_name(object, "roost_ext_procs");
	int rc;

	if (!map)
		return -ENOENT;
	rc = bpf_map__set_max_entries(map, SLICE_MAPS_MAX_PROCS);
	for (unsigned int i = 0; !rc && i < sizeof(one_a_cpu) / sizeof(one_a_cpu[0]); i++) {
		map = bpf_object__find_map_by_name(object, one_a_cpu[i]);
		rc = map ? bpf_map__set_max_entries(map, nr_cpu_ids) : -ENOENT;
	}
	return rc;
}

int slice_maps_open(struct slice_maps *maps, struct bpf_object *object)
{
	int procs = bpf_object__find_map_fd_by_name(object, "roost_ext_procs");
	int state = bpf_object__find_map_fd_by_name(object, "roost_ext_state");

	if (procs < 0 || state < 0)
		return -ENOENT;
	*maps = (struct slice_maps){ .procs_fd = procs, .state_fd = state };
	return 0;
}
