/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The metrics: the text against the rules of its formats, and the server against clients of all kinds. With promtool
 * (Debian package prometheus) the text goes through that as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure/http.h"
#include "measure/openmetrics.h"
#include "measure/rng.h"
#include "run/knobs.h"

static char *text_of(int up, int om)
{
	static struct roost_stats stats[4];
	static struct roost_cpu cpu[4];
	static const struct roost_machine machine = { .nr_cpu_ids = 4, .nr_llcs = 2, .nr_words = 2 };
	static const struct roost_llc llcs[2] = { { .first_word = 0, .nr_words = 1, .weight = 2 },
						  { .first_word = 1, .nr_words = 1, .weight = 1 } };
	static const struct roost_llc_word words[2] = { { .idle = 3 }, { .idle = 4 } };
	struct roost_knobs knobs;
	struct openmetrics_source s = { .version = "0.1", .kernel = "7.3 \"q\\uote\"" };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	knobs_default(&knobs);
	for (int i = 0; i < 4; i++) {
		stats[i].rule[ROOST_RULE_PREV_IDLE] = 10;
		stats[i].wait_ns = 1500000000;
		stats[i].wait_hist[9] = 5; /* 8192 to 12287 ns */
		stats[i].wait_max_ns = (u64)i * 1000;
		stats[i].nr_wakeups = 1ull << 60;
		cpu[i].flags = i < 3 ? ROOST_CPU_ONLINE : 0;
		cpu[i].nr_runnable = 2;
	}
	if (up) {
		s.machine = &machine;
		s.cpus = cpu;
		s.stats = stats;
		s.llcs = llcs;
		s.words = words;
		s.knobs = &knobs;
	}
	openmetrics_write(f, &s, om);
	fclose(f);
	return text;
}

static int has(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p && (p == text || p[-1] == '\n') && p[strlen(line)] == '\n';
}

/* Samples belong to the family announced last, families come once, counters end in _total, lines in one \n. */
static void assert_well_formed(const char *text, int om)
{
	char copy[65536], family[80] = "", type[16] = "", seen[200][80], *save;
	unsigned n = 0;

	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	assert_null(strstr(text, "\n\n"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char name[80], *end;

		if (!strncmp(line, "# HELP ", 7)) {
			sscanf(line, "# HELP %79s", family);
			for (unsigned i = 0; i < n; i++)
				assert_string_not_equal(seen[i], family);
			strcpy(seen[n++], family);
			continue;
		}
		if (!strncmp(line, "# TYPE ", 7)) {
			assert_int_equal(sscanf(line, "# TYPE %79s %15s", name, type), 2);
			assert_string_equal(name, family);
			continue;
		}
		if (!strncmp(line, "# UNIT ", 7)) {
			assert_int_equal(sscanf(line, "# UNIT %79s %*s", name), 1);
			assert_true(om && strstr(name, "_seconds"));
			continue;
		}
		if (!strcmp(line, "# EOF")) {
			assert_true(om);
			assert_null(strtok_r(NULL, "\n", &save));
			return;
		}
		assert_true(line[0] != '#');
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "{ "), line);
		if (om && !strcmp(type, "counter"))
			assert_true(!strncmp(name, family, strlen(family)) && !strcmp(name + strlen(family), "_total"));
		else if (!strcmp(type, "histogram"))
			assert_true(!strcmp(name + strlen(family), "_bucket") || !strcmp(name + strlen(family), "_count") ||
				    !strcmp(name + strlen(family), "_sum"));
		else if (om && !strcmp(type, "info"))
			assert_string_equal(name + strlen(family), "_info");
		else
			assert_string_equal(name, family);
		strtod(strrchr(line, ' ') + 1, &end);
		assert_int_equal(*end, 0);
	}
	assert_false(om);
}

static void the_text(void **state)
{
	char *t = text_of(1, 1);

	assert_well_formed(t, 1);
	assert_true(has(t, "roost_up 1"));
	assert_true(has(t, "roost_wakeups_total 4611686018427387904"));
	assert_true(has(t, "roost_decisions_total{rule=\"prev-idle\"} 40"));
	assert_true(has(t, "roost_wait_seconds_total 6.000000000"));
	assert_true(has(t, "roost_wait_max_seconds 0.000003000"));
	assert_true(has(t, "roost_wait_length_seconds_bucket{le=\"8.192e-06\"} 0"));
	assert_true(has(t, "roost_wait_length_seconds_bucket{le=\"1.2288e-05\"} 20"));
	assert_true(has(t, "roost_wait_length_seconds_bucket{le=\"+Inf\"} 20"));
	assert_true(has(t, "roost_cpus_online 3"));
	assert_true(has(t, "roost_llc_cpus_idle{llc=\"0\"} 2"));
	assert_true(has(t, "roost_knob{knob=\"slice\"} 0.003000000"));
	assert_true(has(t, "roost_build_info{version=\"0.1\",kernel=\"7.3 \\\"q\\\\uote\\\"\"} 1"));
	free(t);
	t = text_of(1, 0);
	assert_well_formed(t, 0);
	assert_non_null(strstr(t, "# TYPE roost_wakeups_total counter"));
	free(t);
	t = text_of(0, 1);
	assert_well_formed(t, 1);
	assert_true(has(t, "roost_up 0"));
	assert_null(strstr(t, "roost_wakeups"));
	free(t);
}

static void promtool_agrees(void **state)
{
	char *t = text_of(1, 0);
	FILE *p;

	if (system("command -v promtool >/dev/null 2>&1")) {
		free(t);
		print_message("promtool is not installed (Debian package prometheus)\n");
		skip();
	}
	p = popen("promtool check metrics >&2", "w");
	fputs(t, p);
	assert_int_equal(pclose(p), 0);
	free(t);
}

/* ---- the server ---- */

static volatile sig_atomic_t stop;
static unsigned pages;

static char *page(void *ctx, int om, size_t *len)
{
	char *t;

	pages++;
	if (*(int *)ctx == 503)
		return NULL;
	if (*(int *)ctx) { /* larger than a socket takes at once */
		*len = 4u << 20;
		t = malloc(*len);
		memset(t, 'x', *len);
		return t;
	}
	t = strdup(om ? "om\n# EOF\n" : "text\n");
	*len = strlen(t);
	return t;
}

static void *serve(void *arg)
{
	http_serve(arg, -1, &stop);
	return NULL;
}

static int dial(const struct http_server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval patience = { 8, 0 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)atoi(strrchr(http_address(s), ':') + 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* Sends and reads to the end; the answer's length, the beginning of it in @buf. */
static size_t ask(const struct http_server *s, const char *request, size_t len, char *buf, size_t room)
{
	int fd = dial(s);
	size_t got = 0;
	char part[8192];
	ssize_t n;

	send(fd, request, len, MSG_NOSIGNAL);
	while ((n = recv(fd, part, sizeof(part), 0)) > 0) {
		if (got < room - 1)
			memcpy(buf + got, part, (size_t)n < room - 1 - got ? (size_t)n : room - 1 - got);
		got += (size_t)n;
	}
	buf[got < room ? got : room - 1] = 0;
	close(fd);
	return got;
}

static void expect(const struct http_server *s, const char *request, const char *status)
{
	char buf[2048];

	ask(s, request, strlen(request), buf, sizeof(buf));
	if (strncmp(buf, status, strlen(status)))
		print_error("'%.60s' gave '%.80s'\n", request, buf);
	assert_memory_equal(buf, status, strlen(status));
}

static void requests(void **state)
{
	static const char om_request[] =
		"GET /metrics HTTP/1.1\r\naccept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n\r\n";
	struct http_server *s;
	char err[200], buf[2048], big[6000];
	pthread_t t;
	int mode = 0;

	assert_int_equal(http_listen(&s, "127.0.0.1:0", page, &mode, err, sizeof(err)), 0);
	stop = 0;
	pthread_create(&t, NULL, serve, s);
	expect(s, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4");
	ask(s, om_request, strlen(om_request), buf, sizeof(buf));
	assert_non_null(strstr(buf, "application/openmetrics-text; version=1.0.0"));
	assert_non_null(strstr(buf, "\r\n\r\nom\n# EOF\n"));
	expect(s, "GET /metrics?x=1 HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK");
	expect(s, "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK");
	ask(s, "HEAD /metrics HTTP/1.1\r\n\r\n", 26, buf, sizeof(buf));
	assert_non_null(strstr(buf, "Content-Length: 5"));
	assert_null(strstr(buf, "text\n"));
	expect(s, "GET /../etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404");
	expect(s, "POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405");
	expect(s, "GET /metrics\r\n\r\n", "HTTP/1.1 400");
	expect(s, "\r\n\r\n", "HTTP/1.1 400");
	expect(s, "get /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400");
	memset(big, 'a', sizeof(big));
	big[sizeof(big) - 1] = 0;
	expect(s, big, "HTTP/1.1 431");
	ask(s, "GET /metrics\0 HTTP/1.1\r\n\r\n", 27, buf, sizeof(buf));
	assert_memory_equal(buf, "HTTP/1.1 400", 12);
	mode = 1;
	assert_true(ask(s, "GET /metrics HTTP/1.1\r\n\r\n", 25, buf, sizeof(buf)) > 4u << 20);
	mode = 503;
	expect(s, "GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 503");
	stop = 1;
	pthread_join(t, NULL);
	http_close(s);
}

/* Idle, half-done, garbage and vanishing clients: an honest one is served within a moment all the while. */
static void bad_clients_do_not_matter(void **state)
{
	struct http_server *s;
	struct rng r = { 3 };
	int mode = 0, hold[40];
	char err[200], buf[2048], junk[3000];
	pthread_t t;

	assert_int_equal(http_listen(&s, "0", page, &mode, err, sizeof(err)), 0);
	assert_memory_equal(http_address(s), "127.0.0.1:", 10);
	stop = 0;
	pthread_create(&t, NULL, serve, s);
	for (int i = 0; i < 40; i++) { /* more than there are places */
		hold[i] = dial(s);
		if (i % 2)
			send(hold[i], "GET /met", 8, MSG_NOSIGNAL);
	}
	for (int i = 0; i < 300; i++) {
		struct timespec a, b;

		if (i % 3 == 0) {
			int fd = dial(s);

			for (size_t k = 0; k < sizeof(junk); k++)
				junk[k] = (char)rng_u64(&r);
			send(fd, junk, rng_below(&r, sizeof(junk)), MSG_NOSIGNAL);
			close(fd);
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &a);
		ask(s, "GET /metrics HTTP/1.1\r\n\r\n", 25, buf, sizeof(buf));
		clock_gettime(CLOCK_MONOTONIC, &b);
		assert_memory_equal(buf, "HTTP/1.1 200", 12);
		assert_true(b.tv_sec - a.tv_sec < 3);
	}
	for (int i = 0; i < 40; i++)
		close(hold[i]);
	stop = 1;
	pthread_join(t, NULL);
	http_close(s);
}

static void addresses(void **state)
{
	static const char *const bad[] = { "", "x", "127.0.0.1", "host:80", "1.2.3.4:70000", ":-1", "[::1:80", "1.2.3:80", ":" };
	struct http_server *s, *other;
	int mode = 0;
	char err[200];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = 0;
		assert_true(http_listen(&s, bad[i], page, &mode, err, sizeof(err)) < 0);
		assert_true(strlen(err) > 10);
	}
	assert_int_equal(http_listen(&s, "localhost:0", page, &mode, err, sizeof(err)), 0);
	assert_int_equal(http_listen(&other, http_address(s), page, &mode, err, sizeof(err)), -EADDRINUSE);
	http_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text),
		cmocka_unit_test(promtool_agrees),
		cmocka_unit_test(requests),
		cmocka_unit_test(bad_clients_do_not_matter),
		cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
