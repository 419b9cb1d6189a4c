/* SPDX-License-Identifier: GPL-2.0-only */
/* main.c - the only file of the program that the tests do not link. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
