/* SPDX-License-Identifier: GPL-2.0-only */
/* run_services.c - see run_services.h. A service that cannot start is said and left out: roost still schedules. */
#include "cli/run_services.h"

#include <string.h>

#include "cli/metrics_service.h"

/* The directory of the socket, or of anything else under /run/roost. */
static void start_slice(struct run_services *s, const struct cli *cli, struct roost *roost)
{
	struct slice_server_config config;
	char error[256] = "";
	int procs, state;

	if (opt_flag(cli, OPT_NO_SLICE_SOCKET))
		return;
	procs = roost_map_fd(roost, "roost_ext_procs");
	state = roost_map_fd(roost, "roost_ext_state");
	if (procs < 0 || state < 0)
		return;     /* this object was built without it */
	s->slice_maps = (struct slice_maps){ .procs_fd = procs, .state_fd = state };
	slice_server_defaults(&config);
	if (opt_given(cli, OPT_SLICE_SOCKET))
		config.path = opt_string(cli, OPT_SLICE_SOCKET);
	if (slice_server_start(&s->slice, &config, &slice_maps_ops, &s->slice_maps, error, sizeof(error))) {
		s->slice = NULL;
		cli_say(cli, "slice-ext is offered to nobody: %s", error);
	}
}

int run_services_start(struct run_services *s, const struct cli *cli, struct roost *roost)
{
	memset(s, 0, sizeof(*s));
	if (opt_given(cli, OPT_METRICS)) {
		int code = metrics_service_start(&s->metrics, cli, opt_string(cli, OPT_METRICS), roost_view(roost));

		if (code)
			return code; /* asked for by name: not to be left out quietly */
	}
	start_slice(s, cli, roost);
	return 0;
}

void run_services_stop(struct run_services *s)
{
	metrics_service_stop(s->metrics);
	if (s->slice)
		slice_server_stop(s->slice);
	memset(s, 0, sizeof(*s));
}
