/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink, by hand: find the family, register for all CPUs, add up; see rundelay.h. */
#include "measure/rundelay.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET_BYTES (32 << 20)
#define PID_LIMIT (1u << 22)	/* the kernel's own */

struct ended {
	uint32_t tgid, ppid;
	uint64_t delay_ns;
};

struct rundelay {
	int fd, missed;
	struct ended *list;
	size_t n, room;
	char buf[1 << 16];
};

struct request {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[512];
};

static int send_request(int fd, uint16_t family, uint8_t cmd, uint16_t attr, const char *value)
{
	struct request q = { .n = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
			     .g = { .cmd = cmd, .version = 1 } };
	size_t len = strlen(value) + 1;
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = attr };

	if (len > sizeof(q.attrs) - NLA_HDRLEN)
		return -E2BIG;
	memcpy(q.attrs, &a, sizeof(a));
	memcpy(q.attrs + NLA_HDRLEN, value, len);
	q.n.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(NLA_HDRLEN + len));
	return send(fd, &q, q.n.nlmsg_len, 0) < 0 ? -errno : 0;
}

static const struct nlattr *find_attr(const char *p, size_t len, uint16_t type)
{
	while (len >= NLA_HDRLEN) {
		const struct nlattr *a = (const struct nlattr *)p;
		size_t step;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > len)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		step = NLA_ALIGN(a->nla_len);
		if (step >= len)
			return NULL;
		p += step;
		len -= step;
	}
	return NULL;
}

static const char *attrs_of(const struct nlmsghdr *n, size_t *len)
{
	*len = n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	return (const char *)NLMSG_DATA(n) + GENL_HDRLEN;
}

/* Reads until the acknowledgement; the family's number on the way, when it is asked for. */
static int await_ack(struct rundelay *d, uint16_t *family)
{
	for (;;) {
		ssize_t got = recv(d->fd, d->buf, sizeof(d->buf), 0);
		struct nlmsghdr *n = (struct nlmsghdr *)d->buf;

		if (got < 0)
			return -errno;
		for (; NLMSG_OK(n, got); n = NLMSG_NEXT(n, got)) {
			const struct nlattr *a;
			const char *p;
			size_t len;

			if (n->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(n))->error;
			if (!family || n->nlmsg_type != GENL_ID_CTRL)
				continue;
			p = attrs_of(n, &len);
			a = find_attr(p, len, CTRL_ATTR_FAMILY_ID);
			if (a)
				memcpy(family, (const char *)a + NLA_HDRLEN, sizeof(*family));
		}
	}
}

static int all_cpus(char *buf, size_t len)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	int ok = f && fgets(buf, (int)len, f);

	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
	return ok ? 0 : -ENOENT;
}

static int set_up(struct rundelay *d)
{
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };
	struct timeval patience = { 2, 0 };
	int bytes = SOCKET_BYTES;
	uint16_t family = 0;
	char cpus[256];

	d->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (d->fd < 0 || bind(d->fd, (struct sockaddr *)&me, sizeof(me)))
		return -errno;
	if (setsockopt(d->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(d->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	setsockopt(d->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (all_cpus(cpus, sizeof(cpus)) ||
	    send_request(d->fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME) ||
	    await_ack(d, &family) || !family)
		return -ENOENT;
	if (send_request(d->fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus))
		return -EPERM;
	return await_ack(d, NULL);
}

struct rundelay *rundelay_open(void)
{
	struct rundelay *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->fd = -1;
	if (!set_up(d))
		return d;
	if (d->fd >= 0)
		close(d->fd);
	free(d);
	return NULL;
}

static void take(struct rundelay *d, const struct nlmsghdr *n)
{
	const struct nlattr *aggr, *stats;
	struct taskstats t;
	const char *p;
	size_t len;

	p = attrs_of(n, &len);
	aggr = find_attr(p, len, TASKSTATS_TYPE_AGGR_PID);
	if (!aggr)
		return;
	stats = find_attr((const char *)aggr + NLA_HDRLEN, aggr->nla_len - NLA_HDRLEN, TASKSTATS_TYPE_STATS);
	if (!stats)
		return;
	len = stats->nla_len - NLA_HDRLEN;
	if (len < offsetof(struct taskstats, ac_tgid) + sizeof(t.ac_tgid)) {
		d->missed = 1; /* a kernel before 5.18 does not say which process a thread belongs to */
		return;
	}
	memset(&t, 0, sizeof(t));
	memcpy(&t, (const char *)stats + NLA_HDRLEN, len < sizeof(t) ? len : sizeof(t));
	if (d->n == d->room) {
		size_t want = d->room ? d->room * 2 : 1024;
		struct ended *more = realloc(d->list, want * sizeof(*more));

		if (!more) {
			d->missed = 1;
			return;
		}
		d->list = more;
		d->room = want;
	}
	d->list[d->n++] = (struct ended){ t.ac_tgid, t.ac_ppid, t.cpu_delay_total };
}

void rundelay_collect(struct rundelay *d)
{
	for (;;) {
		ssize_t got = recv(d->fd, d->buf, sizeof(d->buf), MSG_DONTWAIT);
		struct nlmsghdr *n = (struct nlmsghdr *)d->buf;

		if (got < 0 && errno == ENOBUFS)
			d->missed = 1;
		if (got < 0 && (errno == ENOBUFS || errno == EINTR))
			continue;
		if (got <= 0)
			return;
		for (; NLMSG_OK(n, got); n = NLMSG_NEXT(n, got))
			if (n->nlmsg_type >= NLMSG_MIN_TYPE)
				take(d, n);
	}
}

/*
 * From the last to the first: a process ends after the children it had, and whose parent ended first was handed to
 * this process, so that a descendant's parent is always known by the time it is looked at.
 */
static double sum_tree(const struct rundelay *d)
{
	unsigned char *in = calloc(PID_LIMIT / 8, 1);
	uint32_t me = (uint32_t)getpid();
	double seconds = 0;

	if (!in)
		return NAN;
	for (size_t i = d->n; i--; ) {
		const struct ended *e = &d->list[i];

		if (e->tgid >= PID_LIMIT || e->ppid >= PID_LIMIT)
			continue;
		if (e->ppid != me && !(in[e->ppid / 8] & (1 << e->ppid % 8)))
			continue;
		in[e->tgid / 8] |= (unsigned char)(1 << e->tgid % 8);
		seconds += (double)e->delay_ns / 1e9;
	}
	free(in);
	return seconds;
}

double rundelay_close(struct rundelay *d)
{
	double seconds;

	rundelay_collect(d);
	seconds = d->missed ? NAN : sum_tree(d);
	close(d->fd);
	free(d->list);
	free(d);
	return seconds;
}
