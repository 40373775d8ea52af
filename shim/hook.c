/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/hook.h"

#include "shim/check.h"
#include "shim/graph.h"
#include "shim/graph_loan.h"
#include "shim/record.h"

static CUresult all(unsigned call, bool has_stream, CUstream stream, bool ptsz)
{
	CUresult r;

	if (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) || !guard_enter())
		return CUDA_SUCCESS;
	record_call(call, has_stream, stream, ptsz);
	r = window_all_call();
	guard_leave();
	return r;
}

CUresult hook_all(unsigned call)
{
	return all(call, false, NULL, false);
}

CUresult hook_all_stream(unsigned call, CUstream stream, bool ptsz)
{
	return all(call, true, stream, ptsz);
}

static void query(unsigned call, bool has_stream, CUstream stream, bool ptsz)
{
	if (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) || !guard_enter())
		return;
	record_call(call, has_stream, stream, ptsz);
	window_touch();
	guard_leave();
}

void hook_query(unsigned call)
{
	query(call, false, NULL, false);
}

void hook_query_stream(unsigned call, CUstream stream, bool ptsz)
{
	query(call, true, stream, ptsz);
}

void hook_loans(void)
{
	if (!__atomic_load_n(&graph_loans, __ATOMIC_ACQUIRE) || !guard_enter())
		return;
	graph_loan_settle();
	guard_leave();
}

bool hook_retry(CUresult r)
{
	bool freed;

	if (r != CUDA_ERROR_OUT_OF_MEMORY || !guard_enter())
		return false;
	freed = check_release_memory();
	freed |= graph_release_memory();
	guard_leave();
	return freed;
}
