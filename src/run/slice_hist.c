/* SPDX-License-Identifier: GPL-2.0-only */
/* slice_hist.c - see slice_hist.h. */
#include "run/slice_hist.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME "roost_ext_hists"

static int add_all(int fd, u32 nr_cpus, struct roost_ext_hist *sum)
{
	struct roost_ext_hist one;

	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		if (bpf_map_lookup_elem(fd, &cpu, &one))
			return -errno;
		for (u32 b = 0; b < ROOST_EXT_BUCKETS; b++) {
			sum->over[b] += one.over[b];
			sum->late[b] += one.late[b];
		}
	}
	return 0;
}

int slice_hist_read(struct roost_ext_hist *sum)
{
	u32 id = 0;

	memset(sum, 0, sizeof(*sum));
	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info;
		u32 len = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id), rc;

		if (fd < 0) {
			if (errno == ENOENT)
				continue;       /* gone in between */
			return -errno;
		}
		memset(&info, 0, sizeof(info));
		rc = bpf_map_get_info_by_fd(fd, &info, &len);
		if (!rc && !strcmp(info.name, NAME) && info.value_size == sizeof(*sum)) {
			rc = add_all(fd, info.max_entries, sum);
			close(fd);
			return rc;
		}
		close(fd);
	}
	return -ENOENT;
}

u64 slice_hist_count(const u32 *buckets)
{
	u64 n = 0;

	for (u32 b = 0; b < ROOST_EXT_BUCKETS; b++)
		n += buckets[b];
	return n;
}

u64 slice_hist_quantile_us(const u32 *buckets, double share)
{
	u64 n = slice_hist_count(buckets), seen = 0, wanted;
	u32 b;

	if (!n)
		return 0;
	wanted = (u64)((double)n * share);
	if (wanted >= n)
		wanted = n - 1;
	for (b = 0; b < ROOST_EXT_BUCKETS - 1; b++) {
		seen += buckets[b];
		if (seen > wanted)
			break;
	}
	return roost_ext_bucket_us(b);
}
