/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups CPUs into cores, LLCs, nodes and sockets, whatever the source was; see build.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/build.h"

int topo_fail(struct topo_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->err = code;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		/* A refusal is one line, also when it quotes a file that is not. */
		for (char *c = err->text; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
	}
	return code;
}

/* One item of a list, "7" or "3-9"; *text moves past it. */
static int list_item(const char **text, uint32_t limit, uint32_t *lo, uint32_t *hi)
{
	uint32_t v[2] = {0, 0};
	const char *p = *text;
	int n = 0;

	for (;;) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		for (; *p >= '0' && *p <= '9'; p++) {
			v[n] = v[n] * 10 + (uint32_t)(*p - '0');
			if (v[n] >= limit)
				return -ERANGE;
		}
		if (n == 0 && *p == '-') {
			n = 1;
			p++;
			continue;
		}
		break;
	}
	*lo = v[0];
	*hi = n ? v[1] : v[0];
	if (*hi < *lo)
		return -EINVAL;
	*text = p;
	return 0;
}

static bool list_end(const char *p)
{
	while (*p == '\n' || *p == ' ' || *p == '\t')
		p++;
	return *p == '\0';
}

int topo_parse_list(const char *text, uint32_t limit, struct topo_mask *out)
{
	const char *p = text;
	uint32_t lo, hi;
	int ret;

	memset(out, 0, sizeof(*out));
	if (limit > TOPO_MAX_CPUS)
		limit = TOPO_MAX_CPUS;
	if (list_end(p))
		return 0;
	for (;;) {
		ret = list_item(&p, limit, &lo, &hi);
		if (ret)
			return ret;
		for (uint32_t i = lo; i <= hi; i++)
			topo_mask_set(out, i);
		if (*p != ',')
			return list_end(p) ? 0 : -EINVAL;
		p++;
	}
}

int topo_list_first(const char *text, uint32_t limit, uint32_t self, uint32_t *first, bool *has_self)
{
	const char *p = text;
	uint32_t lo, hi, min = UINT32_MAX;
	int ret;

	*has_self = false;
	if (list_end(p))
		return -EINVAL;
	for (;;) {
		ret = list_item(&p, limit, &lo, &hi);
		if (ret)
			return ret;
		if (lo < min)
			min = lo;
		if (self >= lo && self <= hi)
			*has_self = true;
		if (*p != ',')
			break;
		p++;
	}
	*first = min;
	return list_end(p) ? 0 : -EINVAL;
}

/* A CPU and the key of the group it belongs to, for sorting: groups come out in order of their first CPU. */
struct keyed {
	int64_t outer, key;
	uint32_t cpu;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->outer != y->outer)
		return x->outer < y->outer ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

struct grouping {
	struct machine_group *groups;
	uint32_t *members;
	uint32_t nr;
};

static int by_first_cpu(const void *a, const void *b, void *arg)
{
	const struct machine_group *x = a, *y = b;
	const uint32_t *members = arg;

	return members[x->first] < members[y->first] ? -1 : members[x->first] > members[y->first];
}

/* Groups n keyed CPUs; afterwards group_of[cpu] is the dense index, numbered by lowest member. */
static int group(struct keyed *k, uint32_t n, int32_t *group_of, struct grouping *g)
{
	uint32_t *sorted = NULL, at = 0;
	int ret = -ENOMEM;

	g->groups = calloc(n, sizeof(*g->groups));
	g->members = calloc(n, sizeof(*g->members));
	sorted = calloc(n, sizeof(*sorted));
	if (!g->groups || !g->members || !sorted)
		goto out;
	qsort(k, n, sizeof(*k), by_key);
	g->nr = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || k[i].outer != k[i - 1].outer || k[i].key != k[i - 1].key)
			g->groups[g->nr++] = (struct machine_group){ .first = i, .id = -1, .parent = -1 };
		g->groups[g->nr - 1].count++;
		sorted[i] = k[i].cpu;
	}
	qsort_r(g->groups, g->nr, sizeof(*g->groups), by_first_cpu, sorted);
	for (uint32_t i = 0; i < g->nr; i++) {
		struct machine_group *gr = &g->groups[i];

		for (uint32_t j = 0; j < gr->count; j++) {
			g->members[at + j] = sorted[gr->first + j];
			group_of[sorted[gr->first + j]] = (int32_t)i;
		}
		gr->first = at;
		at += gr->count;
	}
	ret = 0;
out:
	free(sorted);
	return ret;
}

static int group_all(const struct topo_raw *raw, struct machine *m, struct keyed *k, int32_t *of)
{
	struct grouping g = {0};
	uint32_t n = m->nr_online, i;
	int ret;

#define GROUP(field, list, cpulist, count, outer_expr, key_expr)                                             \
	do {                                                                                                 \
		uint32_t at_ = 0;                                                                            \
		for (i = 0; i < m->nr_cpu_ids; i++)                                                          \
			if (raw[i].online)                                                                   \
				k[at_++] = (struct keyed){ .outer = (outer_expr), .key = (key_expr), .cpu = i }; \
		ret = group(k, n, of, &g);                                                                   \
		m->list = g.groups;                                                                          \
		m->cpulist = g.members;                                                                      \
		m->count = g.nr;                                                                             \
		g = (struct grouping){0};                                                                    \
		if (ret)                                                                                     \
			return ret;                                                                          \
		for (i = 0; i < m->nr_cpu_ids; i++)                                                          \
			if (raw[i].online)                                                                   \
				m->cpus[i].field = of[i];                                                    \
	} while (0)

	GROUP(socket, sockets, socket_cpus, nr_sockets, 0, raw[i].socket);
	GROUP(node, nodes, node_cpus, nr_nodes, 0, raw[i].node);
	/* Without cache information the LLC is the socket (or the die, where the source knew one). */
	GROUP(llc, llcs, llc_cpus, nr_llcs, m->cpus[i].node,
	      raw[i].llc == TOPO_KEY_NONE ? INT64_MIN / 2 + m->cpus[i].socket : raw[i].llc);
	GROUP(core, cores, core_cpus, nr_cores, m->cpus[i].llc,
	      raw[i].core == TOPO_KEY_NONE ? INT64_MIN / 2 + i : raw[i].core);
#undef GROUP
	return 0;
}

static void name_groups(struct machine *m, const struct topo_raw *raw)
{
	uint32_t i, j;

	m->smt_max = 1;
	for (i = 0; i < m->nr_cores; i++) {
		struct machine_group *g = &m->cores[i];

		g->parent = m->cpus[m->core_cpus[g->first]].llc;
		if (g->count > m->smt_max)
			m->smt_max = g->count;
		for (j = 0; j < g->count; j++)
			m->cpus[m->core_cpus[g->first + j]].smt_next =
				(int32_t)m->core_cpus[g->first + (j + 1) % g->count];
	}
	for (i = 0; i < m->nr_llcs; i++)
		m->llcs[i].parent = m->cpus[m->llc_cpus[m->llcs[i].first]].node;
	for (i = 0; i < m->nr_nodes; i++) {
		uint32_t cpu = m->node_cpus[m->nodes[i].first];

		m->nodes[i].parent = m->cpus[cpu].socket;
		m->nodes[i].id = raw[cpu].node;
	}
	for (i = 0; i < m->nr_sockets; i++) {
		int64_t key = raw[m->socket_cpus[m->sockets[i].first]].socket;

		m->sockets[i].id = key >= 0 && key <= INT32_MAX ? (int32_t)key : -1;
	}
}

static int fill_distances(struct machine *m, const uint8_t *distances, uint32_t nr_numbers)
{
	uint32_t n = m->nr_nodes;

	m->node_distance = calloc(n, n);
	if (!m->node_distance)
		return -ENOMEM;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			int32_t x = m->nodes[a].id, y = m->nodes[b].id;
			uint8_t d = 0;

			if (distances && x >= 0 && y >= 0 && (uint32_t)x < nr_numbers && (uint32_t)y < nr_numbers)
				d = distances[(size_t)x * nr_numbers + (uint32_t)y];
			if (!d)
				d = a == b ? 10 : m->nodes[a].parent == m->nodes[b].parent ? 12 : 20;
			m->node_distance[(size_t)a * n + b] = d;
		}
	return 0;
}

int topo_build(const struct topo_raw *raw, uint32_t nr_ids, const uint8_t *distances, uint32_t nr_numbers,
	       struct machine **out, struct topo_error *err)
{
	struct machine *m = NULL;
	struct keyed *k = NULL;
	int32_t *of = NULL;
	int ret = -ENOMEM;

	*out = NULL;
	if (nr_ids == 0 || nr_ids > TOPO_MAX_CPUS)
		return topo_fail(err, -EINVAL, "%u CPU ids: a machine has 1 to %d", nr_ids, TOPO_MAX_CPUS);
	m = calloc(1, sizeof(*m));
	if (!m)
		goto out;
	m->nr_cpu_ids = nr_ids;
	m->cpus = calloc(nr_ids, sizeof(*m->cpus));
	k = calloc(nr_ids, sizeof(*k));
	of = calloc(nr_ids, sizeof(*of));
	if (!m->cpus || !k || !of)
		goto out;
	for (uint32_t i = 0; i < nr_ids; i++) {
		m->cpus[i] = (struct machine_cpu){
			.core = -1, .llc = -1, .node = -1, .socket = -1, .smt_next = -1,
			.capacity = raw[i].capacity, .possible = raw[i].possible,
			.present = raw[i].present, .online = raw[i].online,
		};
		m->nr_possible += raw[i].possible;
		m->nr_present += raw[i].present;
		m->nr_online += raw[i].online;
	}
	if (!m->nr_online) {
		ret = topo_fail(err, -EINVAL, "no CPU is online");
		goto out;
	}
	ret = group_all(raw, m, k, of);
	if (ret)
		goto out;
	name_groups(m, raw);
	ret = fill_distances(m, distances, nr_numbers);
	if (ret)
		goto out;
	costs_generic(&m->costs);
	*out = m;
	m = NULL;
out:
	if (ret == -ENOMEM)
		topo_fail(err, ret, "not enough memory for a machine of %u CPUs", nr_ids);
	free(k);
	free(of);
	topology_free(m);
	return ret;
}

void topology_free(struct machine *m)
{
	if (!m)
		return;
	free(m->cpus);
	free(m->cores);
	free(m->llcs);
	free(m->nodes);
	free(m->sockets);
	free(m->core_cpus);
	free(m->llc_cpus);
	free(m->node_cpus);
	free(m->socket_cpus);
	free(m->node_distance);
	free(m);
}

enum topo_distance topology_distance(const struct machine *m, uint32_t a, uint32_t b)
{
	const struct machine_cpu *x = &m->cpus[a], *y = &m->cpus[b];

	if (a == b)
		return TOPO_SELF;
	if (x->core < 0 || y->core < 0)
		return TOPO_MACHINE;
	if (x->core == y->core)
		return TOPO_SMT;
	if (x->llc == y->llc)
		return TOPO_LLC;
	if (x->node == y->node)
		return x->socket == y->socket ? TOPO_NODE : TOPO_MACHINE;
	return x->socket == y->socket ? TOPO_SOCKET : TOPO_MACHINE;
}

const char *topology_distance_name(enum topo_distance d)
{
	static const char *const names[TOPO_NR_DISTANCES] = {
		[TOPO_SELF] = "same CPU", [TOPO_SMT] = "same core", [TOPO_LLC] = "same LLC",
		[TOPO_NODE] = "same node", [TOPO_SOCKET] = "same socket", [TOPO_MACHINE] = "other socket",
	};

	return d < TOPO_NR_DISTANCES ? names[d] : "?";
}
