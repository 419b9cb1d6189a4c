/* SPDX-License-Identifier: GPL-2.0-only */
/* haltpoll.c - see haltpoll.h. */
#include "run/haltpoll.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPUIDLE "/sys/devices/system/cpu/cpuidle/"
#define PARAMETERS "/sys/module/haltpoll/parameters/"
#define VALUE_MAX 64
#define PATH_MAX_ 512

/* In the order in which they are written; put back in the opposite one. */
static const char *const files[] = {
	PARAMETERS "guest_halt_poll_ns",
	PARAMETERS "guest_halt_poll_allow_shrink",
	PARAMETERS "guest_halt_poll_grow",
	PARAMETERS "guest_halt_poll_shrink",
	PARAMETERS "guest_halt_poll_grow_start",
	CPUIDLE "current_governor",
};
#define FILES (sizeof(files) / sizeof(*files))

struct values {
	char text[FILES][VALUE_MAX];
};

static void path_of(char path[PATH_MAX_], const char *root, const char *file)
{
	snprintf(path, PATH_MAX_, "%s%s", root && strcmp(root, "/") ? root : "", file);
}

static int read_line(const char *root, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX_];
	ssize_t n;
	int fd;

	path_of(path, root, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int write_value(const char *root, const char *file, const char *value)
{
	size_t len = strlen(value);
	char path[PATH_MAX_];
	int fd, err = 0;

	path_of(path, root, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, len) != (ssize_t)len)
		err = -errno;
	close(fd);
	return err;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

int haltpoll_check(const char *root, char *why, size_t size)
{
	char text[256];
	const char *what = NULL;

	if (read_line(root, CPUIDLE "available_governors", text, sizeof(text)))
		what = "the kernel has no cpuidle";
	else if (!has_word(text, "haltpoll"))
		what = "the kernel has no haltpoll governor: it has it only as a KVM guest";
	else if (read_line(root, CPUIDLE "current_driver", text, sizeof(text)) || !*text || strcmp(text, "none") == 0)
		what = "no cpuidle driver is in use, so no governor is asked";
	else if (read_line(root, files[0], text, sizeof(text)))
		what = "haltpoll has no guest_halt_poll_ns to set";
	else if (read_line(root, files[FILES - 1], text, sizeof(text)))
		what = "the governor cannot be changed while the kernel runs";
	if (!what)
		return 0;
	snprintf(why, size, "%s", what);
	return -ENOTSUP;
}

/* ---- what was found ---- */

bool haltpoll_changed(const char *root)
{
	char path[PATH_MAX_];

	path_of(path, root, HALTPOLL_RECORD);
	return access(path, F_OK) == 0;
}

/* One value a line, in the order of files. */
static int save(const char *root)
{
	char path[PATH_MAX_], temp[PATH_MAX_ + 8], dir[PATH_MAX_], value[VALUE_MAX];
	FILE *f;
	int err = 0;

	path_of(path, root, HALTPOLL_RECORD);
	snprintf(temp, sizeof(temp), "%s.new", path);
	path_of(dir, root, "/run/roost");
	mkdir(dir, 0755);
	f = fopen(temp, "we");
	if (!f)
		return -errno;
	for (size_t i = 0; i < FILES && !err; i++) {
		err = read_line(root, files[i], value, sizeof(value));
		if (!err && fprintf(f, "%s\n", value) < 0)
			err = -EIO;
	}
	if (fflush(f) || fsync(fileno(f)))
		err = err ? err : -errno;
	if (fclose(f))
		err = err ? err : -errno;
	if (!err && rename(temp, path))
		err = -errno;
	if (err)
		unlink(temp);
	return err;
}

static int load(const char *root, struct values *v)
{
	char path[PATH_MAX_];
	FILE *f;
	int err = 0;

	path_of(path, root, HALTPOLL_RECORD);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	for (size_t i = 0; i < FILES && !err; i++) {
		if (!fgets(v->text[i], VALUE_MAX, f) || !strchr(v->text[i], '\n'))
			err = -EBADMSG;
		else
			v->text[i][strcspn(v->text[i], "\n")] = '\0';
	}
	fclose(f);
	return err;
}

int haltpoll_restore(const char *root, char *text, size_t size)
{
	char path[PATH_MAX_];
	struct values v;
	int err = load(root, &v), one;

	if (err == -ENOENT)
		return 0;
	if (err) {
		snprintf(text, size, HALTPOLL_RECORD " cannot be read: %s", strerror(-err));
		return err;
	}
	for (size_t i = FILES; i-- > 0;) {
		one = write_value(root, files[i], v.text[i]);
		if (one && !err) {
			err = one;
			snprintf(text, size, "cannot put %s back to '%s': %s", files[i], v.text[i], strerror(-one));
		}
	}
	if (err)
		return err;
	path_of(path, root, HALTPOLL_RECORD);
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

int haltpoll_set(const char *root, u64 window_ns, bool adapt, char *text, size_t size)
{
	struct values v;
	char why[160];
	int err;

	err = haltpoll_check(root, why, sizeof(why));
	if (err) {
		snprintf(text, size, "haltpoll cannot be used: %s", why);
		return err;
	}
	if (!haltpoll_changed(root)) {
		err = save(root);
		if (err) {
			snprintf(text, size, "cannot keep what was found in " HALTPOLL_RECORD ": %s", strerror(-err));
			return err;
		}
	}
	/* without adapting, the first growth goes to the whole window, and nothing shrinks it */
	snprintf(v.text[0], VALUE_MAX, "%llu", window_ns);
	snprintf(v.text[1], VALUE_MAX, "%s", adapt ? "Y" : "N");
	snprintf(v.text[2], VALUE_MAX, "2");
	snprintf(v.text[3], VALUE_MAX, "2");
	snprintf(v.text[4], VALUE_MAX, "%llu", adapt && window_ns > 50000 ? 50000ull : window_ns);
	snprintf(v.text[5], VALUE_MAX, "haltpoll");
	for (size_t i = 0; i < FILES; i++) {
		err = write_value(root, files[i], v.text[i]);
		if (err) {
			snprintf(text, size, "cannot write '%s' to %s: %s", v.text[i], files[i], strerror(-err));
			haltpoll_restore(root, why, sizeof(why));
			return err;
		}
	}
	return 0;
}
