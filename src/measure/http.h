/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small HTTP server for one page that is made anew at each request: metrics for a scraper. One thread, one poll loop,
 * a fixed number of clients with fixed buffers and a time limit each, so that no client can hold it up or make it grow.
 * It knows GET and HEAD, answers once and closes. No TLS, no names: it is meant for loopback.
 */
#ifndef ROOST_MEASURE_HTTP_H
#define ROOST_MEASURE_HTTP_H

#include <signal.h>
#include <stddef.h>

struct http_server;

/* The page, malloc()ed; NULL = the server answers 503. @openmetrics: the client asked for that format. */
typedef char *(*http_page)(void *ctx, int openmetrics, size_t *len);

/*
 * "PORT", ":PORT", "HOST:PORT", "[IPv6]:PORT"; HOST is a number, or localhost, and loopback if left out; port 0 takes
 * a free one. 0, or -errno and a line in @err.
 */
int http_listen(struct http_server **out, const char *address, http_page page, void *ctx, char *err, size_t err_len);
/* Is @address one that http_listen() takes? Nothing is opened. 0, or -EINVAL and a line in @err. */
int http_check_address(const char *address, char *err, size_t err_len);
/* The address it listens on, "127.0.0.1:9719". */
const char *http_address(const struct http_server *s);
/* Serves for at most @ms (-1: until a signal); 0 or -errno. */
int http_serve(struct http_server *s, int ms, const volatile sig_atomic_t *stop);
void http_close(struct http_server *s);

#endif
