/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "shim/probe_child_infer.h"

void infer_span_add(struct infer_span *s, uint8_t *seen, const char *before, const char *after,
		    uint64_t bytes)
{
	if (!memcmp(before, after, bytes))
		return;
	for (uint64_t i = 0; i + 1 < bytes; i += 2)
		seen[i / 2] |= before[i] != after[i] || before[i + 1] != after[i + 1];
}

void infer_span_close(struct infer_span *s, const uint8_t *seen, uint64_t bytes)
{
	uint64_t pairs = bytes / 2, from = 0, to = pairs;

	while (from < pairs && !seen[from])
		from++;
	while (to > from && !seen[to - 1])
		to--;
	s->from = 2 * from;
	s->to = 2 * to;
	s->gap = memchr(seen + from, 0, to - from) != NULL;
}
