// SPDX-License-Identifier: GPL-2.0-only
/* A program that computes for some milliseconds with migration disabled, as every BPF program runs: see migdis.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

static long step(__u32 i, void *sum)
{
	*(__u64 *)sum += i;
	return 0;
}

SEC("syscall")
int compute(void *ctx)
{
	__u64 sum = 0;

	bpf_loop(1 << 20, step, &sum, 0);
	return sum & 1;
}
