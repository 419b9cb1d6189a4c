/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare_report.c - the file of `roost compare --report`. That it can be written is found out before the first run, and what
 * was there stays until the new one is whole: it is written beside it, and takes its place at the end.
 */
#include "cli/compare.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* A descriptor or -1; behind a symlink the file it names is the one to replace. */
static int open_beside(const char *path, char target[PATH_MAX], char temp[PATH_MAX + 8])
{
	if (!realpath(path, target) && snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(temp, PATH_MAX + 8, "%s.XXXXXX", target);
	return mkstemp(temp);
}

/* A device or a pipe cannot be replaced, nor a file where nothing may be made beside it: these are written to. */
static bool in_place(const char *path)
{
	char target[PATH_MAX], temp[PATH_MAX + 8];
	struct stat st;
	int fd;

	if (stat(path, &st))
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	fd = open_beside(path, target, temp);
	if (fd < 0)
		return true;
	close(fd);
	unlink(temp);
	return false;
}

int compare_report_check(const struct cli *cli, const char *path)
{
	char target[PATH_MAX], temp[PATH_MAX + 8];
	struct stat st;
	int fd;

	if (!*path)
		return cli_refuse(cli, "--report: the name is empty; give the name of a file");
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return cli_refuse(cli, "--report %s: is a directory; give the name of a file", path);
		if (access(path, W_OK))
			return cli_refuse(cli, "--report %s: cannot be written: %s", path, strerror(errno));
		return CLI_DONE;
	}
	fd = open_beside(path, target, temp);
	if (fd < 0)
		return cli_refuse(cli, "--report %s: cannot be written: %s", path, strerror(errno));
	close(fd);
	unlink(temp);
	return CLI_DONE;
}

static int fill(const struct study *s, FILE *f)
{
	int rc;

	errno = 0;
	rc = study_report(s, f);
	if (fclose(f) || rc)
		rc = errno ? -errno : -EIO;
	return rc;
}

static int replace(const struct study *s, const char *path)
{
	char target[PATH_MAX], temp[PATH_MAX + 8];
	mode_t mask = umask(0), mode = 0666 & ~mask;
	struct stat st;
	int fd, rc;
	FILE *f;

	umask(mask);
	fd = open_beside(path, target, temp);
	if (fd < 0)
		return -errno;
	if (!stat(target, &st)) {
		mode = st.st_mode & 07777;
		if (fchown(fd, st.st_uid, st.st_gid))
			mode &= 0777; /* not ours to give away: no set-id bits of somebody else */
	}
	f = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (!f) {
		rc = -errno;
		close(fd);
	} else {
		rc = fill(s, f);
	}
	if (!rc && rename(temp, target))
		rc = -errno;
	if (rc)
		unlink(temp);
	return rc;
}

int compare_report_write(const struct cli *cli, const struct study *s, const char *path)
{
	FILE *f;
	int rc;

	if (in_place(path)) {
		f = fopen(path, "we");
		rc = f ? fill(s, f) : -errno;
	} else {
		rc = replace(s, path);
	}
	if (rc)
		return cli_fail(cli, "--report %s: could not be written: %s", path, strerror(-rc));
	cli_say(cli, "report written to %s", path);
	return CLI_DONE;
}
