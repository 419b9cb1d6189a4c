/* SPDX-License-Identifier: GPL-2.0-only */
/* restore.c - `roost restore`: puts back what a roost that was killed could not. */
#include "cli/cli.h"

#include <sys/stat.h>

#include "cli/running.h"
#include "run/haltpoll.h"

int cmd_restore(struct cli *cli)
{
	const char *root = opt_string(cli, OPT_ROOT);
	struct roost_kernel_state s;
	struct stat st;
	char text[512];

	if (stat(root, &st) || !S_ISDIR(st.st_mode))
		return cli_refuse(cli, "--root=%s: not a directory", root);
	if (!haltpoll_changed(root)) {
		cli_say(cli, "nothing was left changed");
		return CLI_DONE;
	}
	roost_kernel_state(root, &s);
	if (s.roost)
		return cli_fail(cli, "roost runs: it puts all back when it ends");
	if (haltpoll_restore(root, text, sizeof(text)))
		return cli_fail(cli, "%s", text);
	cli_say(cli, "the cpuidle governor and haltpoll's parameters are as they were found");
	return CLI_DONE;
}
