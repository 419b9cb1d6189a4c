/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_state.c - see kernel_state.h. */
#include "run/kernel_state.h"

#include <stdio.h>
#include <string.h>

static void read_line(const char *root, const char *path, char *buf, size_t size)
{
	char full[512];
	FILE *f;

	buf[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "re");
	if (!f)
		return;
	if (!fgets(buf, (int)size, f))
		buf[0] = '\0';
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
}

void roost_kernel_state(const char *root, struct roost_kernel_state *s)
{
	memset(s, 0, sizeof(*s));
	read_line(root, "/sys/kernel/sched_ext/state", s->state, sizeof(s->state));
	s->supported = s->state[0] != '\0';
	if (!s->supported || strcmp(s->state, "disabled") == 0)
		return;
	read_line(root, "/sys/kernel/sched_ext/root/ops", s->ops, sizeof(s->ops));
	/* the kernel may add a version: NAME_VERSION */
	s->roost = strcmp(s->state, "enabled") == 0 && strncmp(s->ops, "roost", 5) == 0 &&
		   (!s->ops[5] || s->ops[5] == '_');
}
