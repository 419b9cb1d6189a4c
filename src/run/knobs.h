/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - the knobs by name: parsing, printing, profiles, configuration files.
 *
 * An assignment is one of
 *   key=value          idle-grace=1ms; the kernel's own name will do for the key (UTIL_FITS_CAPACITY=on),
 *                      in any case, with - and _ alike
 *   key                switches a yes/no knob on
 *   NO_key             switches a yes/no knob off, or sets to 0 a time that may be 0
 * Several are all or nothing: when one is refused, or what they give together makes no sense, the knobs
 * are left as they were. A refusal is one line without newline: what, where, what would be right.
 */
#ifndef ROOST_RUN_KNOBS_H
#define ROOST_RUN_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

enum knob_kind { KNOB_TIME, KNOB_BOOL, KNOB_COUNT, KNOB_PERCENT, KNOB_BACKEND };

struct knob {
	const char *key;
	const char *alias;      /* the kernel's name, or "" */
	enum knob_kind kind;
	u64 min, max, def;
	const char *help;
	const char *origin;     /* "" = a knob of the base; else a feature's */
	const char *field;      /* its name in struct roost_knobs */
	size_t offset;
};

#define KNOB_REFUSAL_MAX 512
#define KNOB_TEXT_MAX 32

extern const struct knob knob_table[];
extern const size_t knob_count;

void knobs_default(struct roost_knobs *k);
u64 knob_get(const struct roost_knobs *k, const struct knob *knob);
void knob_put(struct roost_knobs *k, const struct knob *knob, u64 value);

/* Copies what differs, knob by knob, so that another writer's knobs are not taken back. */
void knobs_copy(struct roost_knobs *to, const struct roost_knobs *from);

/* By key or kernel name; NULL when there is none. */
const struct knob *knob_find(const char *name);
/* A knob that is off does nothing: a yes/no that is no, a feature's time that is 0. */
bool knob_is_on(const struct knob *knob, u64 value);
/* As the user would type it: "1ms", "on", "4", "20", "auto". Parses back to the same value. */
const char *knob_format(const struct knob *knob, u64 value, char buf[static KNOB_TEXT_MAX]);
/* "0..1s", "on|off", "auto|haltpoll|spinner" */
const char *knob_range(const struct knob *knob, char buf[static 2 * KNOB_TEXT_MAX]);

/* All or nothing. 0, -EINVAL (refused; why is in refusal). */
int knobs_assign(struct roost_knobs *k, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX]);
/* The same without knobs_check(): each by itself, for one who checks the whole later. */
int knobs_parse(struct roost_knobs *k, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX]);
/* Values that are each in range but make no sense together; 0 or -EINVAL. */
int knobs_check(const struct roost_knobs *k, char refusal[static KNOB_REFUSAL_MAX]);

/*
 * Profiles: a named set of knobs; those it does not name get their defaults. The built-in ones first,
 * then DIR/NAME.conf (a configuration file) when dir is not NULL.
 */
struct knob_profile {
	const char *name;
	const char *knobs;      /* assignments, separated by blanks */
	const char *help;
};
extern const struct knob_profile knob_profiles[];
extern const size_t knob_profile_count;
#define KNOB_PROFILE_DIR "/etc/roost/profiles"
int knobs_profile(struct roost_knobs *k, const char *name, const char *dir, char refusal[static KNOB_REFUSAL_MAX]);

/*
 * A configuration file: one assignment a line, blanks round '=' allowed, '#' starts a comment,
 * "profile = NAME" as its first assignment starts from that profile. Refusals start with "file:line: ".
 * -ENOENT and other errors of reading are refused likewise.
 */
int knobs_config(struct roost_knobs *k, const char *path, const char *profile_dir,
		 char refusal[static KNOB_REFUSAL_MAX]);
/* The same over text that is in memory; name stands for the file in refusals. */
int knobs_config_text(struct roost_knobs *k, const char *name, const char *text, size_t len,
		      const char *profile_dir, char refusal[static KNOB_REFUSAL_MAX]);

#endif
