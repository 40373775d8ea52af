/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: which calls it refuses, and how it builds a graph. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_CAPTURE_H
#define AF_TESTS_SOFTGPU_DRIVER_CAPTURE_H

#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/stream.h"

struct capture {
	uint64_t id;
	struct graph *graph;
	bool owns_graph; /* made it; else the program gave one to capture into */
	CUstreamCaptureMode mode;
	struct stream *origin;
	uint64_t thread; /* that began it */
	bool invalid;    /* a forbidden call ended it; EndCapture answers 901 */
	std::set<struct stream *> streams;
};

/* The capture in progress with that id, or NULL. */
struct capture *capture_find(uint64_t id);

/* Adds work to the graph behind the stream's last node. */
CUresult capture_add(struct stream *s, const std::shared_ptr<const struct work> &w);

/*
 * Work for a stream that is not captured: on the legacy stream it would order itself with blocking
 * streams, so it ends their captures with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
 */
CUresult capture_implicit(struct stream *s);

/*
 * A call that a capture does not allow to happen beside it (allocation, synchronisation, module
 * loading ...). CUDA_SUCCESS, or the refusal; the captures concerned become invalid.
 */
CUresult capture_forbids();
/* A call on a stream or event that cannot be answered while it is part of a capture. */
CUresult capture_breaks(struct capture *c);

/* The program waits for a captured event on another stream: that stream joins the capture. */
void capture_join(struct capture *c, struct stream *s, const struct dependencies &after);
/* Is a capture adding to the graph? */
bool capture_uses(const struct graph *g);
/* A graph launched into a capture: its copy becomes a child. Takes over `child`. */
CUresult capture_add_child(struct stream *s, struct graph *child);
/* A stream goes away. */
void capture_forget(struct stream *s);

#endif
