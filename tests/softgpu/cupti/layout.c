/* SPDX-License-Identifier: Apache-2.0 */
/* What shim/cupti.h says of layouts and numbers is what the toolkit's header says. */
#include "shim/cupti.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#define SAME(mine, theirs, field, field_of_theirs)                                                 \
	_Static_assert(offsetof(struct mine, field) == offsetof(theirs, field_of_theirs), #field)
SAME(cupti_callback, CUpti_CallbackData, correlation, correlationId);
SAME(cupti_callback, CUpti_CallbackData, data, correlationData);
SAME(cupti_kernel, CUpti_ActivityKernel10, start, start);
SAME(cupti_kernel, CUpti_ActivityKernel10, end, end);
SAME(cupti_kernel, CUpti_ActivityKernel10, correlation, correlationId);
SAME(cupti_kernel, CUpti_ActivityKernel10, name, name);
SAME(cupti_kernel, CUpti_ActivityKernel10, graph_node, graphNodeId);
_Static_assert((int)CUPTI_TAKEN == (int)CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "");
_Static_assert((int)CUPTI_DOMAIN_DRIVER == (int)CUPTI_CB_DOMAIN_DRIVER_API, "");
_Static_assert((int)CUPTI_SITE_ENTER == (int)CUPTI_API_ENTER, "");
_Static_assert((int)CUPTI_KIND_CONCURRENT_KERNEL == (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "");
#endif
