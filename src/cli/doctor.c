/* SPDX-License-Identifier: GPL-2.0-only */
/* doctor.c - `roost doctor`: what this kernel lacks for roost, and what to do about each. */
#include "cli/cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/print.h"
#include "run/doctor.h"

static json_t *report_json(const struct doctor_report *r, bool can_run)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < r->nr; i++) {
		const struct doctor_check *c = &r->check[i];

		json_array_append_new(checks, json_pack("{s:s, s:s, s:o, s:o}", "name", c->name, "state",
							doctor_state_name(c->state), "found", print_json_string(c->found),
							"todo", print_json_string(c->todo)));
	}
	return json_pack("{s:o, s:b, s:o}", "kernel", print_json_string(r->release), "can_run", can_run, "checks", checks);
}

static void print_report(const struct doctor_report *r)
{
	int width = cli_width(stdout);

	for (size_t i = 0; i < r->nr; i++) {
		const struct doctor_check *c = &r->check[i];

		printf("%-8s %-16s ", doctor_state_name(c->state), c->name);
		cli_wrap(stdout, c->found, 26, 26, width);
		if (*c->todo) {
			printf("%25s-> ", "");
			cli_wrap(stdout, c->todo, 28, 28, width);
		}
	}
}

static void print_verdict(const struct doctor_report *r)
{
	unsigned int nr[DOCTOR_MISSING + 1] = { 0 };

	for (size_t i = 0; i < r->nr; i++)
		nr[r->check[i].state]++;
	if (nr[DOCTOR_MISSING])
		printf("\nThis kernel cannot run roost: %u of %zu checks missing%s.\n", nr[DOCTOR_MISSING], r->nr,
		       nr[DOCTOR_BLOCKED] ? ", others blocked" : "");
	else if (nr[DOCTOR_BLOCKED])
		printf("\nThis kernel can run roost, once what blocks it (%u of %zu checks) is out of the way.\n",
		       nr[DOCTOR_BLOCKED], r->nr);
	else if (nr[DOCTOR_WARN])
		printf("\nThis kernel can run roost, with %u warning%s.\n", nr[DOCTOR_WARN], nr[DOCTOR_WARN] > 1 ? "s" : "");
	else
		printf("\nThis kernel can run roost.\n");
}

int cmd_doctor(struct cli *cli)
{
	const char *root = opt_string(cli, OPT_ROOT);
	struct doctor_env env;
	struct doctor_report *r;
	struct stat st;
	bool can_run;
	int code;

	if (stat(root, &st) || !S_ISDIR(st.st_mode))
		return cli_refuse(cli, "--root=%s: not a directory", root);
	r = malloc(sizeof(*r));
	if (!r)
		return cli_fail(cli, "out of memory");
	doctor_env_init(&env, root);
	doctor_run(&env, r);
	can_run = doctor_worst(r) < DOCTOR_BLOCKED;
	if (opt_flag(cli, OPT_JSON)) {
		code = cli_print_json(cli, report_json(r, can_run));
	} else {
		print_report(r);
		print_verdict(r);
		code = CLI_DONE;
	}
	free(r);
	return code ? code : can_run ? CLI_DONE : CLI_CANNOT;
}
