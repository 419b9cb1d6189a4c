/* SPDX-License-Identifier: GPL-2.0-only */
/* machines/ as text inside the program; src/topology/embed writes the table at build time. */
#ifndef ROOST_TOPOLOGY_EMBEDDED_H
#define ROOST_TOPOLOGY_EMBEDDED_H

struct topo_embedded {
	const char *name; /* "guest-2.machine" */
	const char *stem; /* "guest-2" */
	const char *text;
};
extern const struct topo_embedded topo_embedded_files[]; /* ends with an all-NULL entry */

#endif
