/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/report_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/json.h"
#include "matcher/decode.h"
#include "shim/graph_report.h"
#include "shim/kernels.h"
#include "shim/verdict.h"

static void json_patterns(FILE *f, const struct report_totals *t)
{
	const char *sep = "";

	fputs("  \"patterns\": {", f);
	for (unsigned p = 0; p < PATTERN_COUNT; p++) {
		const struct counts_pattern *rp = &t->counts.pattern[p];
		const char *comma = "";

		fprintf(f, "%s\n    \"%s\": {\"fused\": %llu, \"checked\": %llu, \"rejected\": {",
			sep, pattern_get((enum pattern_id)p)->name, rp->outcome[OUTCOME_FUSED],
			rp->outcome[OUTCOME_CHECKED]);
		for (unsigned r = 0; r < REASON_COUNT; r++)
			if (rp->rejected[r]) {
				fprintf(f, "%s\"%s\": %llu", comma, reason_word((enum reason)r),
					rp->rejected[r]);
				comma = ", ";
			}
		fputs("}}", f);
		sep = ",";
	}
	fputs("\n  },\n", f);
}

/* Absent where fusion was never switched. */
static void json_phases(FILE *f, const struct report_totals *t)
{
	fputs("  \"phases\": [", f);
	for (unsigned i = 0; i < t->nphase; i++) {
		const struct report_phase *p = &t->phase[i];

		fprintf(f,
			"%s\n    {\"fusion\": %s, \"seconds\": %.6f, \"launches\": %llu, \"sent\": "
			"%llu, \"fused\": %llu, \"checked\": %llu}",
			i ? "," : "", p->on ? "true" : "false", (double)p->ns / 1e9, p->launches,
			p->sent, p->fused, p->checked);
	}
	fputs("\n  ],\n", f);
}

static void json_groups(FILE *f, const struct report_totals *t)
{
	fputs("  \"groups\": [", f);
	for (unsigned i = 0; i < t->nitem; i++) {
		const struct report_item *it = &t->item[i];

		fprintf(f, "%s\n    {\"pattern\": \"%s\", \"launches\": [", i ? "," : "",
			pattern_get((enum pattern_id)it->pattern)->name);
		for (unsigned m = 0; m < it->nmember; m++)
			fprintf(f, "%s%" PRIu64, m ? ", " : "", it->launch[m]);
		if (it->outcome == OUTCOME_REJECTED)
			fprintf(f, "], \"fused\": false, \"reason\": \"%s\"}",
				reason_word((enum reason)it->why));
		else
			fprintf(f, "], \"fused\": true%s}",
				it->outcome == OUTCOME_CHECKED ? ", \"checked\": true" : "");
	}
	fprintf(f, "\n  ],\n  \"groups_cut\": %s,\n", t->cut ? "true" : "false");
}

struct kernel_walk {
	FILE *f;
	const char *sep;
};

static void json_kernel(void *arg, const struct kernel_rec *r)
{
	struct kernel_walk *w = arg;
	uint64_t n = kernels_launches(r);

	if (!n)
		return;
	fprintf(w->f, "%s\n    {\"kernel\": ", w->sep);
	json_text(w->f, r->k.name);
	fprintf(w->f, ", \"launches\": %" PRIu64 ", \"decoder\": ", n);
	if (r->k.decoder)
		json_text(w->f, r->k.decoder->name);
	else
		fputs("null", w->f);
	fputs("}", w->f);
	w->sep = ",";
}

static void json_verdict(void *arg, const struct verdict_info *v)
{
	struct kernel_walk *w = arg;

	fprintf(w->f, "%s\n    {\"key\": \"%016" PRIx64 "%016" PRIx64 "\", \"pattern\": ", w->sep,
		v->key.hash[0], v->key.hash[1]);
	json_text(w->f, v->pattern);
	fputs(", \"state\": ", w->f);
	json_text(w->f, v->state);
	fputs(", \"candidate\": ", w->f);
	json_text(w->f, v->candidate);
	fprintf(w->f,
		", \"reason\": \"%s\", \"rows\": %" PRId64
		", \"checks\": %u, \"fused\": %llu, \"generated\": %llu, \"detail\": ",
		reason_word(v->why), v->rows, v->checks, v->fused, v->generated);
	json_text(w->f, v->detail);
	fputs("}", w->f);
	w->sep = ",";
}

void report_json(FILE *f, const struct report_totals *t)
{
	const struct counts *c = &t->counts;
	struct kernel_walk walk = {f, ""};

	fprintf(f, "{\n  \"pid\": %d,\n", (int)getpid());
	fprintf(f,
		"  \"launches\": {\"program\": %llu, \"sent\": %llu, \"fused\": %llu, \"own\": "
		"%llu},\n",
		t->launches, t->launches - c->removed + c->substitute, c->substitute, c->own);
	fprintf(f,
		"  \"held\": {\"held\": %llu, \"completed\": %llu, \"timed_out\": %llu, "
		"\"sequences\": %llu, \"sequences_fused\": %llu, \"sequences_timed_out\": %llu, "
		"\"remembered\": %llu, \"decoded\": %llu, \"unlooked\": %llu},\n",
		c->held, c->completed, c->timed_out, c->sequences, c->sequences_fused,
		c->sequences_timed_out, c->remembered, c->decoded, c->unlooked);
	json_patterns(f, t);
	if (t->nphase)
		json_phases(f, t);
	json_groups(f, t);
	graph_report_json(f);
	fputs("  \"verdicts\": [", f);
	verdict_each(json_verdict, &walk);
	fputs("\n  ],\n  \"kernels\": [", f);
	walk.sep = "";
	kernels_each(json_kernel, &walk);
	fputs("\n  ]\n}\n", f);
}
