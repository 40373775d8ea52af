// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "tools/ab.h"
#include "tools/utf8.h"

#define METHOD "order statistics of the paired ratios (distribution-free, binomial)"

/* Why nothing was fused, in the report's words. */
static void why_nothing(const struct ab_counts *c, char *text, unsigned size)
{
	unsigned most = 0;

	for (unsigned r = 1; r < REASON_COUNT; r++)
		if (c->rejected[r] > c->rejected[most] || (!most && c->rejected[r]))
			most = r;
	if (!c->reports)
		snprintf(text, size,
			 "the program left no report (it launched no kernels, or ended by _exit)");
	else if (most)
		snprintf(text, size, "%s (%s)", reason_word((enum reason)most),
			 reason_text((enum reason)most));
	else if (c->checked)
		snprintf(text, size, "every group was only checked");
	else if (!c->known_kernels)
		snprintf(text, size,
			 "no signature knows a kernel of this program (autofuse scan --suggest)");
	else
		snprintf(text, size, "no pattern was found among the kernels with signatures");
}

static void outputs(const struct ab_result *r, char *text, unsigned size)
{
	if (r->varies)
		snprintf(text, size, "; %s differ from run to run even without fusion",
			 r->statuses ? "exit statuses" : "outputs");
	else if (r->differs)
		snprintf(text, size, "; %s DIFFER: %s",
			 r->statuses && !r->checked ? "EXIT STATUSES" : "OUTPUTS", r->difference);
	else if (r->exit_status)
		snprintf(text, size, "; but the program fails: every run exits with status %d",
			 r->exit_status);
	else if (!r->checked)
		text[0] = 0;
	else if (r->verified && r->verify.rejected[REASON_QUARANTINED])
		snprintf(text, size, "; outputs identical, but a live check found other bytes");
	else
		snprintf(text, size, ", outputs identical");
}

void ab_verdict(const struct ab_result *r, char *text, unsigned size)
{
	const struct ab_interval *i = &r->interval;
	char out[400], why[400], speed[80];

	if (r->failure[0]) {
		snprintf(text, size, "no result: %s", r->failure);
		return;
	}
	if (!r->pairs) {
		snprintf(text, size,
			 "no result: interrupted before the first pair of runs was over");
		return;
	}
	outputs(r, out, sizeof(out));
	if (i->low > 1)
		snprintf(speed, sizeof(speed), "%.2f× faster", i->median);
	else if (i->high < 1)
		snprintf(speed, sizeof(speed), "%.2f× slower", 1 / i->median);
	else
		snprintf(speed, sizeof(speed), "no difference: the interval contains 1");
	if (r->counts.fused) {
		snprintf(text, size, "%s%s%s", speed, out,
			 i->confidence < 0.95 ? " (few runs: -n 6 or more makes a 95 % interval)"
					      : "");
		return;
	}
	why_nothing(&r->counts, why, sizeof(why));
	snprintf(text, size, "nothing to fuse: %s; %s%s", why, speed, out);
}

static void print_check(const struct ab_result *r, FILE *f)
{
	if (!r->checked)
		return;
	fprintf(f, "  stdout, exit  %s%s%s\n",
		r->varies    ? "differ from run to run even without fusion"
		: r->differs ? "DIFFER"
			     : "identical in all runs",
		r->differs || r->varies ? ": " : "", r->difference);
	if (r->verified)
		fprintf(f, "  verify=always %" PRIu64 " groups checked on live data, %s\n",
			r->verify.checked,
			r->verify.rejected[REASON_QUARANTINED] ? "OTHER BYTES FOUND"
							       : "no other bytes found");
}

void ab_print_text(const struct ab_request *q, const struct ab_result *r, FILE *f)
{
	const struct ab_counts *c = &r->counts;
	const char *unit = q->has_figure ? "" : " s";
	char verdict[1200];

	if (r->pairs) {
		fprintf(f,
			"%u pairs of runs, off and on in turn, after %u warm-up run%s with fusion "
			"on%s\n",
			r->pairs, r->warmups, r->warmups == 1 ? "" : "s",
			r->settled ? ""
				   : " (evidence was still open: more --warmup may give more)");
		fprintf(f, "  off           %.4f%s (median)\n", r->off_median, unit);
		fprintf(f, "  on            %.4f%s (median)\n", r->on_median, unit);
		fprintf(f, "  %s        %.4f (median), %.1f %% interval %.4f to %.4f\n",
			q->more ? "on/off" : "off/on", r->interval.median,
			r->interval.confidence * 100, r->interval.low, r->interval.high);
		if (c->reports)
			fprintf(f,
				"  launches      %" PRIu64 " by the program, %" PRIu64
				" sent, %" PRIu64 " fused\n",
				c->launches, c->sent, c->fused);
		print_check(r, f);
		if (r->device_on.kernels)
			fprintf(f,
				"  device        %.3f ms in %" PRIu64
				" kernels off, %.3f ms in %" PRIu64 " on (one run each)\n",
				1e3 * r->device_off.seconds, r->device_off.kernels,
				1e3 * r->device_on.seconds, r->device_on.kernels);
		else if (r->no_device[0])
			fprintf(f, "  device        not measured: %s\n", r->no_device);
	}
	if (r->interrupted)
		fputs("interrupted: these are the runs until then\n", f);
	ab_verdict(r, verdict, sizeof(verdict));
	fprintf(f, "%s\n", verdict);
	if (r->err[0])
		fprintf(f, "what it said last:\n%s%s", r->err,
			r->err[strlen(r->err) - 1] == '\n' ? "" : "\n");
}

static json_t *numbers(const double *x, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_real(x[i]));
	return list;
}

static json_t *json_counts(const struct ab_counts *c)
{
	json_t *rejected = json_object();

	for (unsigned r = 1; r < REASON_COUNT; r++)
		if (c->rejected[r])
			json_object_set_new(rejected, reason_word((enum reason)r),
					    json_integer((json_int_t)c->rejected[r]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "program", (json_int_t)c->launches, "sent",
			 (json_int_t)c->sent, "fused", (json_int_t)c->fused, "checked",
			 (json_int_t)c->checked, "rejected", rejected);
}

static json_t *json_check(const struct ab_result *r)
{
	json_t *check = json_pack("{s:s}", "outputs",
				  r->varies    ? "differ without fusion"
				  : r->differs ? "differ"
					       : "identical");

	if (r->difference[0])
		json_object_set_new(check, "difference", utf8_json(r->difference));
	if (r->verified)
		json_object_set_new(check, "verify",
				    json_pack("{s:I, s:I}", "checked",
					      (json_int_t)r->verify.checked, "other_bytes",
					      (json_int_t)r->verify.rejected[REASON_QUARANTINED]));
	return check;
}

/* The runs of one kind: wall times, or the program's own figures. */
static json_t *json_side(const struct ab_request *q, double median, const double *x, unsigned n)
{
	return json_pack("{s:f, s:o}", q->has_figure ? "median" : "median_seconds", median,
			 q->has_figure ? "figures" : "seconds", numbers(x, n));
}

static json_t *json_device(const struct ab_device *d)
{
	return json_pack("{s:f, s:I}", "seconds", d->seconds, "kernels", (json_int_t)d->kernels);
}

void ab_print_json(const struct ab_request *q, const struct ab_result *r, FILE *f)
{
	json_t *all = json_object(), *command = json_array();
	char verdict[1200];

	for (char **a = q->argv; *a; a++)
		json_array_append_new(command, utf8_json(*a));
	json_object_set_new(all, "command", command);
	json_object_set_new(all, "pairs", json_integer(r->pairs));
	json_object_set_new(all, "warmups", json_integer(r->warmups));
	json_object_set_new(all, "settled", json_boolean(r->settled));
	if (r->interrupted)
		json_object_set_new(all, "interrupted", json_true());
	if (r->pairs) {
		json_object_set_new(all, "off", json_side(q, r->off_median, r->off, r->pairs));
		json_object_set_new(all, "on", json_side(q, r->on_median, r->on, r->pairs));
		json_object_set_new(all, "ratio",
				    json_pack("{s:f, s:f, s:f, s:f, s:s}", "median",
					      r->interval.median, "low", r->interval.low, "high",
					      r->interval.high, "confidence",
					      r->interval.confidence, "method", METHOD));
		if (r->counts.reports)
			json_object_set_new(all, "launches", json_counts(&r->counts));
	}
	if (r->device_on.kernels)
		json_object_set_new(all, "device",
				    json_pack("{s:o, s:o}", "off", json_device(&r->device_off),
					      "on", json_device(&r->device_on)));
	else if (r->no_device[0])
		json_object_set_new(all, "no_device", utf8_json(r->no_device));
	json_object_set_new(all, "exit_status", json_integer(r->exit_status));
	if (r->checked)
		json_object_set_new(all, "check", json_check(r));
	if (r->failure[0])
		json_object_set_new(all, "failure", utf8_json(r->failure));
	if (r->err[0])
		json_object_set_new(all, "stderr", utf8_json(r->err));
	ab_verdict(r, verdict, sizeof(verdict));
	json_object_set_new(all, "verdict", utf8_json(verdict));
	json_dumpf(all, f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(all);
}
