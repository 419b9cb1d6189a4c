/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * softirq SECONDS CPU: floods the loopback with datagrams from CPU, so that ksoftirqd/CPU has to run.
 * Prints "softirq sent N ms N".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char data[64] = { 0 };
	uint64_t begin, end, sent = 0;
	cpu_set_t set;
	int fd, sink, i;

	if (argc != 3) {
		fprintf(stderr, "usage: softirq SECONDS CPU\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)number(argv[2], 0), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	sink = socket(AF_INET, SOCK_DGRAM, 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (sink < 0 || fd < 0 || bind(sink, (struct sockaddr *)&to, sizeof(to)))
		die("socket");
	begin = now_ns();
	end = begin + (uint64_t)number(argv[1], 1) * NSEC_PER_SEC;
	while (now_ns() < end)
		for (i = 0; i < 256; i++)
			if (sendto(fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) > 0)
				sent++;
	printf("softirq sent %llu ms %llu\n", (unsigned long long)sent, (unsigned long long)((now_ns() - begin) / NSEC_PER_MSEC));
	return sent ? 0 : 1;
}
