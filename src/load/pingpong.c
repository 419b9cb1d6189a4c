/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ping-pong: one client, one server, one small message each way at a time; the time of N round trips.
 * With --cpus A,B each is pinned to its CPU: then nothing but the cost of a wakeup is left. --think keeps
 * the client away (asleep) between two rounds, so that the server's CPU goes idle for that long each time.
 */
#include "load/load.h"
#include "load/util.h"
#include "measure/hist.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum how { HOW_PIPE, HOW_FUTEX, HOW_SOCKET };

struct conf {
	uint64_t loops, warmup, how, bytes, process, think_ns;
	int cpus[2];
};

struct shared {
	_Atomic uint32_t word[2];	/* futex: the round each side may start */
	_Atomic uint32_t server_ready;
	_Atomic int32_t server_rc;
};

struct game {
	const struct conf *conf;
	int to_server[2], to_client[2];
	struct shared *s;
	char *buf[2];
};

static int transfer(int fd, char *buf, size_t len, int is_write)
{
	while (len) {
		ssize_t n = is_write ? write(fd, buf, len) : read(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Side @me (0 = client) sends to, or waits for, the other. @round counts from 1. */
static int pass(struct game *g, int me, uint32_t round)
{
	if (g->conf->how == HOW_FUTEX) {
		atomic_store_explicit(&g->s->word[!me], round, memory_order_release);
		load_futex_wake(&g->s->word[!me], 1);
		return 0;
	}
	return transfer(me ? g->to_client[1] : g->to_server[1], g->buf[me], g->conf->bytes, 1);
}

static int await(struct game *g, int me, uint32_t round)
{
	if (g->conf->how == HOW_FUTEX) {
		uint32_t seen;

		while ((seen = atomic_load_explicit(&g->s->word[me], memory_order_acquire)) != round)
			load_futex_wait(&g->s->word[me], seen);
		return 0;
	}
	return transfer(me ? g->to_server[0] : g->to_client[0], g->buf[me], g->conf->bytes, 0);
}

static void *serve(void *arg)
{
	struct game *g = arg;
	int rc = g->conf->cpus[0] >= 0 ? load_pin(g->conf->cpus[1]) : 0;

	atomic_store(&g->s->server_rc, rc);
	atomic_store(&g->s->server_ready, 1);
	load_futex_wake(&g->s->server_ready, 1);
	for (uint64_t i = 1; !rc && i <= g->conf->loops + g->conf->warmup; i++) {
		rc = await(g, 1, (uint32_t)i);
		if (!rc)
			rc = pass(g, 1, (uint32_t)i);
	}
	return NULL;
}

static int play(struct game *g, struct hist *h, uint64_t *elapsed_ns)
{
	const struct conf *c = g->conf;
	uint64_t t0 = 0, begin, end;
	int rc = 0;

	for (uint64_t i = 1; !rc && i <= c->warmup + c->loops; i++) {
		if (c->think_ns)
			load_sleep_ns(c->think_ns);
		begin = load_now_ns();
		if (i == c->warmup + 1)
			t0 = begin;
		rc = pass(g, 0, (uint32_t)i);
		if (!rc)
			rc = await(g, 0, (uint32_t)i);
		end = load_now_ns();
		if (i > c->warmup)
			hist_add(h, end - begin);
		*elapsed_ns = end - t0;
	}
	return rc;
}

static void close_own(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int start_server(struct game *g, pthread_t *thread, pid_t *pid)
{
	pid_t me = getpid();

	if (!g->conf->process)
		return load_thread(thread, serve, g);
	*pid = fork();
	if (*pid < 0)
		return -errno;
	/* Each side keeps its own ends only, so that a dead partner is an error and not an endless wait. */
	close_own(&g->to_server[*pid ? 0 : 1]);
	close_own(&g->to_client[*pid ? 1 : 0]);
	if (*pid)
		return 0;
	if (!load_child_setup(me))
		serve(g);
	_exit(0);
}

static int open_game(struct game *g)
{
	if (g->conf->how == HOW_PIPE)
		return pipe(g->to_server) || pipe(g->to_client) ? -errno : 0;
	if (g->conf->how == HOW_SOCKET) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			return -errno;
		g->to_server[1] = pair[0];
		g->to_client[0] = dup(pair[0]);
		g->to_server[0] = pair[1];
		g->to_client[1] = dup(pair[1]);
		return g->to_client[0] < 0 || g->to_client[1] < 0 ? -errno : 0;
	}
	return 0;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	const struct conf *c = conf;
	struct game g = { .conf = c, .to_server = { -1, -1 }, .to_client = { -1, -1 } };
	struct hist *h = malloc(sizeof(*h));
	uint64_t elapsed_ns = 0;
	struct load_cost cost;
	pthread_t thread = 0;
	pid_t pid = 0;
	int rc = -ENOMEM;

	g.s = mmap(NULL, sizeof(*g.s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g.buf[0] = calloc(1, c->bytes);
	g.buf[1] = calloc(1, c->bytes);
	if (!h || !g.buf[0] || !g.buf[1] || g.s == MAP_FAILED)
		goto out;
	hist_init(h);
	signal(SIGPIPE, SIG_IGN);
	rc = open_game(&g);
	if (rc)
		goto out;
	load_cost_begin(&cost);
	rc = c->cpus[0] >= 0 ? load_pin(c->cpus[0]) : 0;
	if (!rc)
		rc = start_server(&g, &thread, &pid);
	if (rc)
		goto cost;
	while (!atomic_load(&g.s->server_ready))
		load_futex_wait(&g.s->server_ready, 0);
	rc = atomic_load(&g.s->server_rc);
	if (!rc)
		rc = play(&g, h, &elapsed_ns);
	if (rc && pid)
		kill(pid, SIGKILL);
	if (pid)
		waitpid(pid, NULL, 0);
	else
		pthread_join(thread, NULL);
cost:
	*out = load_json("pingpong", "round trips", h->count, elapsed_ns, h, &cost);
	if (rc) {
		json_decref(*out);
		*out = NULL;
		if (c->cpus[0] >= 0 && rc == -EINVAL)
			snprintf(err, err_len, "pingpong: --cpus: cannot run on %d and %d: not both online and allowed",
				 c->cpus[0], c->cpus[1]);
	}
out:
	if (rc && !*err)
		snprintf(err, err_len, "pingpong: %s", strerror(-rc));
	for (int i = 0; i < 2; i++) {
		close_own(&g.to_server[i]);
		close_own(&g.to_client[i]);
		free(g.buf[i]);
	}
	if (g.s != MAP_FAILED)
		munmap(g.s, sizeof(*g.s));
	free(h);
	return rc;
}

#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "loop", 'l', LOAD_COUNT, AT(loops), 1, 1000000000, 100000, NULL, "round trips" },
	{ "warmup", 'w', LOAD_COUNT, AT(warmup), 0, 1000000000, 100, NULL, "round trips before the clock runs" },
	{ "how", 0, LOAD_WORD, AT(how), 0, 2, HOW_PIPE, "pipe|futex|socket", "what carries the message" },
	{ "size", 's', LOAD_COUNT, AT(bytes), 1, 4096, 8, NULL, "bytes in a message" },
	{ "process", 'P', LOAD_FLAG, AT(process), 0, 1, 1, NULL, "two processes instead of two threads" },
	{ "cpus", 'c', LOAD_CPU_PAIR, AT(cpus), 0, 0, 0, NULL, "pin the client to A and the server to B" },
	{ "think", 0, LOAD_MICROS, AT(think_ns), 0, 1000000000, 0, NULL, "sleep before every round" },
	{ NULL },
};

const struct load load_pingpong = {
	.name = "pingpong", .what = "one client and one server that wake each other", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
