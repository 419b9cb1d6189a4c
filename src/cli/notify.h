/* SPDX-License-Identifier: GPL-2.0-only */
/* notify.h - tells the service manager (systemd's sd_notify protocol) how things stand, if one asked. */
#ifndef ROOST_CLI_NOTIFY_H
#define ROOST_CLI_NOTIFY_H

/* "READY=1", "STOPPING=1": sent to $NOTIFY_SOCKET; nothing happens where there is none. */
void notify(const char *state);

#endif
