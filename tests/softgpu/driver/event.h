/* SPDX-License-Identifier: Apache-2.0 */
/* Events: a point of a stream, and when it was reached. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_EVENT_H
#define AF_TESTS_SOFTGPU_DRIVER_EVENT_H

#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/stream.h"

struct event {
	static const enum object_kind KIND = OBJECT_EVENT;
	struct context *ctx;
	unsigned flags;
	bool recorded;
	struct point at;
	std::shared_ptr<int64_t> time; /* ns, written when reached */
	/* Recorded in a stream that was being captured: which capture, behind which nodes. */
	uint64_t capture_id;
	struct dependencies captured;
};

/* Records now, in a stream that is not being captured. */
void event_record(struct event *e, struct stream *s);
/* Nanoseconds, as events measure it. */
int64_t event_now();

#endif
