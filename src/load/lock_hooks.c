/* SPDX-License-Identifier: GPL-2.0-only */
/* Which ways of asking for more time lockfight can use in this build. */
#include "load/lockfight.h"

#include <string.h>

const struct lock_hooks *lock_hooks_find(const char *word)
{
	static const struct lock_hooks *const all[] = { &lock_hooks_none };

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, word))
			return all[i];
	return NULL;
}
