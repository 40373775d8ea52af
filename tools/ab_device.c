// SPDX-License-Identifier: Apache-2.0
/* Device times: a run of each kind that records when its kernels ran (CUPTI). */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "config/log.h"
#include "tools/ab.h"
#include "tools/recording.h"

/* Adds up and removes the recordings in q->dir. False, with why in r->no_device. */
static bool add_up(const struct ab_request *q, struct ab_device *sum, struct ab_result *r)
{
	static const bool none[PATTERN_COUNT];
	DIR *d = opendir(q->dir);
	struct dirent *e;
	char path[4400];

	memset(sum, 0, sizeof(*sum));
	snprintf(r->no_device, sizeof(r->no_device), "the program recorded no launches");
	while (d && (e = readdir(d))) {
		struct recording rec;

		if (strncmp(e->d_name, "times-", 6))
			continue;
		snprintf(path, sizeof(path), "%s/%s", q->dir, e->d_name);
		if (!recording_read(&rec, path, none, STORES_ALL, false)) {
			for (uint32_t i = 0; i < rec.times.nran; i++)
				sum->seconds += rec.times.ran[i].in_graph
							? 0
							: 1e-9 * rec.times.ran[i].at.ns;
			sum->seconds += 1e-9 * (double)rec.times.graph_ns;
			sum->kernels += rec.times.nran + rec.times.graph_kernels;
			if (rec.no_times[0])
				snprintf(r->no_device, sizeof(r->no_device), "%s", rec.no_times);
			recording_free(&rec);
		}
		unlink(path);
	}
	if (d)
		closedir(d);
	if (sum->kernels)
		r->no_device[0] = 0;
	return sum->kernels != 0;
}

void ab_device(const struct ab_request *q, struct ab_run *one, struct ab_result *r)
{
	static const enum ab_mode mode[] = {AB_TIMED_OFF, AB_TIMED_ON};
	struct ab_device *sum[] = {&r->device_off, &r->device_on};

	for (unsigned i = 0; i < 2; i++) {
		char why[256];

		if (!ab_run(q, mode[i], one) ||
		    ab_run_failed(one, "that takes device times", why, sizeof(why))) {
			snprintf(r->no_device, sizeof(r->no_device), "%s",
				 one->started ? why : "the program could not be started");
			memset(sum[i], 0, sizeof(*sum[i]));
			add_up(q, &(struct ab_device){0}, &(struct ab_result){0});
			return;
		}
		if (!add_up(q, sum[i], r))
			return;
	}
}
