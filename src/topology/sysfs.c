/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine from ROOT/sys/devices/system/{cpu,node}, read by hand.
 *
 * hwloc would do for the machine we run on, but not for what we need here: CPUs that are possible and offline,
 * and trees that are made up or copied from elsewhere and hold only some of the files. Which files are needed:
 * cpu/possible or cpu/present; a CPU's own topology, cache, node and capacity files may each be missing, and
 * then the CPU is a core of its own, in its socket's LLC, in no node, at full capacity. A file that is there and
 * says nonsense is refused by name: a wrong machine would give wrong placement without a word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology/build.h"

#define FILE_BYTES_MAX (128 * 1024) /* a list of 8192 CPUs that alternate takes less than 48 KB */
#define CACHE_INDEX_MAX 16

struct reader {
	int root_fd; /* ROOT/sys/devices/system */
	char root[200];
	char path[120]; /* of the file read last, below root */
	char *buf;
	struct topo_error *err;
};

/* 0 and the text in r->buf; -ENOENT when there is no such file (no complaint); other errors are refused. */
static int slurp(struct reader *r)
{
	size_t len = 0;
	ssize_t n;
	int fd, ret = 0;

	fd = openat(r->root_fd, r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return -ENOENT;
		ret = -errno;
		return topo_fail(r->err, ret, "%s/%s: %s", r->root, r->path, strerror(errno));
	}
	for (;;) {
		n = read(fd, r->buf + len, FILE_BYTES_MAX - len);
		if (n < 0) {
			ret = -errno;
			/* The kernel answers so for a CPU that went offline under us. */
			if (errno != ENXIO && errno != ENODEV)
				topo_fail(r->err, ret, "%s/%s: %s", r->root, r->path, strerror(errno));
			else
				ret = -ENOENT;
			break;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len == FILE_BYTES_MAX) {
			ret = topo_fail(r->err, -EFBIG, "%s/%s: longer than any such file (%d bytes)", r->root,
					r->path, FILE_BYTES_MAX);
			break;
		}
	}
	close(fd);
	if (!ret && memchr(r->buf, '\0', len))
		ret = topo_fail(r->err, -EINVAL, "%s/%s: holds a zero byte", r->root, r->path);
	r->buf[len] = '\0';
	return ret;
}

static int bad(struct reader *r, const char *want)
{
	return topo_fail(r->err, -EINVAL, "%s/%s: \"%.40s\" is not %s", r->root, r->path, r->buf, want);
}

#define READ(r, ...) (snprintf((r)->path, sizeof((r)->path), __VA_ARGS__), slurp(r))

static int parse_list(struct reader *r, uint32_t limit, struct topo_mask *mask)
{
	int ret = topo_parse_list(r->buf, limit, mask);

	if (ret == -ERANGE)
		return topo_fail(r->err, ret, "%s/%s: names a number of %u or more; the limit is %u", r->root, r->path,
				 limit, limit - 1);
	return ret ? bad(r, "a list such as 0-3,8") : 0;
}

/* A whole decimal number in [min, max], alone in the file. */
static int parse_number(struct reader *r, int64_t min, int64_t max, int64_t *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(r->buf, &end, 10);
	while (*end == '\n' || *end == ' ')
		end++;
	if (errno || end == r->buf || *end || v < min || v > max) {
		char want[80];

		snprintf(want, sizeof(want), "a number from %lld to %lld", (long long)min, (long long)max);
		return bad(r, want);
	}
	*out = v;
	return 0;
}

static int read_masks(struct reader *r, struct topo_mask *possible, struct topo_mask *present,
		      struct topo_mask *online)
{
	int ret, have;

	ret = READ(r, "cpu/present");
	have = !ret;
	if (!ret)
		ret = parse_list(r, TOPO_MAX_CPUS, present);
	if (ret && ret != -ENOENT)
		return ret;
	ret = READ(r, "cpu/possible");
	if (!ret)
		ret = parse_list(r, TOPO_MAX_CPUS, possible);
	else if (ret == -ENOENT && have) {
		*possible = *present;
		ret = 0;
	}
	if (ret == -ENOENT)
		return topo_fail(r->err, ret, "%s/cpu/possible: no such file; is %s the parent of a sys directory?",
				 r->root, r->root);
	if (ret)
		return ret;
	if (!have)
		*present = *possible;
	ret = READ(r, "cpu/online");
	if (ret == -ENOENT) {
		*online = *present;
		return 0;
	}
	return ret ? ret : parse_list(r, TOPO_MAX_CPUS, online);
}

/* The lowest member of a list that should name the CPU itself: the key of the group. */
static int group_key(struct reader *r, uint32_t cpu, int64_t *key)
{
	uint32_t first;
	bool self;
	int ret = topo_list_first(r->buf, TOPO_MAX_CPUS, cpu, &first, &self);

	if (ret)
		return bad(r, "a list of CPUs such as 0-3,8");
	if (!self)
		return topo_fail(r->err, -EINVAL, "%s/%s: does not name CPU %u itself", r->root, r->path, cpu);
	*key = first;
	return 0;
}

/* The highest-level data or unified cache. */
static int read_llc(struct reader *r, uint32_t cpu, int64_t *key)
{
	int64_t level, best = 0;
	int ret;

	for (int i = 0; i < CACHE_INDEX_MAX; i++) {
		ret = READ(r, "cpu/cpu%u/cache/index%d/level", cpu, i);
		if (ret == -ENOENT)
			break;
		if (ret)
			return ret;
		ret = parse_number(r, 0, 16, &level);
		if (ret)
			return ret;
		if (level <= best)
			continue;
		ret = READ(r, "cpu/cpu%u/cache/index%d/type", cpu, i);
		if (ret && ret != -ENOENT)
			return ret;
		if (!ret && !strncmp(r->buf, "Instruction", 11))
			continue;
		ret = READ(r, "cpu/cpu%u/cache/index%d/shared_cpu_list", cpu, i);
		if (ret == -ENOENT)
			continue;
		if (!ret)
			ret = group_key(r, cpu, key);
		if (ret)
			return ret;
		best = level;
	}
	return 0;
}

static int read_cpu(struct reader *r, uint32_t cpu, struct topo_raw *raw)
{
	int64_t v, die = 0;
	int ret;

	ret = READ(r, "cpu/cpu%u/topology/core_cpus_list", cpu);
	if (ret == -ENOENT)
		ret = READ(r, "cpu/cpu%u/topology/thread_siblings_list", cpu);
	if (!ret)
		ret = group_key(r, cpu, &raw->core);
	if (ret && ret != -ENOENT)
		return ret;
	ret = READ(r, "cpu/cpu%u/topology/physical_package_id", cpu);
	if (!ret)
		ret = parse_number(r, INT32_MIN, INT32_MAX, &raw->socket); /* -1: the firmware does not say */
	if (ret && ret != -ENOENT)
		return ret;
	ret = READ(r, "cpu/cpu%u/topology/die_id", cpu);
	if (!ret)
		ret = parse_number(r, INT32_MIN, INT32_MAX, &die);
	if (ret && ret != -ENOENT)
		return ret;
	ret = READ(r, "cpu/cpu%u/cpu_capacity", cpu);
	if (!ret) {
		ret = parse_number(r, 1, TOPO_CAPACITY_FULL, &v);
		if (!ret)
			raw->capacity = (uint16_t)v;
	}
	if (ret && ret != -ENOENT)
		return ret;
	ret = read_llc(r, cpu, &raw->llc);
	/* No cache information: the die, and where there are none, the socket. Apart from every CPU id. */
	if (!ret && raw->llc == TOPO_KEY_NONE)
		raw->llc = -(raw->socket * (1 << 20) + (die & 0xfffff)) - (INT64_C(1) << 56);
	return ret;
}

static int read_distances(struct reader *r, uint32_t node, uint8_t *row, uint32_t nr)
{
	char *p, *end;
	int ret;

	ret = READ(r, "node/node%u/distance", node);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	p = r->buf;
	for (uint32_t i = 0; i < nr; i++) {
		unsigned long v;

		while (*p == ' ')
			p++;
		if (*p == '\n' || !*p)
			break;
		v = strtoul(p, &end, 10);
		if (end == p || v < 1 || v > 255)
			return bad(r, "a row of distances from 1 to 255");
		row[i] = (uint8_t)v;
		p = end;
	}
	return 0;
}

static int read_nodes(struct reader *r, struct topo_raw *raw, uint32_t nr_ids, uint8_t **distances, uint32_t *nr_nodes)
{
	struct topo_mask *nodes, *cpus;
	uint32_t nr = 0, at = 0, online[TOPO_MAX_NODES];
	int ret = -ENOMEM;

	nodes = malloc(2 * sizeof(*nodes));
	if (!nodes)
		return topo_fail(r->err, ret, "not enough memory");
	cpus = nodes + 1;
	ret = READ(r, "node/online");
	if (ret == -ENOENT) {
		ret = 0; /* no NUMA */
		goto out;
	}
	if (!ret)
		ret = parse_list(r, TOPO_MAX_NODES, nodes);
	if (ret)
		goto out;
	for (uint32_t n = 0; n < TOPO_MAX_NODES; n++)
		if (topo_mask_test(nodes, n)) {
			online[at++] = n;
			nr = n + 1;
		}
	if (!nr)
		goto out;
	*distances = calloc(nr, nr);
	if (!*distances) {
		ret = topo_fail(r->err, -ENOMEM, "not enough memory");
		goto out;
	}
	*nr_nodes = nr;
	for (uint32_t i = 0; i < at; i++) {
		uint32_t n = online[i];
		uint8_t row[TOPO_MAX_NODES] = {0};

		ret = READ(r, "node/node%u/cpulist", n);
		if (ret == -ENOENT)
			continue;
		if (!ret)
			ret = parse_list(r, TOPO_MAX_CPUS, cpus);
		if (ret)
			goto out;
		for (uint32_t c = 0; c < nr_ids; c++) {
			if (!topo_mask_test(cpus, c))
				continue;
			if (raw[c].node >= 0) {
				ret = topo_fail(r->err, -EINVAL, "%s/%s: CPU %u is in node %d already", r->root,
						r->path, c, raw[c].node);
				goto out;
			}
			raw[c].node = (int32_t)n;
		}
		/* A distance row has one figure an online node, in order. */
		ret = read_distances(r, n, row, at);
		if (ret)
			goto out;
		for (uint32_t j = 0; j < at; j++)
			(*distances)[(size_t)n * nr + online[j]] = row[j];
	}
	ret = 0;
out:
	free(nodes);
	return ret;
}

int topology_from_sysfs(const char *root, struct machine **out, struct topo_error *err)
{
	struct reader r = { .root_fd = -1, .err = err };
	struct topo_mask *masks = NULL;
	struct topo_raw *raw = NULL;
	uint8_t *distances = NULL;
	uint32_t nr_ids = 0, nr_nodes = 0;
	int ret = -ENOMEM;

	*out = NULL;
	if (!root || !*root || !strcmp(root, "/"))
		root = "";
	if (snprintf(r.root, sizeof(r.root), "%s/sys/devices/system", root) >= (int)sizeof(r.root))
		return topo_fail(err, -ENAMETOOLONG, "%.60s...: a path of more than %zu bytes", root, sizeof(r.root) - 24);
	r.buf = malloc(FILE_BYTES_MAX + 1);
	masks = malloc(3 * sizeof(*masks));
	if (!r.buf || !masks) {
		topo_fail(err, ret, "not enough memory");
		goto out;
	}
	r.root_fd = open(r.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r.root_fd < 0) {
		ret = topo_fail(err, -errno, "%s: %s", r.root, strerror(errno));
		goto out;
	}
	ret = read_masks(&r, &masks[0], &masks[1], &masks[2]);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < TOPO_MAX_CPUS; i++)
		if (topo_mask_test(&masks[0], i))
			nr_ids = i + 1;
	if (!nr_ids) {
		ret = topo_fail(err, -EINVAL, "%s/cpu/possible: names no CPU", r.root);
		goto out;
	}
	for (uint32_t i = 0; i < TOPO_MAX_CPUS; i++)
		if (topo_mask_test(&masks[2], i) && !topo_mask_test(&masks[0], i)) {
			ret = topo_fail(err, -EINVAL, "%s/cpu/online: CPU %u is online and not possible", r.root, i);
			goto out;
		}
	raw = calloc(nr_ids, sizeof(*raw));
	if (!raw) {
		ret = topo_fail(err, -ENOMEM, "not enough memory");
		goto out;
	}
	for (uint32_t i = 0; i < nr_ids; i++) {
		raw[i] = (struct topo_raw){
			.possible = topo_mask_test(&masks[0], i), .present = topo_mask_test(&masks[1], i),
			.online = topo_mask_test(&masks[2], i), .capacity = TOPO_CAPACITY_FULL,
			.core = TOPO_KEY_NONE, .llc = TOPO_KEY_NONE, .socket = -1, .node = -1,
		};
		ret = raw[i].online ? read_cpu(&r, i, &raw[i]) : 0;
		if (ret)
			goto out;
	}
	ret = read_nodes(&r, raw, nr_ids, &distances, &nr_nodes);
	if (ret)
		goto out;
	ret = topo_build(raw, nr_ids, distances, nr_nodes, out, err);
	if (!ret) {
		snprintf((*out)->name, sizeof((*out)->name), "%s", *root ? "sysfs" : "this");
		snprintf((*out)->about, sizeof((*out)->about), "from %.140s", r.root);
	}
out:
	if (r.root_fd >= 0)
		close(r.root_fd);
	free(r.buf);
	free(masks);
	free(raw);
	free(distances);
	return ret;
}
