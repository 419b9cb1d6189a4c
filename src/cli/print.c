/* SPDX-License-Identifier: GPL-2.0-only */
/* print.c - tables, paragraphs and JSON; see print.h. */
#include "cli/print.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "run/units.h"

#define WIDTH_DEFAULT 100
#define WIDTH_LEAST 40

int cli_width(FILE *to)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	u64 n;

	if (columns && units_parse_count(columns, &n) == 0 && n >= WIDTH_LEAST && n < 10000)
		return (int)n;
	if (ioctl(fileno(to), TIOCGWINSZ, &ws) == 0 && ws.ws_col >= WIDTH_LEAST)
		return ws.ws_col;
	return WIDTH_DEFAULT;
}

void cli_wrap(FILE *to, const char *text, int at, int indent, int width)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!first && at + 1 + (int)n > width) {
			fprintf(to, "\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', to);
			at++;
		}
		fwrite(text, 1, n, to);
		at += (int)n;
		text += n;
		text += strspn(text, " ");
		first = false;
	}
	fputc('\n', to);
}

/* Bytes of the UTF-8 character that s begins with; 0 where it begins with none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Written longer than need be, a surrogate, or past U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

json_t *print_json_string(const char *s)
{
	char *text = malloc(3 * strlen(s) + 1), *to = text;
	json_t *value;

	if (!text)
		return NULL;
	while (*s) {
		size_t n = utf8_length((const unsigned char *)s);

		memcpy(to, n ? s : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
		s += n ? n : 1;
	}
	value = json_stringn(text, (size_t)(to - text));
	free(text);
	return value;
}

/* Of what may be shown as it is; 0 for the rest, U+0080 to U+009F among it, which terminals obey too. */
static size_t shown_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	return *u < 0x20 || *u == 0x7f || (*u == 0xc2 && u[1] < 0xa0) ? 0 : utf8_length(u);
}

bool print_is_plain(const char *s)
{
	size_t n;

	for (; *s; s += n) {
		n = shown_length(s);
		if (!n)
			return false;
	}
	return true;
}

void print_shown(char *to, size_t size, const char *s)
{
	size_t at = 0, n;
	char piece[5];

	for (; *s; s += n ? n : 1) {
		n = shown_length(s);
		if (n)
			snprintf(piece, sizeof(piece), "%.*s", (int)n, s);
		else if (*s == '\n' || *s == '\t')
			snprintf(piece, sizeof(piece), *s == '\n' ? "\\n" : "\\t");
		else
			snprintf(piece, sizeof(piece), "\\x%02x", (unsigned char)*s);
		if (at + strlen(piece) >= size)
			break;
		memcpy(to + at, piece, strlen(piece));
		at += strlen(piece);
	}
	to[at] = 0;
}

void print_quoted(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+@%-";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	if (!print_is_plain(word)) {
		fputs("$'", out);
		for (; *word; word++) {
			unsigned char c = (unsigned char)*word;

			if (c == '\'' || c == '\\')
				fprintf(out, "\\%c", c);
			else if (c < 0x20 || c > 0x7e)
				fprintf(out, "\\%03o", c);
			else
				fputc(c, out);
		}
		fputc('\'', out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static int print_json(const struct cli *cli, json_t *value, size_t flags)
{
	int err = value ? json_dumpf(value, stdout, flags | JSON_REAL_PRECISION(9)) : -1;

	json_decref(value);
	if (err && !ferror(stdout))
		return cli_fail(cli, "could not build the JSON answer");
	putchar('\n');
	return 0;
}

int cli_print_json(const struct cli *cli, json_t *value)
{
	return print_json(cli, value, JSON_INDENT(2));
}

int cli_print_json_line(const struct cli *cli, json_t *value)
{
	int err = print_json(cli, value, JSON_COMPACT);

	fflush(stdout);
	return err;
}
