/* SPDX-License-Identifier: GPL-2.0-only */
/* spinner.c - see spinner.h. */
#include "run/spinner.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "policy/spin.h"

#define POLICY_SCHED_EXT 7
#define STACK_BYTES 65536
#define STOP_SECONDS 2
#define LOOKS_A_CLOCK 16            /* looks at the wake word between two looks at the clock */
#define STRANDED_NS 5000000000ull   /* a thread that is kept from running for longer is sent elsewhere to block */

struct spinner_thread {
	struct spinner *all;
	u32 cpu;
	pthread_t thread;
	bool runs;
	int ring_fd;
	volatile unsigned long *consumed;       /* of the ring: ours to write */
	const volatile unsigned long *produced; /* the kernel's */
};

struct spinner {
	struct spinner_config config;
	struct roost_spin *spins;
	size_t spins_bytes;
	int stop_fd;
	_Atomic bool stop;
	struct spinner_thread *threads; /* config.nr_cpus */
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int pin(u32 cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	err = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return err;
}

/* Until the kernel's side sends for us, or all is over. A CPU that came back gets its thread back. */
static void block(struct spinner_thread *t)
{
	struct pollfd p[2] = {
		{ .fd = t->ring_fd, .events = POLLIN },
		{ .fd = t->all->stop_fd, .events = POLLIN },
	};

	poll(p, 2, -1);
	*t->consumed = *t->produced;
	if (sched_getcpu() != (int)t->cpu)
		pin(t->cpu);
}

static void spin(struct spinner_thread *t, volatile struct roost_spin *s)
{
	volatile const struct roost_knobs *k = t->all->config.knobs;
	u64 deadline = s->deadline_ns;
	u32 looks = 0;

	if (!deadline || atomic_load_explicit(&t->all->stop, memory_order_relaxed)) {
		block(t);
		return;
	}
	while (!s->wake) {
		relax();
		if (++looks % LOOKS_A_CLOCK)
			continue;
		if (s->deadline_ns != deadline)
			return;     /* stopped and let go again meanwhile */
		if (!k->idle_spin_ns || now_ns() >= deadline) {
			block(t);
			return;
		}
	}
	sched_yield();
}

static void *thread_main(void *arg)
{
	struct spinner_thread *t = arg;
	volatile struct roost_spin *s = &t->all->spins[t->cpu];
	struct sched_param param = { 0 };
	char name[16];

	snprintf(name, sizeof(name), "roost-spin/%u", t->cpu % 10000);
	pthread_setname_np(pthread_self(), name);
	if (pin(t->cpu))
		return NULL;
	if (t->all->config.partial && sched_setscheduler(0, POLICY_SCHED_EXT, &param))
		return NULL;
	s->leave = 0;
	s->pid = (u32)syscall(SYS_gettid);
	/* the kernel's side knows us by this change: it must be one */
	setpriority(PRIO_PROCESS, 0, 18);
	setpriority(PRIO_PROCESS, 0, 19);
	while (!atomic_load_explicit(&t->all->stop, memory_order_relaxed))
		spin(t, s);
	return NULL;
}

/* ---- the ring a thread blocks on ---- */

static void close_ring(struct spinner_thread *t)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	bpf_map_delete_elem(t->all->config.rings_fd, &t->cpu);
	if (t->consumed)
		munmap((void *)t->consumed, page);
	if (t->produced)
		munmap((void *)(uintptr_t)t->produced, page);
	if (t->ring_fd >= 0)
		close(t->ring_fd);
	t->consumed = NULL;
	t->produced = NULL;
	t->ring_fd = -1;
}

static int open_ring(struct spinner_thread *t)
{
	long page = sysconf(_SC_PAGESIZE);
	void *at;
	int err;

	t->ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "roost_spin", 0, 0, (u32)page, NULL);
	if (t->ring_fd < 0)
		return -errno;
	at = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, t->ring_fd, 0);
	if (at == MAP_FAILED)
		goto failed;
	t->consumed = at;
	at = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, t->ring_fd, page);
	if (at == MAP_FAILED)
		goto failed;
	t->produced = at;
	if (!bpf_map_update_elem(t->all->config.rings_fd, &t->cpu, &t->ring_fd, BPF_ANY))
		return 0;
failed:
	err = -errno;
	close_ring(t);
	return err;
}

static int start_one(struct spinner *s, u32 cpu)
{
	struct spinner_thread *t = &s->threads[cpu];
	pthread_attr_t attr;
	int err;

	err = open_ring(t);
	if (err)
		return err;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = -pthread_create(&t->thread, &attr, thread_main, t);
	pthread_attr_destroy(&attr);
	if (err)
		close_ring(t);
	else
		t->runs = true;
	return err;
}

static bool wanted(const struct spinner *s, u32 cpu)
{
	const volatile struct roost_cpu *c = &s->config.cpus[cpu];

	return !s->threads[cpu].runs && (c->flags & ROOST_CPU_ONLINE);
}

/*
 * A real-time task that keeps a CPU for good keeps its thread from running, and so from blocking: to the kernel's
 * watchdog that is a task which starves, and it would end roost for it. Let loose, the thread runs where it can, and
 * blocks; sent for again, it goes home.
 */
static void let_loose(const struct spinner *s, u32 cpu)
{
	const volatile struct roost_cpu *c = s->config.cpus;
	cpu_set_t *set = CPU_ALLOC(s->config.nr_cpus);
	size_t size = CPU_ALLOC_SIZE(s->config.nr_cpus);

	if (!set)
		return;
	CPU_ZERO_S(size, set);
	for (u32 i = 0; i < s->config.nr_cpus; i++)
		if (i != cpu && (c[i].flags & (ROOST_CPU_ONLINE | ROOST_CPU_RT_HELD)) == ROOST_CPU_ONLINE)
			CPU_SET_S(i, size, set);
	if (CPU_COUNT_S(size, set))
		sched_setaffinity((pid_t)s->spins[cpu].pid, size, set);
	CPU_FREE(set);
}

static bool stranded(const struct spinner *s, u32 cpu)
{
	u64 since = *(const volatile u64 *)&s->spins[cpu].parked_ns;

	return s->threads[cpu].runs && s->spins[cpu].pid && since && now_ns() > since + STRANDED_NS;
}

void spinner_look(struct spinner *s)
{
	for (u32 cpu = 0; cpu < s->config.nr_cpus; cpu++) {
		if (wanted(s, cpu) && start_one(s, cpu))
			return;
		if (stranded(s, cpu))
			let_loose(s, cpu);
	}
}

int spinner_start(struct spinner **out, const struct spinner_config *config, char *text, size_t size)
{
	struct spinner *s = calloc(1, sizeof(*s));
	void *at;
	int err = -ENOMEM;
	u32 cpu;

	if (!s)
		goto out;
	s->config = *config;
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	s->threads = calloc(config->nr_cpus, sizeof(*s->threads));
	s->spins_bytes = config->nr_cpus * sizeof(*s->spins);
	at = mmap(NULL, s->spins_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, config->spins_fd, 0);
	s->spins = at == MAP_FAILED ? NULL : at;
	if (!s->threads || s->stop_fd < 0 || !s->spins) {
		err = s->threads ? -errno : -ENOMEM;
		goto out;
	}
	for (cpu = 0; cpu < config->nr_cpus; cpu++) {
		s->threads[cpu].all = s;
		s->threads[cpu].cpu = cpu;
		s->threads[cpu].ring_fd = -1;
	}
	for (cpu = 0, err = 0; cpu < config->nr_cpus && !err; cpu++)
		if (wanted(s, cpu))
			err = start_one(s, cpu);
	if (err)
		goto out;
	*out = s;
	return 0;
out:
	snprintf(text, size, "cannot start the spinner threads: %s", strerror(-err));
	spinner_stop(s);
	return err;
}

void spinner_stop(struct spinner *s)
{
	struct timespec until;
	u64 one = 1;
	u32 cpu, left = 0;

	if (!s)
		return;
	atomic_store(&s->stop, true);
	for (cpu = 0; s->spins && cpu < s->config.nr_cpus; cpu++)
		*(volatile u32 *)&s->spins[cpu].leave = 1;
	if (s->stop_fd >= 0 && write(s->stop_fd, &one, sizeof(one)) != sizeof(one))
		left = 0;           /* an eventfd takes a 1 */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_SECONDS;
	for (cpu = 0; s->threads && cpu < s->config.nr_cpus; cpu++) {
		if (!s->threads[cpu].runs)
			continue;
		if (pthread_timedjoin_np(s->threads[cpu].thread, NULL, &until)) {
			/* it ends when it gets its CPU; what it uses stays */
			pthread_detach(s->threads[cpu].thread);
			left++;
			continue;
		}
		*(volatile u32 *)&s->spins[cpu].pid = 0;
		close_ring(&s->threads[cpu]);
	}
	if (left)
		return;
	if (s->spins)
		munmap(s->spins, s->spins_bytes);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	free(s->threads);
	free(s);
}
