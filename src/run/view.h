/* SPDX-License-Identifier: GPL-2.0-only */
/* view.h - between the loader and view.c: making a view out of map descriptors. */
#ifndef ROOST_RUN_VIEW_H
#define ROOST_RUN_VIEW_H

#include "run/run.h"

/* @fds in the order of view_map_name(0..7); descriptors stay the caller's. @own maps all of it writable. */
int view_open(struct roost_view **out, const int fds[8], int events_fd, bool writable, bool own);
/* 0..7 the mapped ones, 8 the events. */
const char *view_map_name(u32 i);

#endif
