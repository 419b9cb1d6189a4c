/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run delay (time runnable but waiting) of a whole process tree, threads that end before it included. The
 * kernel reports each ending thread to listeners of its taskstats family; who belongs to the tree is worked out
 * afterwards from the parents' numbers, so that nothing is looked up while the command runs.
 * Needs CAP_NET_ADMIN and the first pid namespace; otherwise rundelay_open() gives NULL and nothing is counted.
 */
#ifndef ROOST_MEASURE_RUNDELAY_H
#define ROOST_MEASURE_RUNDELAY_H

struct rundelay;

struct rundelay *rundelay_open(void);
/* Takes what has come in; now and then, so that the socket does not overflow. */
void rundelay_collect(struct rundelay *d);
/* Seconds that all ended descendants of this process waited since rundelay_open(); NaN when some were missed. */
double rundelay_close(struct rundelay *d);

#endif
