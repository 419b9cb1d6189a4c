/* SPDX-License-Identifier: MIT */
/*
 * slice.c - libroost-slice: which thread is registered with which back end.
 *
 * A thread is registered when roost_slice_self_ points at its two control bytes: in its rseq area (the
 * kernel's back end) or in its slot of the process's map (roost's). All else of a thread is in `me`; all
 * else of the process is under `lock`. fork() holds the lock across, so that the child finds it in order.
 */
#include "slice/client.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct roost_slice_ctrl_ *roost_slice_self_;
int roost_slice_auto_;

static __thread struct {
	enum roost_slice_backend backend;
	struct slice_map *map;
	struct roost_slice_slot *slot;
	struct roost_slice_slot before; /* the slot's counts when it was claimed */
	struct roost_slice_stats kernel;
	int tried;                      /* by roost_slice_enter_(): not again at every section */
	struct slice_reason why_kernel, why_roost;
} me;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int once_error;
static struct slice_map *maps;          /* all; more than one when roost was restarted */
static struct slice_map *process_map;   /* of these, the one for threads to come */
static unsigned int max_threads = ROOST_SLICE_SLOTS_DEFAULT;
static struct roost_slice_stats kernel_total, gone_total; /* gone: of maps that were let go */

static void add_slot(struct roost_slice_stats *to, const struct roost_slice_slot *slot)
{
	to->asked += __atomic_load_n(&slot->asked, __ATOMIC_RELAXED);
	to->granted += __atomic_load_n(&slot->granted_nr, __ATOMIC_RELAXED);
	to->given_back += __atomic_load_n(&slot->given_back, __ATOMIC_RELAXED);
	to->expired += __atomic_load_n(&slot->expired, __ATOMIC_RELAXED);
	to->preempted += __atomic_load_n(&slot->preempted, __ATOMIC_RELAXED);
}

static void add_map(struct roost_slice_stats *to, const struct slice_map *map)
{
	for (unsigned int i = 0; i < map->nr_slots; i++)
		add_slot(to, &map->slots[i]);
}

/* Under the lock: lets a map go that no thread uses and no thread will. */
static void put_map(struct slice_map *map)
{
	if (map->nr_users || map == process_map)
		return;
	for (struct slice_map **at = &maps; *at; at = &(*at)->next) {
		if (*at == map) {
			*at = map->next;
			break;
		}
	}
	add_map(&gone_total, map);
	slice_map_destroy(map);
}

static void leave_slot(void)
{
	*(volatile unsigned char *)&me.slot->request = 0;
	*(volatile unsigned char *)&me.slot->granted = 0;
	__atomic_store_n(&me.slot->owner, 0, __ATOMIC_RELEASE);
	me.slot = NULL;
	pthread_mutex_lock(&lock);
	me.map->nr_users--;
	put_map(me.map);
	pthread_mutex_unlock(&lock);
	me.map = NULL;
}

int roost_slice_unregister(void)
{
	enum roost_slice_backend was = me.backend;

	if (was == ROOST_SLICE_NONE)
		return -ENOENT;
	roost_slice_self_ = NULL;
	me.backend = ROOST_SLICE_NONE;
	me.tried = 1;           /* asked to stay out: roost_slice_enter_() does not bring it back */
	me.why_kernel = me.why_roost = (struct slice_reason){ NULL, 0 };
	ROOST_SLICE_BARRIER_();
	if (was == ROOST_SLICE_KERNEL)
		slice_kernel_detach();
	else
		leave_slot();
	pthread_setspecific(key, NULL);
	return 0;
}

static void thread_ends(void *unused)
{
	(void)unused;
	roost_slice_unregister();
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* The child has one thread, a copy of the one that forked, and shares the parent's maps: let go of them. */
static void after_fork_child(void)
{
	roost_slice_self_ = NULL;
	if (me.backend == ROOST_SLICE_KERNEL)
		slice_kernel_forked();
	process_map = NULL;
	roost_slice_auto_ = 0;
	memset(&me, 0, sizeof(me));
	memset(&kernel_total, 0, sizeof(kernel_total));
	memset(&gone_total, 0, sizeof(gone_total));
	pthread_setspecific(key, NULL);
	while (maps) {
		struct slice_map *map = maps;

		maps = map->next;
		slice_map_destroy(map);
	}
	pthread_mutex_unlock(&lock);
}

static void set_up(void)
{
	once_error = pthread_key_create(&key, thread_ends);
	if (!once_error)
		once_error = pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* ROOST_SLICE=kernel, roost or none leaves only that back end; a set-uid program does not look. */
static int wanted(const char *name)
{
	const char *word = secure_getenv("ROOST_SLICE");

	return !word || !*word || !strcmp(word, "auto") || !strcmp(word, name);
}

static const char *socket_path(void)
{
	const char *path = secure_getenv("ROOST_SLICE_SOCKET");

	return path && *path ? path : ROOST_SLICE_SOCKET;
}

static int register_roost(void)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (process_map && slice_map_is_dead(process_map)) {
		struct slice_map *old = process_map;

		process_map = NULL;
		put_map(old);
	}
	if (!process_map) {
		rc = slice_map_connect(socket_path(), max_threads, &process_map, &me.why_roost);
		if (!rc) {
			process_map->next = maps;
			maps = process_map;
		}
	}
	if (!rc) {
		me.slot = slice_map_claim(process_map, (unsigned int)syscall(SYS_gettid));
		if (me.slot) {
			me.map = process_map;
			me.map->nr_users++;
		} else {
			rc = -ENOSPC;
			me.why_roost = (struct slice_reason){ "no slot is free: see roost_slice_set_max_threads()", 0 };
		}
	}
	pthread_mutex_unlock(&lock);
	if (rc)
		return rc;
	memcpy(&me.before, me.slot, sizeof(me.before));
	me.backend = ROOST_SLICE_ROOST;
	ROOST_SLICE_BARRIER_();
	roost_slice_self_ = (struct roost_slice_ctrl_ *)me.slot;
	return 0;
}

static int register_kernel(void)
{
	struct roost_slice_ctrl_ *ctrl;
	int rc = slice_kernel_attach(&ctrl, &me.why_kernel);

	if (rc)
		return rc;
	me.backend = ROOST_SLICE_KERNEL;
	memset(&me.kernel, 0, sizeof(me.kernel));
	ROOST_SLICE_BARRIER_();
	roost_slice_self_ = ctrl;
	return 0;
}

int roost_slice_register(void)
{
	static const struct slice_reason not_wanted = { "ROOST_SLICE in the environment says otherwise", 0 };
	int rc = -EOPNOTSUPP;

	pthread_once(&once, set_up);
	if (once_error)
		return -once_error;
	if (me.backend == ROOST_SLICE_KERNEL || (me.backend == ROOST_SLICE_ROOST && !slice_map_is_dead(me.map)))
		return 0;
	roost_slice_unregister();       /* with a roost that is gone */
	me.tried = 1;
	me.why_kernel = me.why_roost = not_wanted;
	if (wanted("kernel"))
		rc = register_kernel();
	if (rc && wanted("roost"))
		rc = register_roost();
	if (!rc && pthread_setspecific(key, &me)) {
		roost_slice_unregister();
		rc = -ENOMEM;
	}
	return rc;
}

int roost_slice_register_process(void)
{
	int rc = roost_slice_register();

	__atomic_store_n(&roost_slice_auto_, 1, __ATOMIC_RELAXED);
	return rc;
}

/* The first begin of a thread of a registered process. */
void roost_slice_enter_(void)
{
	int saved = errno;

	if (!me.tried && !roost_slice_register())
		*(volatile unsigned char *)&roost_slice_self_->request = 1;
	errno = saved;
}

/* The end of a section in which an extension was granted. */
int roost_slice_leave_(void)
{
	struct roost_slice_ctrl_ *self = roost_slice_self_;
	unsigned char granted = *(volatile unsigned char *)&self->granted;
	int saved = errno;

	ROOST_SLICE_POINT_("leave: the grant was read");
	if (me.backend == ROOST_SLICE_KERNEL) {
		/* The kernel clears the byte. It may have ended the extension since the byte was read. */
		int gave = slice_kernel_yield();

		__atomic_add_fetch(&kernel_total.granted, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&kernel_total.given_back, (uint64_t)gave, __ATOMIC_RELAXED);
		me.kernel.granted++;
		me.kernel.given_back += (uint64_t)gave;
		errno = saved;
		return gave;
	}
	/* Cleared first: what is granted from here on belongs to the next section. */
	ROOST_SLICE_POINT_("leave: before the grant is cleared");
	*(volatile unsigned char *)&self->granted = 0;
	me.slot->learned++;
	if (granted != ROOST_SLICE_GRANTED)
		return 0;       /* run to its end: the CPU was taken already */
	me.slot->given_back++;
	ROOST_SLICE_POINT_("leave: before the CPU is given up");
	sched_yield();
	errno = saved;
	return 1;
}

int roost_slice_set_max_threads(unsigned int nr_threads)
{
	unsigned int nr = ROOST_SLICE_SLOTS_MIN;
	int rc = 0;

	if (nr_threads < ROOST_SLICE_SLOTS_MIN || nr_threads > ROOST_SLICE_SLOTS_MAX)
		return -EINVAL;
	while (nr < nr_threads)
		nr *= 2;
	pthread_mutex_lock(&lock);
	if (process_map)
		rc = -EBUSY;
	else
		max_threads = nr;
	pthread_mutex_unlock(&lock);
	return rc;
}

enum roost_slice_backend roost_slice_backend(void)
{
	if (me.backend == ROOST_SLICE_ROOST && slice_map_is_dead(me.map))
		return ROOST_SLICE_NONE;
	return me.backend;
}

static const char *with_error(const struct slice_reason *why, char *buf, size_t size)
{
	char text[96];

	if (!why->text)
		return "not tried";
	if (!why->error)
		return why->text;
	snprintf(buf, size, "%s (%s)", why->text, strerror_r(why->error, text, sizeof(text)));
	return buf;
}

int roost_slice_why(char *buf, size_t size)
{
	char kernel[256], roost[256];

	if (me.backend == ROOST_SLICE_KERNEL)
		return snprintf(buf, size, "kernel: the rseq slice extension of this kernel");
	if (me.backend == ROOST_SLICE_ROOST && slice_map_is_dead(me.map))
		return snprintf(buf, size, "none: the roost that this thread was registered with has gone; register again");
	if (me.backend == ROOST_SLICE_ROOST)
		return snprintf(buf, size, "roost: the scheduler at %s; not the kernel's own: %s", socket_path(),
				with_error(&me.why_kernel, kernel, sizeof(kernel)));
	if (!me.why_kernel.text && !me.why_roost.text)
		return snprintf(buf, size, "none: this thread is not registered");
	return snprintf(buf, size, "none: kernel: %s; roost at %s: %s",
			with_error(&me.why_kernel, kernel, sizeof(kernel)), socket_path(),
			with_error(&me.why_roost, roost, sizeof(roost)));
}

int roost_slice_thread_stats(struct roost_slice_stats *stats)
{
	if (me.backend == ROOST_SLICE_NONE)
		return -ENOENT;
	if (me.backend == ROOST_SLICE_KERNEL) {
		*stats = me.kernel;
		stats->asked = stats->expired = stats->preempted = ROOST_SLICE_NOT_COUNTED;
		return 0;
	}
	memset(stats, 0, sizeof(*stats));
	add_slot(stats, me.slot);
	stats->asked -= me.before.asked;
	stats->granted -= me.before.granted_nr;
	stats->given_back -= me.before.given_back;
	stats->expired -= me.before.expired;
	stats->preempted -= me.before.preempted;
	return 0;
}

int roost_slice_process_stats(struct roost_slice_stats *stats)
{
	pthread_mutex_lock(&lock);
	*stats = gone_total;
	for (const struct slice_map *map = maps; map; map = map->next)
		add_map(stats, map);
	pthread_mutex_unlock(&lock);
	if (me.backend == ROOST_SLICE_KERNEL) {
		stats->granted = __atomic_load_n(&kernel_total.granted, __ATOMIC_RELAXED);
		stats->given_back = __atomic_load_n(&kernel_total.given_back, __ATOMIC_RELAXED);
		stats->asked = stats->expired = stats->preempted = ROOST_SLICE_NOT_COUNTED;
	}
	return 0;
}
