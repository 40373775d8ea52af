/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/record_code.h"

#include "shim/process.h"

void record_code_find(const struct kernel_rec *r, struct record_code *c)
{
	bool *told = r ? (bool *)(uintptr_t)&r->told : NULL; /* the launch only lends the record */

	c->path[0] = 0;
	if (!images_keep_all || !r || !r->image || r->k.decoder ||
	    __atomic_exchange_n(told, true, __ATOMIC_RELAXED))
		return;
	if (images_save(r->image, process.config.opt.images, c->path, sizeof(c->path), &c->offset))
		c->path[0] = 0;
}
