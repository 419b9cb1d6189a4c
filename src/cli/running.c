/* SPDX-License-Identifier: GPL-2.0-only */
/* running.c - finding the running roost, or saying in plain words why there is none; see running.h. */
#include "cli/running.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "run/idle_spin.h"
#include "run/knobs.h"

static int say_why_not(const struct cli *cli, int err)
{
	struct roost_kernel_state s;

	roost_kernel_state("", &s);
	if (!s.supported)
		return cli_cannot(cli, "this kernel has no sched_ext, so roost cannot run on it; 'roost doctor' says what to do");
	if (err == -EPERM || err == -EACCES)
		return cli_fail(cli, "not permitted to look at the running roost; try it as root");
	if (err == -EPROTO)
		return cli_fail(cli, "the roost that runs is of another version; use its own program, or restart it");
	if (strcmp(s.state, "disabled") == 0)
		return cli_fail(cli, "roost is not running: the kernel uses its own scheduler; start it with 'roost run'");
	if (!s.roost && *s.ops)
		return cli_fail(cli, "roost is not running: the scheduler '%s' is (state: %s)", s.ops, s.state);
	if (!s.roost)
		return cli_fail(cli, "roost is not running (the kernel's state: %s)", s.state);
	return cli_fail(cli, "roost runs, but its records cannot be opened: %s", strerror(-err));
}

int running_open(const struct cli *cli, struct roost_view **view, bool writable)
{
	int err = roost_find(view, writable);

	return err ? say_why_not(cli, err) : 0;
}

bool running_still(const struct roost_view *view)
{
	struct roost_kernel_state s;

	if (__atomic_load_n(&view->exit->done, __ATOMIC_ACQUIRE))
		return false;
	roost_kernel_state("", &s);
	return s.roost;
}

int running_ended(const struct cli *cli, const struct roost_view *view)
{
	char text[1200];

	if (!__atomic_load_n(&view->exit->done, __ATOMIC_ACQUIRE))
		return cli_fail(cli, "roost was taken off; the kernel uses its own scheduler again");
	roost_exit_text(view, text, sizeof(text));
	if (roost_exit_code(view->exit) == CLI_EJECTED) {
		cli_say(cli, "the kernel ejected roost: %s", text);
		return CLI_EJECTED;
	}
	return cli_fail(cli, "roost ended: %s", text);
}

int running_knobs(const struct cli *cli, struct roost_knobs *k, char *const *assignments, size_t nr)
{
	const char *dir = opt_string(cli, OPT_PROFILE_DIR);
	char refusal[KNOB_REFUSAL_MAX];
	struct roost_knobs new = *k;
	int err = 0;

	if (opt_given(cli, OPT_PROFILE))
		err = knobs_profile(&new, opt_string(cli, OPT_PROFILE), dir, refusal);
	if (!err && opt_given(cli, OPT_CONFIG))
		err = knobs_config(&new, opt_string(cli, OPT_CONFIG), dir, refusal);
	if (!err)
		err = knobs_assign(&new, assignments, nr, refusal);
	if (err)
		return cli_refuse(cli, "%s", refusal);
	if (new.idle_spin_ns || new.idle_spin_backend != k->idle_spin_backend) {
		err = idle_spin_backend("/", &new, refusal, sizeof(refusal));
		if (err < 0)
			return cli_refuse(cli, "idle-spin-backend=haltpoll: not on this machine (%s); spinner works on any", refusal);
	}
	knobs_copy(k, &new);
	return 0;
}

u64 running_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}
