/* SPDX-License-Identifier: GPL-2.0-only */
/* print.h - how tables, paragraphs and JSON go to stdout. */
#ifndef ROOST_CLI_PRINT_H
#define ROOST_CLI_PRINT_H

#include <jansson.h>
#include <stdio.h>
#include "cli/cli.h"

/* Columns of the terminal that a stream goes to (COLUMNS first), 100 when it is none. */
int cli_width(FILE *to);

/*
 * Text from column `at` on, wrapped at blanks before column `width`; later lines start at column
 * `indent`. Ends with a newline.
 */
void cli_wrap(FILE *to, const char *text, int at, int indent, int width);

/*
 * Bytes as a terminal may show them, on one line: a control character or a byte that is no UTF-8 becomes \n, \t or \xNN.
 * Cut off where @to is full.
 */
void print_shown(char *to, size_t size, const char *s);
/* Is there nothing for print_shown() to change? */
bool print_is_plain(const char *s);

/* A word as a shell would take it; quoted only when it must be, as $'..' where a terminal would obey it. */
void print_quoted(FILE *out, const char *word);

/* A string value of bytes that may be no UTF-8, as a file's name may: U+FFFD stands for each byte that is none. */
json_t *print_json_string(const char *s);

/* Prints a value, indented, with a newline, and drops the reference. 0 or CLI_FAILED, said to stderr. */
int cli_print_json(const struct cli *cli, json_t *value);
/* The same on one line, flushed at once: one record of a stream. */
int cli_print_json_line(const struct cli *cli, json_t *value);

#endif
