/* SPDX-License-Identifier: GPL-2.0-only */
/* set.c - `roost set`: changes knobs of the running roost, with no reload; all of them or none. */
#include "cli/running.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "run/knobs.h"

/*
 * Writers take turns: two that each change one knob could otherwise together make a set that neither of
 * them checked. The lock goes with the process.
 */
static int take_turn(void)
{
	int fd = open("/sys/kernel/sched_ext", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX)) {
		if (errno != EINTR)
			break;
	}
	return fd;
}

/*
 * With no roost to set, what is wrong with the files is still said first. Only then: a pipe can be read once. What two knobs
 * are together depends on the running ones, so those that the files leave out are given all room.
 */
static int check_files(struct cli *cli)
{
	struct roost_knobs k;

	knobs_default(&k);
	k.slice_min_ns = 0;
	k.slice_ns = ~0ull;
	return running_knobs(cli, &k, cli->args, (size_t)cli->nr_args);
}

int cmd_set(struct cli *cli)
{
	struct roost_knobs scratch;
	char refusal[KNOB_REFUSAL_MAX];
	struct roost_view *view = NULL;
	int lock, code;

	if (!cli->nr_args && !opt_given(cli, OPT_PROFILE) && !opt_given(cli, OPT_CONFIG))
		return cli_refuse(cli, "needs KEY=VALUE, --profile or --config; 'roost features' lists the knobs");
	/* what is wrong in itself is refused wherever it is typed, a roost running or not */
	knobs_default(&scratch);
	if (knobs_parse(&scratch, cli->args, (size_t)cli->nr_args, refusal))
		return cli_refuse(cli, "%s", refusal);
	lock = take_turn();
	code = roost_find(&view, true) ? check_files(cli) : 0;
	if (!code && !view)
		code = running_open(cli, &view, true);
	if (!code) {
		code = running_knobs(cli, view->knobs, cli->args, (size_t)cli->nr_args);
		if (!code && !running_still(view))
			code = running_ended(cli, view);
		roost_close(view);
	}
	if (lock >= 0)
		close(lock);
	return code;
}
