/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared parts of the loads; util.h lists them. */
#include "load/util.h"
#include "measure/hist.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void load_sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

void load_sleep_until_ns(uint64_t when_ns)
{
	struct timespec t = { (time_t)(when_ns / 1000000000), (long)(when_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

unsigned load_cpus(void)
{
	cpu_set_t *set;
	unsigned n = 1;

	for (int max = 1024; max <= 1 << 16; max *= 2) {
		set = CPU_ALLOC(max);
		if (!set)
			break;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(max), set)) {
			n = (unsigned)CPU_COUNT_S(CPU_ALLOC_SIZE(max), set);
			CPU_FREE(set);
			break;
		}
		CPU_FREE(set);
	}
	return n ? n : 1;
}

int load_pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int rc;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	rc = sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set) ? -errno : 0;
	CPU_FREE(set);
	return rc;
}

int load_need_files(uint64_t want)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return -errno;
	if (lim.rlim_cur >= want)
		return 0;
	if (lim.rlim_max < want) {
		/* Root may go above its hard limit, within fs.nr_open. */
		lim.rlim_max = want;
	}
	lim.rlim_cur = want;
	return setrlimit(RLIMIT_NOFILE, &lim) ? -EMFILE : 0;
}

int load_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	rc = -pthread_create(t, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return rc;
}

int load_child_setup(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == parent ? 0 : -1;
}

static void read_cost(double *user_s, double *system_s, uint64_t *switches)
{
	struct rusage self, kids;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &kids);
	*user_s = (double)(self.ru_utime.tv_sec + kids.ru_utime.tv_sec) +
		  (double)(self.ru_utime.tv_usec + kids.ru_utime.tv_usec) / 1e6;
	*system_s = (double)(self.ru_stime.tv_sec + kids.ru_stime.tv_sec) +
		    (double)(self.ru_stime.tv_usec + kids.ru_stime.tv_usec) / 1e6;
	*switches = (uint64_t)(self.ru_nvcsw + self.ru_nivcsw + kids.ru_nvcsw + kids.ru_nivcsw);
}

void load_cost_begin(struct load_cost *c)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_MIGRATIONS, .inherit = 1,
	};

	c->fd_migrations = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	c->start_ns = load_now_ns();
	read_cost(&c->user_s, &c->system_s, &c->switches);
}

json_t *load_json(const char *name, const char *unit, uint64_t ops, uint64_t elapsed_ns, const struct hist *lat,
		  struct load_cost *c)
{
	double seconds = (double)elapsed_ns / 1e9, user_s, system_s;
	uint64_t switches, migrations = 0;
	json_t *counted = json_null(), *o;

	read_cost(&user_s, &system_s, &switches);
	if (c->fd_migrations >= 0) {
		if (read(c->fd_migrations, &migrations, sizeof(migrations)) == sizeof(migrations))
			counted = json_integer((json_int_t)migrations);
		close(c->fd_migrations);
	}
	o = json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:o}", "load", name, "unit", unit,
		      "ops", (json_int_t)ops, "seconds", seconds,
		      "ops_per_second", seconds > 0 ? (double)ops / seconds : 0.0,
		      "user_seconds", user_s - c->user_s, "system_seconds", system_s - c->system_s,
		      "switches", (json_int_t)(switches - c->switches), "migrations", counted);
	if (o && lat)
		json_object_set_new(o, "latency_ns", hist_json(lat, 1));
	return o;
}
