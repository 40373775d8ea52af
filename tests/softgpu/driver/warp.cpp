/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/warp.h"

namespace
{
/* What a lane gets from one that takes no part: on a GPU undefined, here plainly wrong. */
const uint64_t NOBODY = 0x7fc0dead7fc0deadu;

template <class F> void each_lane(uint32_t lanes, F f)
{
	for (; lanes; lanes &= lanes - 1)
		f(static_cast<unsigned>(__builtin_ctz(lanes)));
}

uint32_t combine(enum softgpu_warp_op op, uint32_t a, uint32_t b)
{
	int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);

	switch (op) {
	case SOFTGPU_ADD:
		return a + b;
	case SOFTGPU_MIN:
		return a < b ? a : b;
	case SOFTGPU_MAX:
		return a > b ? a : b;
	case SOFTGPU_SMIN:
		return sa < sb ? a : b;
	case SOFTGPU_SMAX:
		return sa > sb ? a : b;
	case SOFTGPU_BITAND:
		return a & b;
	case SOFTGPU_BITOR:
		return a | b;
	default:
		return a ^ b;
	}
}

void exchange(struct warp *w, uint32_t lanes)
{
	enum softgpu_warp_op op = w->lane[__builtin_ctz(lanes)].op;
	uint64_t all = 0;
	bool first = true;

	switch (op) {
	case SOFTGPU_SHUFFLE:
		each_lane(lanes, [&](unsigned i) {
			unsigned source = w->lane[i].source % SOFTGPU_WARP;

			w->lane[i].result = lanes >> source & 1 ? w->lane[source].value : NOBODY;
		});
		return;
	case SOFTGPU_MATCH:
		each_lane(lanes, [&](unsigned i) {
			w->lane[i].result = 0;
			each_lane(lanes, [&](unsigned j) {
				if (w->lane[j].value == w->lane[i].value)
					w->lane[i].result |= 1ull << j;
			});
		});
		return;
	case SOFTGPU_BALLOT:
		each_lane(lanes, [&](unsigned i) {
			all |= static_cast<uint64_t>(w->lane[i].value != 0) << i;
		});
		break;
	default:
		each_lane(lanes, [&](unsigned i) {
			uint32_t v = static_cast<uint32_t>(w->lane[i].value);

			all = first ? v : combine(op, static_cast<uint32_t>(all), v);
			first = false;
		});
	}
	each_lane(lanes, [&](unsigned i) { w->lane[i].result = all; });
}
} // namespace

uint32_t warp_complete_lane(struct warp *w, unsigned lane)
{
	uint32_t mask = w->lane[lane].mask, lanes = mask & w->live;
	bool same = (w->waiting & lanes) == lanes;

	if (same)
		each_lane(lanes, [&](unsigned i) { same &= w->lane[i].mask == mask; });
	if (!same)
		return 0;
	exchange(w, lanes);
	w->waiting &= ~lanes;
	return lanes;
}

uint32_t warp_complete(struct warp *w)
{
	uint32_t done = 0;

	each_lane(w->waiting, [&](unsigned i) {
		if (w->waiting >> i & 1)
			done |= warp_complete_lane(w, i);
	});
	return done;
}
