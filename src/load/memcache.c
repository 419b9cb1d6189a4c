/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memcache-type load: server threads blocked in epoll, about 100 connections each; clients send at a fixed
 * load with exponential or generalised-Pareto gaps, whether or not the answers keep up. A request is wake,
 * read, look-up, write; key 30 B, value 200 B. Latency is counted from when a request was due, not from when
 * the client got round to sending it, so that a stall is not left out of the percentiles.
 */
#include "load/load.h"
#include "load/util.h"
#include "measure/hist.h"
#include "measure/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define IN_FLIGHT 64	/* requests under way on one connection */
#define BATCH 16

struct conf {
	uint64_t servers, clients, connections, qps, run_ns, warmup_ns, iadist, key_bytes, value_bytes, records, seed;
};

struct item {
	struct item *next;
	char data[];	/* key, value */
};

struct conn {
	int client_fd, server_fd;
	/* The client's: when each request under way was due, and how much of the next answer has come. */
	uint64_t due_ns[IN_FLIGHT];
	uint32_t head, tail;
	uint32_t got;
	/* The server's: a request that came in pieces. */
	uint32_t have;
	char *partial;
};

struct bench {
	const struct conf *conf;
	struct conn *conns;
	unsigned n_conns;
	struct item **table;
	uint64_t buckets;
	_Atomic int stop, recording;
};

struct server {
	struct bench *b;
	unsigned number;
	int epoll_fd;
	pthread_t thread;
	uint64_t served;
};

struct client {
	struct bench *b;
	unsigned number;
	int epoll_fd;
	pthread_t thread;
	struct rng rng;
	uint64_t answered, not_sent;
	struct hist lat;
};

static uint64_t hash(const char *key, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (len--)
		h = (h ^ (unsigned char)*key++) * 0x100000001b3ull;
	return h;
}

static void make_key(char *key, size_t len, uint64_t number)
{
	for (size_t i = len; i--; number /= 10)
		key[i] = (char)('0' + number % 10);
}

static struct item *look_up(const struct bench *b, const char *key)
{
	struct item *it = b->table[hash(key, b->conf->key_bytes) & (b->buckets - 1)];

	while (it && memcmp(it->data, key, b->conf->key_bytes))
		it = it->next;
	return it;
}

static int fill_table(struct bench *b)
{
	const struct conf *c = b->conf;

	for (b->buckets = 1; b->buckets < c->records; b->buckets *= 2)
		;
	b->table = calloc(b->buckets, sizeof(*b->table));
	if (!b->table)
		return -ENOMEM;
	for (uint64_t i = 0; i < c->records; i++) {
		struct item *it = malloc(sizeof(*it) + c->key_bytes + c->value_bytes), **slot;

		if (!it)
			return -ENOMEM;
		make_key(it->data, c->key_bytes, i);
		memset(it->data + c->key_bytes, 'a' + (int)(i % 26), c->value_bytes);
		slot = &b->table[hash(it->data, c->key_bytes) & (b->buckets - 1)];
		it->next = *slot;
		*slot = it;
	}
	return 0;
}

static void free_table(struct bench *b)
{
	for (uint64_t i = 0; b->table && i < b->buckets; i++)
		for (struct item *it = b->table[i], *next; it; it = next) {
			next = it->next;
			free(it);
		}
	free(b->table);
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Answers every whole request that can be read at once; 0 = the connection is closed. */
static int serve_one(struct server *s, struct conn *c, char *buf, char *answer)
{
	const struct conf *conf = s->b->conf;
	size_t key = conf->key_bytes, value = conf->value_bytes, len, n = 0;
	ssize_t got;

	memcpy(buf, c->partial, c->have);
	got = read(c->server_fd, buf + c->have, BATCH * key - c->have);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	if (!got)
		return 0;
	len = c->have + (size_t)got;
	for (; (n + 1) * key <= len; n++) {
		struct item *it = look_up(s->b, buf + n * key);

		memcpy(answer + n * value, it ? it->data + key : buf, it ? value : 0);
	}
	c->have = (uint32_t)(len - n * key);
	memcpy(c->partial, buf + n * key, c->have);
	s->served += n;
	return !n || !write_all(c->server_fd, answer, n * value);
}

static void *server_main(void *arg)
{
	struct server *s = arg;
	const struct conf *conf = s->b->conf;
	char *buf = malloc(BATCH * conf->key_bytes), *answer = calloc(BATCH, conf->value_bytes);
	struct epoll_event ev[64];
	uint64_t open = conf->connections;

	while (buf && answer && open) {
		int n = epoll_wait(s->epoll_fd, ev, 64, -1);

		for (int i = 0; i < n; i++) {
			struct conn *c = ev[i].data.ptr;

			if (serve_one(s, c, buf, answer))
				continue;
			epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->server_fd, NULL);
			open--;
		}
	}
	free(buf);
	free(answer);
	return NULL;
}

static uint64_t gap_ns(struct client *cl)
{
	const struct conf *c = cl->b->conf;
	double mean = 1e9 * (double)c->clients / (double)c->qps, shape = 0.154971;

	/* The published fit has scale 16.0292 us at its own rate; the shape stays, the scale gives the rate. */
	return (uint64_t)(c->iadist ? rng_pareto(&cl->rng, mean * (1 - shape), shape) :
			  rng_exponential(&cl->rng, mean));
}

/* Connections are dealt out to the clients like cards: client j has j, j + clients, ... */
static struct conn *pick(struct client *cl)
{
	struct bench *b = cl->b;
	unsigned own = (b->n_conns - cl->number + (unsigned)b->conf->clients - 1) / (unsigned)b->conf->clients;
	unsigned first = (unsigned)rng_below(&cl->rng, own);

	for (unsigned i = 0; i < own; i++) {
		struct conn *c = &b->conns[cl->number + (first + i) % own * b->conf->clients];

		if (c->head - c->tail < IN_FLIGHT)
			return c;
	}
	return NULL;
}

static void send_one(struct client *cl, uint64_t due_ns, char *key)
{
	const struct conf *conf = cl->b->conf;
	struct conn *c = pick(cl);

	make_key(key, conf->key_bytes, rng_below(&cl->rng, conf->records));
	if (!c || write(c->client_fd, key, conf->key_bytes) != (ssize_t)conf->key_bytes) {
		cl->not_sent += (uint64_t)atomic_load_explicit(&cl->b->recording, memory_order_relaxed);
		return;
	}
	c->due_ns[c->head++ % IN_FLIGHT] = due_ns;
}

static void receive(struct client *cl, struct conn *c, char *buf, size_t buf_len)
{
	size_t value = cl->b->conf->value_bytes;
	ssize_t got = read(c->client_fd, buf, buf_len);
	uint64_t now = load_now_ns();

	if (got <= 0)
		return;
	c->got += (uint32_t)got;
	for (; c->got >= value && c->tail != c->head; c->got -= (uint32_t)value, c->tail++) {
		if (!atomic_load_explicit(&cl->b->recording, memory_order_relaxed))
			continue;
		hist_add(&cl->lat, now - c->due_ns[c->tail % IN_FLIGHT]);
		cl->answered++;
	}
}

static void *client_main(void *arg)
{
	struct client *cl = arg;
	struct bench *b = cl->b;
	size_t buf_len = BATCH * b->conf->value_bytes;
	char *buf = malloc(buf_len), *key = malloc(b->conf->key_bytes);
	uint64_t next = load_now_ns() + gap_ns(cl);
	struct epoll_event ev[64];

	prctl(PR_SET_TIMERSLACK, 1ul);
	while (buf && key && !atomic_load_explicit(&b->stop, memory_order_relaxed)) {
		uint64_t now = load_now_ns();
		struct timespec wait = { 0, 0 };
		int n;

		for (int k = 0; next <= now && k < 256; k++, next += gap_ns(cl))
			send_one(cl, next, key);
		if (next > now) {
			uint64_t ns = next - now < 100000000 ? next - now : 100000000;

			wait.tv_nsec = (long)ns;
		}
		n = epoll_pwait2(cl->epoll_fd, ev, 64, &wait, NULL);
		for (int i = 0; i < n; i++)
			receive(cl, ev[i].data.ptr, buf, buf_len);
	}
	free(buf);
	free(key);
	return NULL;
}

static int connect_all(struct bench *b, struct server *servers, struct client *clients)
{
	const struct conf *conf = b->conf;

	for (unsigned i = 0; i < b->n_conns; i++) {
		struct conn *c = &b->conns[i];
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
		int fd[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
			return -errno;
		c->client_fd = fd[0];
		c->server_fd = fd[1];
		c->partial = malloc(conf->key_bytes);
		if (!c->partial)
			return -ENOMEM;
		fcntl(c->client_fd, F_SETFL, O_NONBLOCK);
		if (epoll_ctl(servers[i / conf->connections].epoll_fd, EPOLL_CTL_ADD, c->server_fd, &ev) ||
		    epoll_ctl(clients[i % conf->clients].epoll_fd, EPOLL_CTL_ADD, c->client_fd, &ev))
			return -errno;
	}
	return 0;
}

static int set_up(struct bench *b, struct server *servers, struct client *clients)
{
	const struct conf *c = b->conf;
	int rc = fill_table(b);

	for (unsigned i = 0; i < b->n_conns; i++)
		b->conns[i].client_fd = b->conns[i].server_fd = -1;
	for (unsigned i = 0; i < c->servers; i++)
		servers[i] = (struct server){ .b = b, .number = i, .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	for (unsigned i = 0; i < c->clients; i++) {
		clients[i].b = b;
		clients[i].number = i;
		clients[i].epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		clients[i].rng.state = c->seed + i;
		hist_init(&clients[i].lat);
	}
	return rc ? rc : connect_all(b, servers, clients);
}

/* Runs the clients; their descriptors are closed afterwards, which is what ends the servers. */
static int measure(struct bench *b, struct server *servers, struct client *clients, uint64_t *elapsed_ns)
{
	const struct conf *c = b->conf;
	unsigned ns = 0, nc = 0;
	int rc = 0;

	for (; ns < c->servers && !rc; ns += !rc)
		rc = load_thread(&servers[ns].thread, server_main, &servers[ns]);
	for (; nc < c->clients && !rc; nc += !rc)
		rc = load_thread(&clients[nc].thread, client_main, &clients[nc]);
	if (!rc) {
		uint64_t t0;

		load_sleep_ns(c->warmup_ns);
		t0 = load_now_ns();
		atomic_store(&b->recording, 1);
		load_sleep_ns(c->run_ns);
		atomic_store(&b->recording, 0);
		*elapsed_ns = load_now_ns() - t0;
	}
	atomic_store(&b->stop, 1);
	for (unsigned i = 0; i < nc; i++)
		pthread_join(clients[i].thread, NULL);
	for (unsigned i = 0; i < b->n_conns; i++)
		if (b->conns[i].client_fd >= 0)
			close(b->conns[i].client_fd);
	for (unsigned i = 0; i < ns; i++)
		pthread_join(servers[i].thread, NULL);
	return rc;
}

static json_t *collect(struct bench *b, struct client *clients, uint64_t elapsed_ns, struct load_cost *cost)
{
	struct hist *all = malloc(sizeof(*all));
	uint64_t answered = 0, not_sent = 0;
	json_t *o;

	if (!all)
		return NULL;
	hist_init(all);
	for (unsigned i = 0; i < b->conf->clients; i++) {
		hist_merge(all, &clients[i].lat);
		answered += clients[i].answered;
		not_sent += clients[i].not_sent;
	}
	o = load_json("memcache", "requests", answered, elapsed_ns, all, cost);
	json_object_set_new(o, "offered_per_second", json_integer((json_int_t)b->conf->qps));
	json_object_set_new(o, "not_sent", json_integer((json_int_t)not_sent));
	free(all);
	return o;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	struct conf c = *(const struct conf *)conf;
	struct bench b = { .conf = &c };
	struct server *servers = NULL;
	struct client *clients = NULL;
	uint64_t elapsed_ns = 0;
	struct load_cost cost;
	int rc = -ENOMEM;

	if (!c.servers)
		c.servers = (load_cpus() + 1) / 2;
	b.n_conns = (unsigned)(c.servers * c.connections);
	if (c.clients > b.n_conns)
		c.clients = b.n_conns;
	servers = calloc(c.servers, sizeof(*servers));
	clients = calloc(c.clients, sizeof(*clients));
	b.conns = calloc(b.n_conns, sizeof(*b.conns));
	if (!servers || !clients || !b.conns)
		goto out;
	signal(SIGPIPE, SIG_IGN);
	rc = load_need_files(2ull * b.n_conns + c.servers + c.clients + 64);
	if (!rc)
		rc = set_up(&b, servers, clients);
	load_cost_begin(&cost);
	if (!rc)
		rc = measure(&b, servers, clients, &elapsed_ns);
	*out = collect(&b, clients, elapsed_ns, &cost);
	if (!rc && !*out)
		rc = -ENOMEM;
	if (rc) {
		json_decref(*out);
		*out = NULL;
	}
	for (unsigned i = 0; i < c.servers; i++)
		close(servers[i].epoll_fd);
	for (unsigned i = 0; i < c.clients; i++)
		close(clients[i].epoll_fd);
out:
	if (rc)
		snprintf(err, err_len, "memcache: %s", strerror(-rc));
	for (unsigned i = 0; b.conns && i < b.n_conns; i++) {
		if (b.conns[i].server_fd > 0)
			close(b.conns[i].server_fd);
		free(b.conns[i].partial);
	}
	free_table(&b);
	free(b.conns);
	free(clients);
	free(servers);
	return rc;
}

#define S 1000000000ull
#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "threads", 't', LOAD_COUNT, AT(servers), 0, 1024, 0, NULL, "server threads; 0 = one for every two CPUs" },
	{ "client-threads", 'T', LOAD_COUNT, AT(clients), 1, 1024, 2, NULL, "client threads" },
	{ "connections", 'c', LOAD_COUNT, AT(connections), 1, 10000, 100, NULL, "connections a server thread" },
	{ "qps", 'q', LOAD_COUNT, AT(qps), 1, 100000000, 20000, NULL, "requests offered a second, in all" },
	{ "time", 'r', LOAD_SECONDS, AT(run_ns), S / 100, 86400 * S, 5 * S, NULL, "how long to measure" },
	{ "warmup", 'w', LOAD_SECONDS, AT(warmup_ns), 0, 3600 * S, S / 2, NULL, "how long to run before that" },
	{ "iadist", 'i', LOAD_WORD, AT(iadist), 0, 1, 0, "exponential|pareto", "gaps between requests" },
	{ "keysize", 'K', LOAD_COUNT, AT(key_bytes), 1, 250, 30, NULL, "bytes in a key" },
	{ "valuesize", 'V', LOAD_COUNT, AT(value_bytes), 1, 65536, 200, NULL, "bytes in a value" },
	{ "records", 0, LOAD_COUNT, AT(records), 1, 10000000, 10000, NULL, "keys stored" },
	{ "seed", 0, LOAD_COUNT, AT(seed), 0, 1ull << 53, 1, NULL, "seed of the arrivals" },
	{ NULL },
};

const struct load load_memcache = {
	.name = "memcache", .what = "servers in epoll that answer small requests at a fixed load", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
