/* SPDX-License-Identifier: Apache-2.0 */
/* Requests (shim/probe.h): one JSON object into struct probe. Each fails by probe_fail. */
#ifndef AF_SHIM_PROBE_CHILD_REQUEST_H
#define AF_SHIM_PROBE_CHILD_REQUEST_H

#include <jansson.h>

#include "shim/probe_child.h"

/* What verdicts are asked for by. */
bool probe_request_parse(struct probe *p, json_t *request);

/* A kernel with its image, parameters and geometry, without an op. */
bool probe_request_kernel(struct probe *p, json_t *j, struct probe_member *m);
/* "params": bytes as hex digits, their number in *n. */
bool probe_request_params(struct probe *p, json_t *j, uint8_t *out, size_t size, size_t *n);
/* Three numbers from 1 on. */
bool probe_request_triple(struct probe *p, json_t *o, const char *name, uint32_t out[3]);

#endif
