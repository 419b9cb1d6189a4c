/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * serve_metrics.c - `roost serve-metrics`: the counters of whatever roost runs, for a Prometheus to fetch. It looks for a running
 * roost at each request, so that it may start before one, and outlive it: then roost_up is 0.
 */
#include "cli/metrics_service.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/running.h"
#include "measure/http.h"
#include "measure/openmetrics.h"

struct metrics_service {
	struct http_server *server;
	const struct roost_view *view;
	pthread_t thread;
	volatile sig_atomic_t stop;
};

char *metrics_page(const struct roost_view *view, int openmetrics, size_t *len)
{
	struct openmetrics_source src = { .version = ROOST_VERSION };
	struct utsname u;
	char *text = NULL;
	FILE *f;

	uname(&u);
	src.kernel = u.release;
	if (view) {
		src.machine = view->machine;
		src.cpus = view->cpus;
		src.stats = view->stats;
		src.llcs = view->llcs;
		src.words = view->words;
		src.knobs = view->knobs;
	}
	f = open_memstream(&text, len);
	if (!f)
		return NULL;
	openmetrics_write(f, &src, openmetrics);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *page_of_service(void *ctx, int openmetrics, size_t *len)
{
	struct metrics_service *s = ctx;

	return metrics_page(running_still(s->view) ? s->view : NULL, openmetrics, len);
}

static void *serve(void *arg)
{
	struct metrics_service *s = arg;

	http_serve(s->server, -1, &s->stop);
	return NULL;
}

int metrics_service_start(struct metrics_service **out, const struct cli *cli, const char *address, const struct roost_view *view)
{
	struct metrics_service *s = calloc(1, sizeof(*s));
	char err[200];
	int rc;

	if (!s)
		return cli_fail(cli, "out of memory");
	s->view = view;
	rc = http_listen(&s->server, address, page_of_service, s, err, sizeof(err));
	if (!rc)
		rc = -pthread_create(&s->thread, NULL, serve, s);
	if (rc) {
		http_close(s->server);
		free(s);
		return rc == -EINVAL ? cli_refuse(cli, "--metrics: %s", err) : cli_fail(cli, "--metrics: %s", err);
	}
	*out = s;
	return CLI_DONE;
}

void metrics_service_stop(struct metrics_service *s)
{
	if (!s)
		return;
	s->stop = 1;
	pthread_join(s->thread, NULL);
	http_close(s->server);
	free(s);
}

/* ---- the command ---- */

struct server {
	struct roost_view *view;	/* of the roost seen last; NULL = none */
};

/* A view outlives its roost: open it anew when that one is gone. */
static char *page_of_command(void *ctx, int openmetrics, size_t *len)
{
	struct server *s = ctx;

	if (s->view && !running_still(s->view)) {
		roost_close(s->view);
		s->view = NULL;
	}
	if (!s->view && roost_find(&s->view, false))
		s->view = NULL;
	return metrics_page(s->view, openmetrics, len);
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

int cmd_serve_metrics(struct cli *cli)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct http_server *http;
	struct server s = { NULL };
	char err[200];
	int rc;

	rc = http_listen(&http, opt_string(cli, OPT_LISTEN), page_of_command, &s, err, sizeof(err));
	if (rc)
		return rc == -EINVAL ? cli_refuse(cli, "--listen: %s", err) : cli_fail(cli, "--listen: %s", err);
	if (geteuid())
		cli_say(cli, "not root: the counters of a running roost may not be read, and roost_up would be 0");
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	printf("http://%s/metrics\n", http_address(http));
	fflush(stdout);
	rc = http_serve(http, -1, &stop);
	http_close(http);
	roost_close(s.view);
	return rc ? cli_fail(cli, "%s", strerror(-rc)) : CLI_DONE;
}
