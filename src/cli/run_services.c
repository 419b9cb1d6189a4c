/* SPDX-License-Identifier: GPL-2.0-only */
/* run_services.c - see run_services.h. A service that cannot start is said and left out: roost still schedules. */
#include "cli/run_services.h"

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "cli/metrics_service.h"
#include "measure/http.h"

/* Where the socket is and who may use it, as the options say. 0, or an exit code and the reason said. */
static int slice_options(const struct cli *cli, struct slice_server_config *config)
{
	static const size_t longest = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	const struct group *g;
	const char *text;
	unsigned long mode;

	if (opt_given(cli, OPT_SLICE_SOCKET)) {
		config->path = opt_string(cli, OPT_SLICE_SOCKET);
		if (!*config->path || strlen(config->path) > longest)
			return cli_refuse(cli, "--slice-socket: a path of %zu characters; give one of 1 to %zu",
					  strlen(config->path), longest);
	}
	if (opt_given(cli, OPT_SLICE_GROUP)) {
		text = opt_string(cli, OPT_SLICE_GROUP);
		g = getgrnam(text);
		if (!g)
			return cli_refuse(cli, "--slice-group: there is no group '%s'", text);
		config->group = g->gr_gid;
		config->mode = 0660;
	}
	if (opt_given(cli, OPT_SLICE_MODE)) {
		text = opt_string(cli, OPT_SLICE_MODE);
		mode = strtoul(text, NULL, 8);
		if (!*text || text[strspn(text, "01234567")] || mode > 0777)
			return cli_refuse(cli, "--slice-mode: '%s' is no mode of a file: 600 to 666, in octal", text);
		config->mode = (mode_t)mode;
	}
	return 0;
}

int run_services_check(const struct cli *cli)
{
	struct slice_server_config config;
	char error[256];

	slice_server_defaults(&config);
	if (opt_given(cli, OPT_METRICS) && http_check_address(opt_string(cli, OPT_METRICS), error, sizeof(error)))
		return cli_refuse(cli, "--metrics: %s", error);
	return slice_options(cli, &config);
}

static int start_slice(struct run_services *s, const struct cli *cli, struct roost *roost)
{
	struct slice_server_config config;
	char error[256] = "";
	int procs, state, code;

	slice_server_defaults(&config);
	code = slice_options(cli, &config);
	if (code || opt_flag(cli, OPT_NO_SLICE_SOCKET))
		return code;
	procs = roost_map_fd(roost, "roost_ext_procs");
	state = roost_map_fd(roost, "roost_ext_state");
	if (procs < 0 || state < 0)
		return 0;   /* this object was built without it */
	s->slice_maps = (struct slice_maps){ .procs_fd = procs, .state_fd = state };
	if (slice_server_start(&s->slice, &config, &slice_maps_ops, &s->slice_maps, error, sizeof(error))) {
		s->slice = NULL;
		cli_say(cli, "slice-ext is offered to nobody: %s", error);
	}
	return 0;
}

int run_services_start(struct run_services *s, const struct cli *cli, struct roost *roost)
{
	int code;

	memset(s, 0, sizeof(*s));
	if (opt_given(cli, OPT_METRICS)) {
		code = metrics_service_start(&s->metrics, cli, opt_string(cli, OPT_METRICS), roost_view(roost));
		if (code)
			return code; /* asked for by name: not to be left out quietly */
	}
	code = start_slice(s, cli, roost);
	if (code) {
		run_services_stop(s, cli);
		return code;
	}
	s->spin = idle_spin_new("/", roost);
	run_services_look(s, cli);
	return 0;
}

void run_services_look(struct run_services *s, const struct cli *cli)
{
	char error[512] = "";

	if (s->spin && idle_spin_look(s->spin, error, sizeof(error)))
		cli_say(cli, "idle-spin is without effect: %s", error);
}

void run_services_stop(struct run_services *s, const struct cli *cli)
{
	char error[512] = "";

	if (idle_spin_free(s->spin, error, sizeof(error)))
		cli_say(cli, "%s; 'roost restore' tries again", error);
	metrics_service_stop(s->metrics);
	if (s->slice)
		slice_server_stop(s->slice);
	memset(s, 0, sizeof(*s));
}
