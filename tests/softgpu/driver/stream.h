/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and the order between them. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_STREAM_H
#define AF_TESTS_SOFTGPU_DRIVER_STREAM_H

#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/queue.h"
#include "tests/softgpu/driver/work.h"

struct capture;
struct node;

enum stream_what { STREAM_CREATED, STREAM_LEGACY, STREAM_PER_THREAD };

struct stream {
	static const enum object_kind KIND = OBJECT_STREAM;
	struct context *ctx;
	enum stream_what what;
	unsigned flags;
	int priority;
	uint64_t id;
	std::shared_ptr<struct queue> queue;
	struct capture *capture;   /* being captured into; NULL usually */
	struct dependencies tails; /* of its capture: what the next node depends on */
	std::map<int, CUstreamAttrValue> attributes;

	bool blocking() const /* does it order itself with the legacy stream? */
	{
		return what != STREAM_LEGACY && !(flags & CU_STREAM_NON_BLOCKING);
	}
};

struct stream *stream_new(struct context *ctx, enum stream_what what, unsigned flags, int priority);
void stream_delete(struct stream *s);

/*
 * The stream that a call means: 0 is the default stream of the call's flavour in the current
 * context. NULL and why not.
 */
struct stream *stream_of(CUstream handle, CUresult *why);
#define STREAM_OR_RETURN(s, handle)                                                                \
	CUresult s##_why;                                                                          \
	struct stream *s = stream_of(handle, &s##_why);                                            \
	if (!s)                                                                                    \
		return s##_why;

/* Submits behind what the stream and, for default-stream order, others have been given. */
struct point stream_submit(struct stream *s, struct operation &&op);

/*
 * Gives work to a stream: submits it, or adds a node to the graph that the stream is being captured
 * into. *at (if not NULL) is where it is done; unset in a capture.
 */
CUresult stream_give(struct stream *s, const std::shared_ptr<const struct work> &w,
		     struct point *at = nullptr);

#endif
