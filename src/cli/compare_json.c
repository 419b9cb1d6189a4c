/* SPDX-License-Identifier: GPL-2.0-only */
/* compare_json.c - a comparison as JSON. Names and notes hold what the user typed and the command printed: any bytes. */
#include "cli/compare.h"

#include <math.h>

#include "cli/print.h"

static const char *const better_keys[] = { "unknown", "less", "more" };

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *metric_json(const struct study *s, unsigned metric)
{
	const struct study_metric *m = &s->metric[metric];
	json_t *o = json_pack("{s:o, s:s, s:s}", "name", print_json_string(m->name), "of",
			      study_scope_keys[m->scope], "better", better_keys[m->better]);
	json_t *list;

	if (m->why_not[0]) {
		json_object_set_new(o, "not_counted_here", print_json_string(m->why_not));
		return o;
	}
	list = json_array();
	for (unsigned k = 0; k < s->n_variants; k++) {
		json_t *v = json_pack("{s:o, s:o}", "variant", print_json_string(s->variant[k].name), "median",
				      number(study_median(s, k, metric)));
		struct stat_ratio q;

		if (k && !study_compare(s, k, metric, &q)) {
			json_object_set_new(v, "ratio", number(q.ratio));
			json_object_set_new(v, "low", number(q.lo));
			json_object_set_new(v, "high", number(q.hi));
			json_object_set_new(v, "rounds", json_integer(q.rounds));
			json_object_set_new(v, "difference", q.call == STAT_NO_DIFFERENCE ? json_null() :
					    json_string(q.call == STAT_LESS ? "less" : "more"));
		}
		json_array_append_new(list, v);
	}
	json_object_set_new(o, "variants", list);
	return o;
}

static json_t *run_json(const struct study *s, const struct study_run *r)
{
	static const char *const names[] = {
#define RULE(id, name, help) name,
#include "policy/rules.def"
#undef RULE
	};
	json_t *o = json_pack("{s:i, s:i, s:o, s:s, s:f}", "round", (int)r->round + 1, "position", (int)r->position + 1,
			      "variant", print_json_string(s->variant[r->variant].name), "outcome",
			      study_outcome_keys[r->outcome], "at_s", r->at_s);
	json_t *values = json_object();

	if (r->note[0])
		json_object_set_new(o, "note", print_json_string(r->note));
	for (unsigned k = 0; k < s->n_metrics; k++) {
		char name[80];
		json_t *key;

		snprintf(name, sizeof(name), "%s: %s", study_scope_keys[s->metric[k].scope], s->metric[k].name);
		if (isnan(r->value[k]))
			continue;
		key = print_json_string(name);
		json_object_set_new(values, json_string_value(key), number(r->value[k]));
		json_decref(key);
	}
	json_object_set_new(o, "values", values);
	if (r->has_rules) {
		json_t *rules = json_object();

		for (unsigned k = 0; k < ROOST_RULE_COUNT; k++)
			if (r->rules[k])
				json_object_set_new(rules, names[k], json_integer((json_int_t)r->rules[k]));
		json_object_set_new(o, "rules", rules);
	}
	return o;
}

json_t *compare_json(const struct study *s)
{
	json_t *variants = json_array(), *metrics = json_array(), *runs = json_array();
	char verdict[1200];

	for (unsigned k = 0; k < s->n_variants; k++) {
		json_t *v = json_pack("{s:o, s:o, s:b, s:i, s:i}", "name", print_json_string(s->variant[k].name),
				      "knobs", print_json_string(s->variant[k].what),
				      "dropped", s->variant[k].dropped, "runs", (int)study_count(s, k, RUN_OK),
				      "failed", (int)study_count(s, k, RUN_FAILED));

		if (k) {
			study_verdict(s, k, verdict, sizeof(verdict));
			json_object_set_new(v, "verdict", print_json_string(verdict));
		}
		json_array_append_new(variants, v);
	}
	for (unsigned k = 0; k < s->n_metrics; k++)
		if (!s->metric[k].optional || study_metric_seen(s, k))
			json_array_append_new(metrics, metric_json(s, k));
	for (unsigned k = 0; k < s->n_runs; k++)
		json_array_append_new(runs, run_json(s, &s->run[k]));
	return json_pack("{s:o, s:o, s:o, s:s, s:s, s:b, s:i, s:o, s:o, s:o, s:o}", "command",
			 print_json_string(s->command ? s->command : ""), "repeat", print_json_string(s->repeat ? s->repeat : ""),
			 "machine", print_json_string(s->machine), "kernel", s->kernel, "when", s->when, "partial", s->partial, "rounds", (int)s->rounds, "primary",
			 print_json_string(s->metric[s->primary].name), "variants", variants, "metrics", metrics, "runs", runs);
}
