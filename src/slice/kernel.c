/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - the kernel's own slice extension (Linux 7.0 and later, CONFIG_RSEQ_SLICE_EXTENSION).
 *
 * The request and grant bytes are in the thread's rseq area. glibc 2.35 and later registers one itself;
 * where it did not (an older or another C library, or GLIBC_TUNABLES=glibc.pthread.rseq=0) we register one
 * of our own. A kernel that has the extension but not for this area does not set AVAILABLE in the area's
 * flags: asking prctl() all the same would be answered with a signal, so the flag is looked at first.
 * (Kernels that know two kinds of rseq give the extension only to an area registered with its full length,
 * not to the old one of 32 bytes.)
 */
#include "slice/client.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYS_RSEQ_SLICE_YIELD 471        /* the same number on every architecture */
#define PRCTL_SLICE_EXT 79
#define PRCTL_SLICE_EXT_SET 2
#define PRCTL_SLICE_EXT_ENABLE 1
#define AUXV_RSEQ_FEATURE_SIZE 27
#define AUXV_RSEQ_ALIGN 28
#define RSEQ_UNREGISTER 1
#define FLAG_AVAILABLE (1u << 4)
#define KERNEL_ENOTSUPP 524             /* not in errno.h */
#define OLD_SIZE 32u
#define RSEQ_SIGNATURE 0x53053053u

struct rseq_area {
	uint32_t cpu_id_start;
	uint32_t cpu_id;
	uint64_t rseq_cs;
	uint32_t flags;
	uint32_t node_id;
	uint32_t mm_cid;
	struct roost_slice_ctrl_ ctrl;
	uint16_t ctrl_reserved;
};
_Static_assert(offsetof(struct rseq_area, ctrl) == 28 && sizeof(struct rseq_area) == 32, "kernel ABI");

/* glibc 2.35 and later; weak, so that it is 0 with anything else. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Our own area; malloc()ed, so that it outlives the thread's other memory should the thread end unasked. */
static __thread struct rseq_area *own_area;
static __thread size_t own_size;

static struct rseq_area *libc_area(void)
{
	if (!&__rseq_size || !&__rseq_offset || !__rseq_size)
		return NULL;
	return (struct rseq_area *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static int own_register(struct rseq_area **out, struct slice_reason *why)
{
	size_t size = getauxval(AUXV_RSEQ_FEATURE_SIZE), align = getauxval(AUXV_RSEQ_ALIGN), whole;
	struct rseq_area *area;

	if (own_area) {
		*out = own_area;
		return 0;
	}
	if (size < OLD_SIZE || size > 4096) {
		*why = (struct slice_reason){ "this kernel's rseq has no slice extension", 0 };
		return -EOPNOTSUPP;
	}
	if (align < 64 || align > 4096 || (align & (align - 1)))
		align = 64;
	whole = (size + align - 1) / align * align;
	area = aligned_alloc(align, whole);
	if (!area) {
		*why = (struct slice_reason){ "no memory for an rseq area", ENOMEM };
		return -ENOMEM;
	}
	memset(area, 0, whole);
	area->cpu_id = (uint32_t)-1;
	if (syscall(SYS_rseq, area, (uint32_t)size, 0, RSEQ_SIGNATURE)) {
		int error = errno;

		free(area);
		*why = (struct slice_reason){ "another library holds this thread's rseq registration", error };
		return -error;
	}
	own_area = area;
	own_size = size;
	*out = area;
	return 0;
}

static void own_unregister(void)
{
	if (!own_area)
		return;
	/* Refused, it is still the kernel's: then it must not be freed. */
	if (!syscall(SYS_rseq, own_area, (uint32_t)own_size, RSEQ_UNREGISTER, RSEQ_SIGNATURE))
		free(own_area);
	own_area = NULL;
}

int slice_kernel_attach(struct roost_slice_ctrl_ **ctrl, struct slice_reason *why)
{
	struct rseq_area *area = libc_area();
	int rc;

	if (getauxval(AUXV_RSEQ_FEATURE_SIZE) < OLD_SIZE) {
		*why = (struct slice_reason){ "this kernel's rseq has no slice extension", 0 };
		return -EOPNOTSUPP;
	}
	if (!area) {
		rc = own_register(&area, why);
		if (rc)
			return rc;
	}
	rc = -EOPNOTSUPP;
	if (!(*(volatile uint32_t *)&area->flags & FLAG_AVAILABLE)) {
		*why = (struct slice_reason){ own_area ?
			"this kernel was built or booted without the rseq slice extension" :
			"this kernel has no rseq slice extension, or not for the area that the C library registered", 0 };
		goto out;
	}
	if (prctl(PRCTL_SLICE_EXT, PRCTL_SLICE_EXT_SET, PRCTL_SLICE_EXT_ENABLE, 0, 0)) {
		rc = -errno;
		*why = (struct slice_reason){ rc == -KERNEL_ENOTSUPP ?
			"the rseq slice extension was switched off when this kernel was booted" :
			"the kernel refused the rseq slice extension", rc == -KERNEL_ENOTSUPP ? 0 : -rc };
		rc = rc == -KERNEL_ENOTSUPP ? -EOPNOTSUPP : rc;
		goto out;
	}
	*ctrl = &area->ctrl;
	return 0;
out:
	own_unregister();
	return rc;
}

void slice_kernel_detach(void)
{
	prctl(PRCTL_SLICE_EXT, PRCTL_SLICE_EXT_SET, 0, 0, 0);
	own_unregister();
}

void slice_kernel_forked(void)
{
	struct rseq_area *area = libc_area();

	if (!area)
		area = own_area;
	if (area)
		area->ctrl.request = 0;
	slice_kernel_detach();
}

int slice_kernel_yield(void)
{
	return syscall(SYS_RSEQ_SLICE_YIELD) == 1;
}
