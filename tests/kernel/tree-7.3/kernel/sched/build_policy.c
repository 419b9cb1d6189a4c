// SPDX-License-Identifier: GPL-2.0-only
#include "sched.h"
#include "stats.h"

#include "idle.c"

#include "rt.c"
