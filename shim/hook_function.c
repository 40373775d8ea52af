/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's later launches may use: PyTorch's attention says it before every launch. */
#include "matcher/row_build.h"
#include "matcher/seq.h"
#include "shim/hook.h"
#include "shim/kernels.h"

/* Could launches of that kernel be among those held? */
static bool may_be_held(const struct kernel_rec *rec)
{
	return !rec || (rec->k.decoder && rec->k.ops & (seq_members() | row_op_codes()));
}

/* As hook_all, or as hook_query where nothing held can be meant. One of the two is NULL. */
static CUresult before(unsigned call, CUfunction f, CUkernel k)
{
	bool held;

	if (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) || !guard_enter())
		return CUDA_SUCCESS;
	held = may_be_held(k ? kernels_get_kernel(k) : kernels_get(f));
	guard_leave();
	if (held)
		return hook_all(call);
	hook_query(call);
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
	CUresult r;

	if (hook_through())
		return real.cuFuncSetAttribute(f, attribute, value);
	r = before(CALL_cuFuncSetAttribute, f, NULL);
	return r ? r : real.cuFuncSetAttribute(f, attribute, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
			      CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuKernelSetAttribute(attribute, value, kernel, device);
	r = before(CALL_cuKernelSetAttribute, NULL, kernel);
	return r ? r : real.cuKernelSetAttribute(attribute, value, kernel, device);
}
