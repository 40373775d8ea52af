/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thunk.h"

#include "shim/elf.h"
#include "shim/graph_loan.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/thunk_pool.h"
#include "shim/window.h"

enum { POOL_STRIDE = 64 }; /* entry.S */

extern const int32_t thunk_offsets[CALL_COUNT] __attribute__((visibility("hidden")));
extern const char thunk_pool[] __attribute__((visibility("hidden")));

/* Driver functions behind the pool's thunks; filled from the front, never changed. */
void *thunk_target[THUNK_POOL];

void *thunk_wrapper(unsigned call)
{
	return (void *)((uintptr_t)&thunk_offsets[call] + (uintptr_t)(intptr_t)thunk_offsets[call]);
}

void *thunk_for(void *function)
{
	for (unsigned i = 0; i < THUNK_POOL; i++) {
		void *seen = NULL;

		if (__atomic_compare_exchange_n(&thunk_target[i], &seen, function, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    seen == function)
			return (void *)(thunk_pool + i * POOL_STRIDE);
	}
	return NULL;
}

const char *thunk_outside_name(unsigned slot)
{
	const char *name = NULL;
	struct elf o;

	if (slot < THUNK_POOL && thunk_target[slot] && elf_at(thunk_target[slot], &o))
		name = elf_name(&o, thunk_target[slot]);
	return name ? name : "?";
}

/* Called by entry.S; the answer, if not CUDA_SUCCESS, is returned to the program. */
CUresult thunk_known(unsigned call, const uint64_t *reg, const uint64_t *stack);
CUresult thunk_known(unsigned call, const uint64_t *reg, const uint64_t *stack)
{
	const struct thunk_row *row = &thunk_rows[call];
	CUstream stream = NULL;
	CUresult r = CUDA_SUCCESS;

	if (!guard_enter())
		return CUDA_SUCCESS;
	if (row->loan)
		graph_loan_settle();
	if (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE)) {
		guard_leave();
		return CUDA_SUCCESS;
	}
	/* Every argument before a stream fills one integer register or stack word (tests/unit). */
	if (row->stream >= 0)
		stream = (CUstream)(row->stream < 6 ? reg[row->stream] : stack[row->stream - 6]);
	record_call(call, row->stream >= 0, stream, row->ptsz);
	if (row->class == CLASS_NEUTRAL)
		window_touch();
	else if (row->class == CLASS_STREAM)
		r = window_stream_call(stream, row->ptsz);
	else
		r = window_all_call();
	guard_leave();
	return r;
}

CUresult thunk_outside(unsigned slot);
CUresult thunk_outside(unsigned slot)
{
	CUresult r;

	if (!guard_enter())
		return CUDA_SUCCESS;
	graph_loan_settle();
	record_call(CALL_COUNT + slot, false, NULL, false);
	r = window_all_call();
	guard_leave();
	return r;
}
