/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.c - runs a fuzz target over every file of its corpus, then over mutations of each from a fixed seed: the
 * same inputs on every machine. Exit 0, or the target's abort; 1 when there is no corpus.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include "fuzz.h"

#define INPUT_MAX 65536
#define MUTATIONS 400

static uint64_t seed = 88172645463325252ull;

static uint32_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* Exactly as long as the input, so that a sanitizer sees a read past its end. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	MUST(copy);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static size_t mutate(uint8_t *data, size_t size)
{
	static const char *const pieces[] = { "=", "-", "--", "0", "9", "us", "ms", "\n", "#", "%", "NO_", "\0x", ",", " " };
	const char *piece;
	size_t at, n;

	for (uint32_t i = next_random() % 4 + 1; i; i--) {
		at = size ? next_random() % size : 0;
		switch (next_random() % 4) {
		case 0:
			if (size)
				data[at] ^= (uint8_t)(1u << next_random() % 8);
			break;
		case 1:
			n = next_random() % 8;
			if (at + n < size) {
				memmove(data + at, data + at + n, size - at - n);
				size -= n;
			}
			break;
		case 2:
			piece = pieces[next_random() % (sizeof(pieces) / sizeof(pieces[0]))];
			n = *piece ? strlen(piece) : 2;
			if (size + n < INPUT_MAX) {
				memmove(data + at + n, data + at, size - at);
				memcpy(data + at, piece, n);
				size += n;
			}
			break;
		default:
			n = next_random() % 64;
			if (at + n <= size && size + n < INPUT_MAX) {
				memcpy(data + size, data + at, n);
				size += n;
			}
			break;
		}
	}
	return size;
}

static int replay_file(const char *path)
{
	static uint8_t data[INPUT_MAX], changed[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	feed(data, size);
	for (int i = 0; i < MUTATIONS; i++) {
		memcpy(changed, data, size);
		feed(changed, mutate(changed, size));
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **files;
	int nr, failed = 0, used = 0;
	char path[1024];

	nr = scandir(ROOST_CORPUS, &files, NULL, alphasort);
	if (nr < 0) {
		fprintf(stderr, "%s: %s\n", ROOST_CORPUS, strerror(errno));
		return 1;
	}
	for (int i = 0; i < nr; i++) {
		if (files[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", ROOST_CORPUS, files[i]->d_name);
			failed |= replay_file(path);
			used++;
		}
		free(files[i]);
	}
	free(files);
	printf("%s: %d inputs and %d mutations of each\n", ROOST_CORPUS, used, MUTATIONS);
	return failed || !used;
}
