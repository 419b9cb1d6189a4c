/* SPDX-License-Identifier: GPL-2.0-only */
/* main.c - the only file of the program that the tests do not link. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"

/*
 * A file or a socket that is opened while one of 0 to 2 is closed would become standard input, output or error, and get
 * what is meant for those. /dev/null takes the place, opened the wrong way: to read or write still fails, and is reported.
 */
static int fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	if (fill_standard_fds())
		return CLI_FAILED;
	return cli_main(argc, argv);
}
