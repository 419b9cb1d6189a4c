/* SPDX-License-Identifier: GPL-2.0-only */
/* view.c - opening and mapping the pinned maps of a running roost; see view.h. */
#include "run/view.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what the kernel says ---- */

static void read_line(const char *root, const char *path, char *buf, size_t size)
{
	char full[512];
	FILE *f;

	buf[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "re");
	if (!f)
		return;
	if (!fgets(buf, (int)size, f))
		buf[0] = '\0';
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
}

void roost_kernel_state(const char *root, struct roost_kernel_state *s)
{
	memset(s, 0, sizeof(*s));
	read_line(root, "/sys/kernel/sched_ext/state", s->state, sizeof(s->state));
	s->supported = s->state[0] != '\0';
	if (!s->supported || strcmp(s->state, "disabled") == 0)
		return;
	read_line(root, "/sys/kernel/sched_ext/root/ops", s->ops, sizeof(s->ops));
	/* the kernel may add a version: NAME_VERSION */
	s->roost = strcmp(s->state, "enabled") == 0 && strncmp(s->ops, "roost", 5) == 0 &&
		   (!s->ops[5] || s->ops[5] == '_');
}

bool roost_view_alive(const struct roost_view *view)
{
	struct roost_kernel_state s;

	roost_kernel_state(view->root, &s);
	return s.roost;
}

/* ---- maps ---- */

enum { MAP_MACHINE, MAP_KNOBS, MAP_CONTROL, MAP_CPUS, MAP_STATS, MAP_LLCS, MAP_WORDS };

static const struct wanted {
	const char *name;
	size_t value_size;
	unsigned int writable;  /* with these flags */
} wanted[] = {
	[MAP_MACHINE] = { "machine", sizeof(struct roost_machine), 0 },
	[MAP_KNOBS] = { "knobs", sizeof(struct roost_knobs), ROOST_VIEW_WRITE },
	[MAP_CONTROL] = { "control", sizeof(struct roost_control), ROOST_VIEW_EVENTS },
	[MAP_CPUS] = { "cpus", sizeof(struct roost_cpu), 0 },
	[MAP_STATS] = { "stats", sizeof(struct roost_stats), 0 },
	[MAP_LLCS] = { "llcs", sizeof(struct roost_llc), 0 },
	[MAP_WORDS] = { "words", sizeof(struct roost_llc_word), 0 },
};
_Static_assert(sizeof(wanted) / sizeof(wanted[0]) == sizeof(((struct roost_view *)0)->map) /
	       sizeof(((struct roost_view *)0)->map[0]), "one place a map");

/* Never read-only: the kernel refuses to map a map shared through such a descriptor. */
static int open_pin(const char *dir, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* A map that is not what this program was built for belongs to another version of roost. */
static int map_one(struct roost_view_map *m, const char *dir, const struct wanted *w, bool write, u32 *entries)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);
	long page = sysconf(_SC_PAGESIZE);
	int fd, err = 0;

	fd = open_pin(dir, w->name);
	if (fd < 0)
		return fd;
	if (bpf_map_get_info_by_fd(fd, &info, &len)) {
		err = -errno;
		goto out;
	}
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != w->value_size || !(info.map_flags & BPF_F_MMAPABLE)) {
		err = -EPROTO;
		goto out;
	}
	m->size = (size_t)info.value_size * info.max_entries;
	m->size = (m->size + (size_t)page - 1) / (size_t)page * (size_t)page;
	m->at = mmap(NULL, m->size, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	if (m->at == MAP_FAILED) {
		m->at = NULL;
		err = -errno;
		goto out;
	}
	*entries = info.max_entries;
out:
	close(fd);
	return err;
}

static int map_all(struct roost_view *v, const char *dir, unsigned int flags)
{
	u32 entries[sizeof(wanted) / sizeof(wanted[0])];
	const struct roost_machine *m;
	int err;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		err = map_one(&v->map[i], dir, &wanted[i], flags & wanted[i].writable, &entries[i]);
		if (err)
			return err;
	}
	m = v->map[MAP_MACHINE].at;
	if (m->abi_version != ROOST_ABI_VERSION)
		return -EPROTO;
	if (m->nr_cpu_ids == 0 || m->nr_cpu_ids > entries[MAP_CPUS] || m->nr_cpu_ids > entries[MAP_STATS] ||
	    m->nr_llcs > entries[MAP_LLCS] || m->nr_words > entries[MAP_WORDS])
		return -EPROTO;
	v->machine = m;
	v->knobs = v->map[MAP_KNOBS].at;
	v->control = v->map[MAP_CONTROL].at;
	v->cpus = v->map[MAP_CPUS].at;
	v->stats = v->map[MAP_STATS].at;
	v->llcs = v->map[MAP_LLCS].at;
	v->words = v->map[MAP_WORDS].at;
	return 0;
}

/* Writers take turns, or two that each change one knob could together make a set that neither checked. */
static int lock_for_writing(struct roost_view *v, const char *dir)
{
	v->lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->lock_fd < 0)
		return -errno;
	while (flock(v->lock_fd, LOCK_EX)) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int roost_view_open(struct roost_view **view, const struct roost_view_place *place, unsigned int flags)
{
	const char *dir = place && place->pin_dir ? place->pin_dir : ROOST_PIN_DIR;
	struct roost_kernel_state s;
	struct roost_view *v;
	int err = 0;

	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->root = place && place->root ? place->root : "";
	v->lock_fd = -1;
	v->events_fd = -1;
	roost_kernel_state(v->root, &s);
	if (!s.supported)
		err = -EOPNOTSUPP;
	else if (!s.roost)
		err = s.ops[0] && strncmp(s.ops, "roost", 5) != 0 ? -EBUSY : -ENOENT;
	if (err)
		goto out;
	if (flags & ROOST_VIEW_WRITE)
		err = lock_for_writing(v, dir);
	if (!err && (flags & ROOST_VIEW_EVENTS)) {
		v->events_fd = open_pin(dir, "events");
		err = v->events_fd < 0 ? v->events_fd : 0;
	}
	if (!err)
		err = map_all(v, dir, flags);
	if (err == -ENOENT)
		err = -ENODEV;
out:
	if (err) {
		roost_view_close(v);
		v = NULL;
	}
	*view = v;
	return err;
}

void roost_view_close(struct roost_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (v->map[i].at)
			munmap(v->map[i].at, v->map[i].size);
	}
	if (v->events_fd >= 0)
		close(v->events_fd);
	if (v->lock_fd >= 0)
		close(v->lock_fd);
	free(v);
}
