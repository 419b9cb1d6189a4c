/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machine files (machines/NAME.machine) and cost files (NAME.costs): text, one figure a line,
 *
 *     key = value unit | kind: source
 *
 * under [machine] (name, about: free text), [topology] and [costs]. A cost file has no [topology]. A figure
 * without a unit or a source is refused: that is the point of the format.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/build.h"
#include "topology/embedded.h"

const struct cost_info cost_infos[COST_NR] = {
#define COST_INFO(sym, k, u, lo, hi, text) [COST_##sym] = { .key = k, .unit = u, .help = text, .min = lo, .max = hi },
	COST_TABLE(COST_INFO)
#undef COST_INFO
};

const char *const cost_source_kinds[] = { "measured", "published", "vendor", "kernel", "derived", "assumed", "fitted",
					  NULL };

enum topo_key { SOCKETS, NODES, LLCS, CORES, THREADS, SIBLINGS_LAST, DISTANCE_SOCKET, DISTANCE_REMOTE, NR_TOPO_KEYS };

static const struct cost_info topo_infos[NR_TOPO_KEYS] = {
	[SOCKETS] = { .key = "sockets", .unit = "count", .min = 1, .max = 64 },
	[NODES] = { .key = "nodes-per-socket", .unit = "count", .min = 1, .max = 64 },
	[LLCS] = { .key = "llcs-per-node", .unit = "count", .min = 1, .max = 256 },
	[CORES] = { .key = "cores-per-llc", .unit = "count", .min = 1, .max = 4096 },
	[THREADS] = { .key = "threads-per-core", .unit = "count", .min = 1, .max = 8 },
	[SIBLINGS_LAST] = { .key = "siblings-last", .unit = "flag", .min = 0, .max = 1 },
	[DISTANCE_SOCKET] = { .key = "node-distance-socket", .unit = "slit", .min = 10, .max = 255 },
	[DISTANCE_REMOTE] = { .key = "node-distance-remote", .unit = "slit", .min = 10, .max = 255 },
};

enum section { SEC_NONE, SEC_MACHINE, SEC_TOPOLOGY, SEC_COSTS };

struct parser {
	const char *where;
	int line;
	enum section section;
	struct topo_error *err;
	struct costs *costs;
	int64_t topo[NR_TOPO_KEYS];
	bool topo_set[NR_TOPO_KEYS];
	bool topology_seen;
	char name[64], about[160];
};

#define REFUSE(p, fmt, ...) topo_fail((p)->err, -EINVAL, "%s:%d: " fmt, (p)->where, (p)->line, ##__VA_ARGS__)

int cost_find(const char *key)
{
	for (int i = 0; i < COST_NR; i++)
		if (!strcmp(cost_infos[i].key, key))
			return i;
	return -1;
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

static int parse_section(struct parser *p, const char *s)
{
	if (!strcmp(s, "[machine]"))
		p->section = SEC_MACHINE;
	else if (!strcmp(s, "[topology]"))
		p->section = SEC_TOPOLOGY;
	else if (!strcmp(s, "[costs]"))
		p->section = SEC_COSTS;
	else
		return REFUSE(p, "%.40s is not [machine], [topology] or [costs]", s);
	if (p->section == SEC_TOPOLOGY)
		p->topology_seen = true;
	return 0;
}

static int check_source(struct parser *p, const char *key, const char *source)
{
	char kinds[120] = "";

	for (int i = 0; cost_source_kinds[i]; i++) {
		size_t n = strlen(cost_source_kinds[i]);

		if (!strncmp(source, cost_source_kinds[i], n) && source[n] == ':' && source[n + 1])
			return 0;
		snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s", i ? ", " : "",
			 cost_source_kinds[i]);
	}
	return REFUSE(p, "%s: the source must read \"KIND: where from\" with KIND one of %s", key, kinds);
}

/* "value unit" for the given figure. */
static int parse_value(struct parser *p, const struct cost_info *info, const char *text, int64_t *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || errno)
		return REFUSE(p, "%s: \"%.40s\" is not a whole number with its unit (%s)", info->key, text, info->unit);
	while (*end == ' ' || *end == '\t')
		end++;
	if (strcmp(end, info->unit))
		return REFUSE(p, "%s: the unit is %s, not \"%.20s\"", info->key, info->unit, end);
	if (v < info->min || v > info->max)
		return REFUSE(p, "%s: %lld is outside %lld to %lld %s", info->key, v, (long long)info->min,
			      (long long)info->max, info->unit);
	*out = v;
	return 0;
}

static int parse_figure(struct parser *p, const char *key, char *value)
{
	char *bar = strchr(value, '|');
	char *source;
	int i, ret;

	if (!bar)
		return REFUSE(p, "%.40s: no source (key = value unit | kind: source)", key);
	*bar = '\0';
	value = trim(value);
	source = trim(bar + 1);
	ret = check_source(p, key, source);
	if (ret)
		return ret;
	if (p->section == SEC_TOPOLOGY) {
		for (i = 0; i < NR_TOPO_KEYS && strcmp(topo_infos[i].key, key); i++)
			;
		if (i == NR_TOPO_KEYS)
			return REFUSE(p, "there is no topology figure \"%.40s\"", key);
		if (p->topo_set[i])
			return REFUSE(p, "%s is given twice", key);
		p->topo_set[i] = true;
		return parse_value(p, &topo_infos[i], value, &p->topo[i]);
	}
	i = cost_find(key);
	if (i < 0)
		return REFUSE(p, "there is no cost figure \"%.40s\"", key);
	if (p->costs->set[i])
		return REFUSE(p, "%s is given twice", key);
	ret = parse_value(p, &cost_infos[i], value, &p->costs->v[i]);
	if (ret)
		return ret;
	if (strlen(source) >= COST_SOURCE_MAX)
		return REFUSE(p, "%s: a source of more than %d bytes", key, COST_SOURCE_MAX - 1);
	p->costs->set[i] = true;
	memcpy(p->costs->source[i], source, strlen(source) + 1);
	return 0;
}

static int parse_line(struct parser *p, char *s)
{
	char *eq;

	s = trim(s);
	if (!*s || *s == '#')
		return 0;
	if (*s == '[')
		return parse_section(p, s);
	if (p->section == SEC_NONE)
		return REFUSE(p, "a figure before the first section ([machine], [topology] or [costs])");
	eq = strchr(s, '=');
	if (!eq)
		return REFUSE(p, "\"%.40s\" is neither a section nor key = value", s);
	*eq = '\0';
	s = trim(s);
	eq = trim(eq + 1);
	if (p->section != SEC_MACHINE)
		return parse_figure(p, s, eq);
	if (!strcmp(s, "name"))
		snprintf(p->name, sizeof(p->name), "%s", eq);
	else if (!strcmp(s, "about"))
		snprintf(p->about, sizeof(p->about), "%s", eq);
	else
		return REFUSE(p, "[machine] has name and about, not \"%.40s\"", s);
	return 0;
}

static int parse_text(struct parser *p, const char *text)
{
	char line[512];
	int ret;

	for (p->line = 1; *text; p->line++) {
		size_t n = strcspn(text, "\n");

		if (n >= sizeof(line))
			return REFUSE(p, "a line of more than %zu bytes", sizeof(line) - 1);
		memcpy(line, text, n);
		line[n] = '\0';
		ret = parse_line(p, line);
		if (ret)
			return ret;
		text += n + (text[n] == '\n');
	}
	return 0;
}

/* CPU ids: either siblings side by side, or all first threads, then all second ones (siblings-last). */
static int build_topology(struct parser *p, struct machine **out)
{
	int64_t per_socket, cores, threads = p->topo[THREADS], total;
	uint8_t *distances = NULL;
	struct topo_raw *raw = NULL;
	uint32_t nodes;
	int ret = -ENOMEM;

	per_socket = p->topo[NODES] * p->topo[LLCS] * p->topo[CORES];
	cores = p->topo[SOCKETS] * per_socket;
	total = cores * threads;
	if (total > TOPO_MAX_CPUS)
		return topo_fail(p->err, -ERANGE, "%s: %lld CPUs; the limit is %d", p->where, (long long)total,
				 TOPO_MAX_CPUS);
	nodes = (uint32_t)(p->topo[SOCKETS] * p->topo[NODES]);
	raw = calloc((size_t)total, sizeof(*raw));
	distances = calloc(nodes, nodes);
	if (!raw || !distances)
		goto out;
	for (int64_t c = 0; c < cores; c++)
		for (int64_t t = 0; t < threads; t++) {
			int64_t id = p->topo[SIBLINGS_LAST] ? t * cores + c : c * threads + t;

			raw[id] = (struct topo_raw){
				.possible = true, .present = true, .online = true, .capacity = TOPO_CAPACITY_FULL,
				.core = c, .llc = c / p->topo[CORES], .socket = c / per_socket,
				.node = (int32_t)(c / (p->topo[LLCS] * p->topo[CORES])),
			};
		}
	for (uint32_t a = 0; a < nodes; a++)
		for (uint32_t b = 0; b < nodes; b++)
			distances[a * nodes + b] = (uint8_t)(a == b ? 10 : a / p->topo[NODES] == b / p->topo[NODES] ?
							     p->topo[DISTANCE_SOCKET] : p->topo[DISTANCE_REMOTE]);
	ret = topo_build(raw, (uint32_t)total, distances, nodes, out, p->err);
out:
	if (ret == -ENOMEM)
		topo_fail(p->err, ret, "%s: not enough memory", p->where);
	free(raw);
	free(distances);
	return ret;
}

int topo_parse_machine_text(const char *text, const char *where, struct machine **out, struct topo_error *err)
{
	struct parser p = { .where = where, .err = err };
	int ret;

	*out = NULL;
	p.costs = calloc(1, sizeof(*p.costs));
	if (!p.costs)
		return topo_fail(err, -ENOMEM, "not enough memory");
	ret = parse_text(&p, text);
	if (ret)
		goto out;
	for (int i = 0; i < NR_TOPO_KEYS; i++)
		if (!p.topo_set[i]) {
			ret = topo_fail(err, -EINVAL, "%s: [topology] lacks %s", where, topo_infos[i].key);
			goto out;
		}
	for (int i = 0; i < COST_NR; i++)
		if (!p.costs->set[i]) {
			ret = topo_fail(err, -EINVAL, "%s: [costs] lacks %s (%s)", where, cost_infos[i].key,
					cost_infos[i].help);
			goto out;
		}
	if (!p.name[0]) {
		ret = topo_fail(err, -EINVAL, "%s: [machine] lacks name", where);
		goto out;
	}
	ret = build_topology(&p, out);
	if (ret)
		goto out;
	(*out)->costs = *p.costs;
	(*out)->has_costs = true;
	memcpy((*out)->name, p.name, sizeof(p.name));
	memcpy((*out)->about, p.about, sizeof(p.about));
out:
	free(p.costs);
	return ret;
}

int costs_overlay_text(struct costs *c, const char *text, const char *where, struct topo_error *err)
{
	struct parser p = { .where = where, .err = err };
	int ret;

	p.costs = calloc(1, sizeof(*p.costs));
	if (!p.costs)
		return topo_fail(err, -ENOMEM, "not enough memory");
	ret = parse_text(&p, text);
	if (!ret && p.topology_seen)
		ret = topo_fail(err, -EINVAL, "%s: a cost file has no [topology]; use it with --machine", where);
	if (ret)
		goto out;
	for (int i = 0; i < COST_NR; i++)
		if (p.costs->set[i]) {
			c->v[i] = p.costs->v[i];
			c->set[i] = true;
			memcpy(c->source[i], p.costs->source[i], COST_SOURCE_MAX);
		}
out:
	free(p.costs);
	return ret;
}

#define MACHINE_FILE_MAX (1 << 20)

static int read_text_file(const char *path, char **out, struct topo_error *err)
{
	char *buf = malloc(MACHINE_FILE_MAX + 1);
	FILE *f = NULL;
	size_t n;
	int ret = 0;

	if (!buf)
		return topo_fail(err, -ENOMEM, "%s: not enough memory", path);
	f = fopen(path, "re");
	if (!f) {
		ret = topo_fail(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	errno = 0;
	n = fread(buf, 1, MACHINE_FILE_MAX + 1, f);
	if (ferror(f))
		ret = topo_fail(err, errno ? -errno : -EIO, "%s: %s", path, strerror(errno ? errno : EIO));
	else if (n > MACHINE_FILE_MAX)
		ret = topo_fail(err, -EFBIG, "%s: more than %d bytes", path, MACHINE_FILE_MAX);
	else if (memchr(buf, '\0', n))
		ret = topo_fail(err, -EINVAL, "%s: holds a zero byte; not a text file", path);
	else
		buf[n] = '\0';
out:
	if (f)
		fclose(f);
	if (ret)
		free(buf);
	else
		*out = buf;
	return ret;
}

int costs_overlay_file(struct costs *c, const char *path, struct topo_error *err)
{
	char *text = NULL;
	int ret = read_text_file(path, &text, err);

	if (!ret)
		ret = costs_overlay_text(c, text, path, err);
	free(text);
	return ret;
}

/* The embedded file cannot be wrong: tests/unit/test_topology_machines.c parses it and wants every figure. */
void costs_generic(struct costs *c)
{
	memset(c, 0, sizeof(*c));
	for (const struct topo_embedded *e = topo_embedded_files; e->name; e++)
		if (!strcmp(e->name, "generic.costs"))
			costs_overlay_text(c, e->text, e->name, NULL);
}

static bool is_machine_file(const char *name)
{
	size_t n = strlen(name);

	return n > 8 && !strcmp(name + n - 8, ".machine");
}

static const struct topo_embedded *preset(unsigned int i)
{
	for (const struct topo_embedded *e = topo_embedded_files; e->name; e++)
		if (is_machine_file(e->name) && i-- == 0)
			return e;
	return NULL;
}

const char *topology_preset_name(unsigned int i)
{
	const struct topo_embedded *e = preset(i);

	return e ? e->stem : NULL;
}

const char *topology_preset_text(unsigned int i)
{
	const struct topo_embedded *e = preset(i);

	return e ? e->text : NULL;
}

int topology_preset(const char *name, struct machine **out, struct topo_error *err)
{
	char *text = NULL;
	int ret;

	*out = NULL;
	for (unsigned int i = 0; topology_preset_name(i); i++)
		if (!strcmp(topology_preset_name(i), name))
			return topo_parse_machine_text(topology_preset_text(i), name, out, err);
	if (!strchr(name, '/') && !is_machine_file(name))
		return topo_fail(err, -ENOENT, "there is no machine \"%.60s\"; `roost machines` lists them", name);
	ret = read_text_file(name, &text, err);
	if (!ret)
		ret = topo_parse_machine_text(text, name, out, err);
	free(text);
	return ret;
}

int topology_open(const char *what, struct machine **out, struct topo_error *err)
{
	size_t n = strlen(what);

	if (!strcmp(what, "this"))
		return topology_from_sysfs("/", out, err);
	if (n > 4 && !strcmp(what + n - 4, ".xml"))
		return topology_from_hwloc_xml(what, out, err);
	if (!is_machine_file(what) && !strchr(what, '/') && strchr(what, ':'))
		return topology_from_synthetic(what, out, err);
	return topology_preset(what, out, err);
}
