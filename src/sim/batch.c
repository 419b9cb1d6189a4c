/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs in processes of their own; batch.h. */
#include "sim/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void run_one(const struct sim_config *c, struct sim_outcome *o)
{
	struct sim_config cfg = *c;

	cfg.progress = &o->progress;
	o->ret = sim_run(&cfg, &o->f, &o->err);
}

static pid_t start(const struct sim_config *c, struct sim_outcome *o)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	run_one(c, o);
	_exit(0);
}

static uint64_t events_so_far(const struct sim_outcome *o, unsigned int nr)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += o[i].progress;
	return sum;
}

int sim_batch(const struct sim_config *configs, unsigned int nr, unsigned int jobs,
	      void (*tick)(unsigned int done, unsigned int nr, uint64_t events, void *arg), void *arg,
	      struct sim_outcome **outcomes)
{
	unsigned int next = 0, running = 0, done = 0;
	struct sim_outcome *o;
	pid_t *pids;
	bool failed = false;

	*outcomes = NULL;
	pids = calloc(nr, sizeof(*pids));
	o = mmap(NULL, nr * sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!pids || o == MAP_FAILED) {
		free(pids);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++)
		o[i].ret = -EINTR;
	if (nr == 1) {
		run_one(&configs[0], &o[0]);
		goto out;
	}
	while (running || (next < nr && !failed)) {
		struct timespec pause = { .tv_nsec = 250000000 };
		int status;
		pid_t pid;

		while (running < jobs && next < nr && !failed) {
			o[next].ret = -ECHILD;
			pids[next] = start(&configs[next], &o[next]);
			if (pids[next] < 0) {
				o[next].ret = -errno;
				strcpy(o[next].err.text, "cannot start a process");
				failed = true;
				pids[next] = 0;
				break;
			}
			next++;
			running++;
		}
		pid = waitpid(-1, &status, tick ? WNOHANG : 0);
		if (pid > 0) {
			for (unsigned int i = 0; i < nr; i++)
				if (pids[i] == pid) {
					pids[i] = 0;
					running--;
					done++;
					if (o[i].ret == -ECHILD)
						snprintf(o[i].err.text, sizeof(o[i].err.text),
							 "the run's process died (status 0x%x)", (unsigned int)status);
					failed = failed || o[i].ret;
				}
		} else if (pid < 0 && errno != EINTR) {
			break;
		} else if (tick) {
			tick(done, nr, events_so_far(o, nr), arg);
			nanosleep(&pause, NULL);
		}
	}
out:
	free(pids);
	*outcomes = o;
	return 0;
}

void sim_batch_free(struct sim_outcome *outcomes, unsigned int nr)
{
	if (outcomes)
		munmap(outcomes, nr * sizeof(*outcomes));
}
