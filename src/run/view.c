/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view.c - the records of a running roost mapped into memory, its own loader's or anybody's.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/run.h"
#include "run/view.h"

/* The maps of a view, in the order of its `mapped`. */
static const char *const map_names[8] = {
	"roost_knobs", "roost_control", "roost_machine", "roost_cpus",
	"roost_llcs", "roost_words", "roost_stats", "roost_exit",
};
static const size_t value_size[8] = {
	sizeof(struct roost_knobs), sizeof(struct roost_control), sizeof(struct roost_machine), sizeof(struct roost_cpu),
	sizeof(struct roost_llc), sizeof(struct roost_llc_word), sizeof(struct roost_stats), sizeof(struct roost_exit),
};
#define EVENTS_NAME "roost_events"

/* A map of the right name and shape. */
static int map_one(struct roost_view *v, u32 i, int fd, bool write)
{
	struct bpf_map_info info = { 0 };
	u32 len = sizeof(info);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length;
	void *at;

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (info.value_size != value_size[i])
		return -EPROTO; /* another version's */
	/* the kernel rounds a value up to 8 bytes */
	length = ((size_t)info.value_size + 7) / 8 * 8 * info.max_entries;
	length = (length + page - 1) / page * page;
	at = mmap(NULL, length, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	v->mapped[i].address = at;
	v->mapped[i].length = length;
	return 0;
}

static void set_pointers(struct roost_view *v)
{
	v->knobs = v->mapped[0].address;
	v->control = v->mapped[1].address;
	v->machine = v->mapped[2].address;
	v->cpus = v->mapped[3].address;
	v->llcs = v->mapped[4].address;
	v->words = v->mapped[5].address;
	v->stats = v->mapped[6].address;
	v->exit = v->mapped[7].address;
}

int view_open(struct roost_view **out, const int fds[8], int events_fd, bool writable, bool own)
{
	struct roost_view *v = calloc(1, sizeof(*v));
	int err = 0;
	u32 i;

	if (!v)
		return -ENOMEM;
	v->events_fd = -1;
	v->writable = writable;
	for (i = 0; i < 8 && !err; i++)
		err = map_one(v, i, fds[i], own || (writable && i < 2));
	if (!err && events_fd >= 0) {
		v->events_fd = fcntl(events_fd, F_DUPFD_CLOEXEC, 3);
		if (v->events_fd < 0)
			err = -errno;
	}
	if (err) {
		roost_close(v);
		return err;
	}
	set_pointers(v);
	*out = v;
	return 0;
}

void roost_close(struct roost_view *v)
{
	u32 i;

	if (!v)
		return;
	for (i = 0; i < 8; i++)
		if (v->mapped[i].address)
			munmap(v->mapped[i].address, v->mapped[i].length);
	if (v->events_fd >= 0)
		close(v->events_fd);
	free(v);
}

const char *view_map_name(u32 i)
{
	return i < 8 ? map_names[i] : EVENTS_NAME;
}

static int slot_of(const char *name)
{
	u32 i;

	for (i = 0; i < 8; i++)
		/* the kernel keeps 15 characters */
		if (!strncmp(name, map_names[i], 15))
			return (int)i;
	return strncmp(name, EVENTS_NAME, 15) ? -1 : 8;
}

/*
 * The newest set of maps wins: a loader that is being replaced may still hold an older one. Ids only grow.
 */
int roost_find(struct roost_view **out, bool writable)
{
	int fds[9] = { -1, -1, -1, -1, -1, -1, -1, -1, -1 }, fd, slot, err = 0, i;
	char name[128];
	u32 id = 0;

	if (roost_current_scheduler(name, sizeof(name)) || strncmp(name, "roost", 5))
		return -ENOENT;
	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = { 0 };
		u32 len = sizeof(info);

		fd = bpf_map_get_fd_by_id(id);
		if (fd < 0) {
			if (errno == ENOENT)
				continue;
			err = -errno;
			goto out;
		}
		slot = bpf_map_get_info_by_fd(fd, &info, &len) ? -1 : slot_of(info.name);
		if (slot < 0) {
			close(fd);
			continue;
		}
		if (fds[slot] >= 0)
			close(fds[slot]);
		fds[slot] = fd;
	}
	if (errno == EPERM)
		err = -EPERM;
	for (i = 0; i < 8 && !err; i++)
		if (fds[i] < 0)
			err = -ENOENT;
	if (!err)
		err = view_open(out, fds, fds[8], writable, false);
out:
	for (i = 0; i < 9; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return err;
}

int roost_current_scheduler(char *buf, size_t size)
{
	FILE *f = fopen("/sys/kernel/sched_ext/root/ops", "re");
	int err = 0;

	if (!size)
		return -EINVAL;
	buf[0] = '\0';
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	if (!fgets(buf, (int)size, f) && ferror(f))
		err = -errno;
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return err;
}
