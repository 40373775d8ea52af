/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/memory.h"
#include <stdlib.h>
#include <string.h>
#include "tests/softgpu/driver/vmm.h"

namespace
{
enum {
	ALIGN = 512,            /* as cuMemAlloc's results have it */
	GARBAGE_MAX = 16 << 20, /* larger allocations stay as the system gives them: time */
};

std::map<uintptr_t, struct allocation> &table = *new std::map<uintptr_t, struct allocation>();
} // namespace

struct allocation *memory_find(uintptr_t address)
{
	auto above = table.upper_bound(address);

	if (above == table.begin())
		return nullptr;
	struct allocation *a = &std::prev(above)->second;
	return address - a->base < a->bytes || address == a->base ? a : nullptr;
}

struct allocation *memory_at(uintptr_t base)
{
	auto found = table.find(base);

	return found == table.end() ? nullptr : &found->second;
}

struct allocation *memory_enter(uintptr_t base, size_t bytes, enum memory_kind kind, int device,
				struct context *ctx)
{
	struct allocation *a = &table[base];

	*a = {base, bytes, kind, device, ctx, 0, nullptr, nullptr, ++driver.next_id};
	return a;
}

void memory_leave(struct allocation *a)
{
	table.erase(a->base);
}

void memory_forget_context(struct context *ctx)
{
	for (auto i = table.begin(); i != table.end();) {
		struct allocation *a = &i->second;

		if (a->ctx != ctx) {
			++i;
			continue;
		}
		if (a->kind == MEMORY_DEVICE || a->kind == MEMORY_MANAGED)
			memory_return(a->device, reinterpret_cast<void *>(a->base), a->bytes);
		else if (a->kind == MEMORY_HOST)
			free(reinterpret_cast<void *>(a->base));
		i = table.erase(i);
	}
}

void *memory_take(int device, size_t bytes)
{
	struct device *d = &driver.devices[device];
	void *p = nullptr;

	if (bytes > driver.device_memory - d->used || posix_memalign(&p, ALIGN, bytes) != 0)
		return nullptr;
	d->used += bytes;
	if (bytes <= GARBAGE_MAX)
		memset(p, 0xa5, bytes);
	return p;
}

void memory_return(int device, void *p, size_t bytes)
{
	driver.devices[device].used -= bytes;
	free(p);
}

bool memory_covers(uintptr_t p, size_t bytes)
{
	while (bytes) {
		const struct allocation *a = memory_find(p);

		if (!a || p - a->base >= a->bytes)
			return false;
		size_t here = a->bytes - (p - a->base);
		if (here >= bytes)
			return true;
		p += here;
		bytes -= here;
	}
	return true;
}

bool memory_pageable(const void *p)
{
	return !memory_find(reinterpret_cast<uintptr_t>(p));
}
