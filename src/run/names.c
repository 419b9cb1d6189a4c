/* SPDX-License-Identifier: GPL-2.0-only */
/* names.c - what rules, target rules and distances are called. */
#include "run/run.h"

const char *const roost_rule_name[ROOST_RULE_COUNT] = {
#define RULE(id, name, help) [ROOST_RULE_##id] = name,
#include "policy/rules.def"
#undef RULE
};

const char *const roost_rule_help[ROOST_RULE_COUNT] = {
#define RULE(id, name, help) [ROOST_RULE_##id] = help,
#include "policy/rules.def"
#undef RULE
};

const char *const roost_target_name[ROOST_TARGET_COUNT] = {
	[ROOST_TARGET_WIDE] = "wide",
	[ROOST_TARGET_WAKER_IDLE] = "waker-idle",
	[ROOST_TARGET_PREV_IDLE] = "prev-idle",
	[ROOST_TARGET_SYNC] = "sync",
	[ROOST_TARGET_LIGHTER_WAKER] = "lighter-waker",
	[ROOST_TARGET_LIGHTER_PREV] = "lighter-prev",
};

const char *const roost_distance_name[ROOST_DIST_COUNT] = {
	[ROOST_DIST_SAME] = "stayed",
	[ROOST_DIST_CORE] = "core",
	[ROOST_DIST_LLC] = "llc",
	[ROOST_DIST_NODE] = "node",
	[ROOST_DIST_FAR] = "far",
};
