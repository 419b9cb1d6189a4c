/* SPDX-License-Identifier: GPL-2.0-only */
/* The poll loop and the little of HTTP/1.1 that a scraper needs; http.h. */
#include "measure/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 16
#define REQUEST_MAX 4096
#define CLIENT_MS 5000

struct client {
	int fd;			/* -1 = free */
	int64_t deadline_ms;
	char request[REQUEST_MAX];
	size_t have;
	char *answer;		/* NULL while the request is being read */
	size_t len, sent;
	int draining;		/* all sent: wait for the client to close, so that it gets the answer */
};

struct http_server {
	int fd;
	char address[80];
	http_page page;
	void *ctx;
	struct client client[CLIENTS];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- where to listen ---- */

static int parse_port(const char *s, uint16_t *port)
{
	unsigned long v;
	char *end;

	if (!*s || strspn(s, "0123456789") != strlen(s) || strlen(s) > 5)
		return -EINVAL;
	v = strtoul(s, &end, 10);
	if (v > 65535)
		return -EINVAL;
	*port = (uint16_t)v;
	return 0;
}

static int parse_address(const char *text, struct sockaddr_storage *addr, socklen_t *len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;
	const char *colon = strrchr(text, ':');
	char host[64];
	uint16_t port;

	memset(addr, 0, sizeof(*addr));
	if (parse_port(colon ? colon + 1 : text, &port))
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", colon ? (int)(colon - text) : 0, text);
	if (!host[0] || !strcmp(host, "localhost"))
		snprintf(host, sizeof(host), "127.0.0.1");
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = 0;
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		*len = sizeof(*v6);
		return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	*len = sizeof(*v4);
	return inet_pton(AF_INET, host, &v4->sin_addr) == 1 ? 0 : -EINVAL;
}

static void show_address(struct http_server *s)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char host[INET6_ADDRSTRLEN] = "";

	if (getsockname(s->fd, (struct sockaddr *)&addr, &len))
		return;
	if (addr.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&addr)->sin6_addr, host, sizeof(host));
		snprintf(s->address, sizeof(s->address), "[%s]:%u", host, ntohs(((struct sockaddr_in6 *)&addr)->sin6_port));
	} else {
		inet_ntop(AF_INET, &((struct sockaddr_in *)&addr)->sin_addr, host, sizeof(host));
		snprintf(s->address, sizeof(s->address), "%s:%u", host, ntohs(((struct sockaddr_in *)&addr)->sin_port));
	}
}

static int take_address(const char *address, struct sockaddr_storage *addr, socklen_t *len, char *err, size_t err_len)
{
	int rc = parse_address(address, addr, len);

	if (rc)
		snprintf(err, err_len, "'%.60s' is no address to listen on; give PORT, HOST:PORT or [IPv6]:PORT, numbers only",
			 address);
	return rc;
}

int http_check_address(const char *address, char *err, size_t err_len)
{
	struct sockaddr_storage addr;
	socklen_t len;

	return take_address(address, &addr, &len, err, err_len);
}

int http_listen(struct http_server **out, const char *address, http_page page, void *ctx, char *err, size_t err_len)
{
	struct http_server *s = calloc(1, sizeof(*s));
	struct sockaddr_storage addr;
	socklen_t len;
	int one = 1, rc;

	if (!s) {
		snprintf(err, err_len, "out of memory");
		return -ENOMEM;
	}
	s->fd = -1;
	s->page = page;
	s->ctx = ctx;
	for (unsigned i = 0; i < CLIENTS; i++)
		s->client[i].fd = -1;
	rc = take_address(address, &addr, &len, err, err_len);
	if (rc)
		goto fail;
	s->fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd >= 0)
		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&addr, len) || listen(s->fd, CLIENTS)) {
		rc = -errno;
		snprintf(err, err_len, "cannot listen on %.60s: %s", address, strerror(errno));
		goto fail;
	}
	show_address(s);
	*out = s;
	return 0;
fail:
	http_close(s);
	return rc;
}

const char *http_address(const struct http_server *s)
{
	return s->address;
}

/* ---- one client ---- */

static void drop(struct client *c)
{
	close(c->fd);
	free(c->answer);
	c->answer = NULL;
	c->fd = -1;
}

static void answer(struct client *c, const char *status, const char *extra, const char *type, const char *body, size_t body_len,
		   int head_only)
{
	char head[400];
	int n = snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%sConnection: close\r\n"
			 "X-Content-Type-Options: nosniff\r\n\r\n", status, type, body_len, extra);

	c->answer = malloc((size_t)n + body_len);
	if (!c->answer) {
		drop(c);
		return;
	}
	memcpy(c->answer, head, (size_t)n);
	if (!head_only)
		memcpy(c->answer + n, body, body_len);
	c->len = (size_t)n + (head_only ? 0 : body_len);
	c->sent = 0;
}

static void refuse(struct client *c, const char *status, const char *extra)
{
	char body[80];
	int n = snprintf(body, sizeof(body), "%s\n", status);

	answer(c, status, extra, "text/plain; charset=utf-8", body, (size_t)n, 0);
}

/* Whether a header line asks for the OpenMetrics format. */
static int wants_openmetrics(const char *request)
{
	for (const char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (!strncasecmp(line + 2, "accept:", 7)) {
			const char *end = strstr(line + 2, "\r\n"), *hit = strcasestr(line + 2, "application/openmetrics-text");

			if (hit && end && hit < end)
				return 1;
		}
	return 0;
}

static void respond(struct http_server *s, struct client *c)
{
	static const char index[] = "roost: metrics are at /metrics\n";
	char method[8], path[128], version[16];
	int head, om;
	size_t len;
	char *body;

	if (sscanf(c->request, "%7[A-Z] %127[^ \r\n] %15[^ \r\n]", method, path, version) != 3 || strncmp(version, "HTTP/1.", 7)) {
		refuse(c, "400 Bad Request", "");
		return;
	}
	head = !strcmp(method, "HEAD");
	if (!head && strcmp(method, "GET")) {
		refuse(c, "405 Method Not Allowed", "Allow: GET, HEAD\r\n");
		return;
	}
	path[strcspn(path, "?")] = 0;
	if (!strcmp(path, "/")) {
		answer(c, "200 OK", "", "text/plain; charset=utf-8", index, sizeof(index) - 1, head);
		return;
	}
	if (strcmp(path, "/metrics")) {
		refuse(c, "404 Not Found", "");
		return;
	}
	om = wants_openmetrics(c->request);
	body = s->page(s->ctx, om, &len);
	if (!body) {
		refuse(c, "503 Service Unavailable", "");
		return;
	}
	answer(c, "200 OK", "", om ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
	       "text/plain; version=0.0.4; charset=utf-8", body, len, head);
	free(body);
}

static void receive(struct http_server *s, struct client *c)
{
	ssize_t n = recv(c->fd, c->request + c->have, sizeof(c->request) - 1 - c->have, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->have += (size_t)n;
	c->request[c->have] = 0;
	/* A zero byte would hide the rest of a request from every test below. */
	if (memchr(c->request, 0, c->have))
		refuse(c, "400 Bad Request", "");
	else if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
		respond(s, c);
	else if (c->have == sizeof(c->request) - 1)
		refuse(c, "431 Request Header Fields Too Large", "");
}

/* What a client still sends is thrown away until it closes: a reset would take the answer from it. */
static void throw_away(struct client *c)
{
	char buf[4096];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(c);
}

static void transmit(struct client *c)
{
	ssize_t n = send(c->fd, c->answer + c->sent, c->len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		drop(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent == c->len) {
		shutdown(c->fd, SHUT_WR);
		c->draining = 1;
	}
}

/* ---- the loop ---- */

/* With no place free the oldest client goes: it had its chance, and a scraper must get in. */
static struct client *place(struct http_server *s)
{
	struct client *oldest = &s->client[0];

	for (unsigned i = 0; i < CLIENTS; i++) {
		if (s->client[i].fd < 0)
			return &s->client[i];
		if (s->client[i].deadline_ms < oldest->deadline_ms)
			oldest = &s->client[i];
	}
	drop(oldest);
	return oldest;
}

static void take_client(struct http_server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	if (fd < 0)
		return;
	c = place(s);
	*c = (struct client){ .fd = fd, .deadline_ms = now_ms() + CLIENT_MS };
}

static int loop_once(struct http_server *s, int wait_ms)
{
	struct pollfd p[CLIENTS + 1] = { { s->fd, POLLIN, 0 } };
	int64_t now = now_ms();
	int n;

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && c->deadline_ms <= now)
			drop(c);
		if (c->fd >= 0 && c->deadline_ms - now < wait_ms)
			wait_ms = (int)(c->deadline_ms - now);
		p[i + 1] = (struct pollfd){ c->fd, c->answer && !c->draining ? POLLOUT : POLLIN, 0 };
	}
	n = poll(p, CLIENTS + 1, wait_ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || !p[i + 1].revents)
			continue;
		if (c->draining)
			throw_away(c);
		else if (c->answer)
			transmit(c);
		else
			receive(s, c);
	}
	if (p[0].revents)
		take_client(s);
	return 0;
}

int http_serve(struct http_server *s, int ms, const volatile sig_atomic_t *stop)
{
	int64_t end = now_ms() + ms;

	for (;;) {
		int64_t left = ms < 0 ? 1000 : end - now_ms();
		int rc;

		if ((stop && *stop) || left <= 0)
			return 0;
		rc = loop_once(s, left > 1000 ? 1000 : (int)left);
		if (rc)
			return rc;
	}
}

void http_close(struct http_server *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < CLIENTS; i++)
		if (s->client[i].fd >= 0)
			drop(&s->client[i]);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
