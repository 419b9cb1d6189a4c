// SPDX-License-Identifier: GPL-2.0-only
#include "sched.h"

#include "clock.c"

#include "loadavg.c"
