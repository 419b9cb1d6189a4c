/* SPDX-License-Identifier: GPL-2.0-only */
/* Which ways of asking for more time lockfight can use: those of libroost-slice. */
#include "load/lockfight.h"
#include "roost/slice.h"
#include "slice/slot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int any_enter(void)
{
	return roost_slice_register();
}

static int enter(enum roost_slice_backend wanted)
{
	int rc = roost_slice_register();

	return rc ? rc : roost_slice_backend() == wanted ? 0 : -EOPNOTSUPP;
}

static int kernel_enter(void)
{
	return enter(ROOST_SLICE_KERNEL);
}

static int roost_enter(void)
{
	return enter(ROOST_SLICE_ROOST);
}

static void leave(void)
{
	roost_slice_unregister();
}

static void begin(void)
{
	roost_slice_begin();
}

static int end(void)
{
	return roost_slice_end();
}

static const struct lock_hooks hooks_auto = { "auto", any_enter, leave, begin, end };
static const struct lock_hooks hooks_mainline = { "mainline", kernel_enter, leave, begin, end };
static const struct lock_hooks hooks_roost = { "roost", roost_enter, leave, begin, end };

const struct lock_hooks *lock_hooks_find(const char *word)
{
	static const struct {
		const struct lock_hooks *hooks;
		const char *backend;    /* what libroost-slice may look for */
	} all[] = {
		{ &lock_hooks_none, NULL },
		{ &hooks_auto, "auto" },
		{ &hooks_mainline, "kernel" },
		{ &hooks_roost, "roost" },
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].hooks->name, word))
			continue;
		/* No thread of the fight has been started yet. */
		if (all[i].backend && setenv("ROOST_SLICE", all[i].backend, 1))
			return NULL;
		return all[i].hooks;
	}
	return NULL;
}

int lock_hooks_say(const struct lock_hooks *hooks, int rc, char *err, size_t err_len)
{
	const char *path = secure_getenv("ROOST_SLICE_SOCKET"); /* as libroost-slice finds it */
	char text[64];

	if (!path || !*path)
		path = ROOST_SLICE_SOCKET;
	if (hooks == &hooks_mainline)
		snprintf(err, err_len, "lockfight: --slice mainline: the kernel's slice extension is not to be had on this machine; "
			 "give --slice none");
	else if (rc == -ENOENT || rc == -ECONNREFUSED)
		snprintf(err, err_len, "lockfight: --slice %s: no roost offers slice-ext at %.120s%s; start it with 'roost run', "
			 "or give --slice none", hooks->name, path, hooks == &hooks_auto ? ", nor has the kernel its own" : "");
	else
		snprintf(err, err_len, "lockfight: --slice %s: slice-ext at %.120s: %s", hooks->name, path,
			 strerror_r(-rc, text, sizeof(text)));
	return hooks == &hooks_mainline || rc == -ENOENT || rc == -ECONNREFUSED ? -ENOTSUP : rc;
}
