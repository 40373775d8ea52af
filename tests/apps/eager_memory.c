// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/eager_memory.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include "config/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { REGIONS = 4096, NEAR = 4096, FILLED_MAX = 1 << 20, PAGE = 2 << 20 };

static struct range region[REGIONS];
static unsigned nregion;
static struct range written[REGIONS], input;
static enum dtype input_type;
static unsigned nwritten;

/* Adds r, rounded to pages, to disjoint ranges. */
static void add(struct range r)
{
	unsigned kept = 0;

	r.lo &= ~(uint64_t)(PAGE - 1);
	r.hi = (r.hi + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (unsigned i = 0; i < nregion; i++) {
		const struct range o = region[i];

		if (o.lo <= r.hi && r.lo <= o.hi) {
			r.lo = o.lo < r.lo ? o.lo : r.lo;
			r.hi = o.hi > r.hi ? o.hi : r.hi;
		} else {
			region[kept++] = o;
		}
	}
	nregion = kept;
	if (nregion < REGIONS)
		region[nregion++] = r;
}

void memory_note(const struct op *op)
{
	for (unsigned i = 0; i < op->noperand; i++)
		add(operand_range(&op->operand[i]));
}

static bool map(struct range r)
{
	const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
					.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p = 0;

	return !cuMemAddressReserve(&p, r.hi - r.lo, 0, r.lo, 0) && p == r.lo &&
	       !cuMemCreate(&handle, r.hi - r.lo, &prop, 0) &&
	       !cuMemMap(p, r.hi - r.lo, 0, handle, 0) &&
	       !cuMemSetAccess(p, r.hi - r.lo, &access, 1);
}

bool memory_make(void)
{
	for (unsigned i = 0; i < nregion; i++)
		if (!map(region[i]))
			return false;
	return true;
}

void memory_number(enum dtype t, uint64_t r, uint8_t *to)
{
	const float f = ((r >> 20 & 1) ? -1.f : 1.f) * (0.5f + (float)(r >> 24 & 0xffff) / 65536.f);
	const double d = f;
	const uint64_t n = r >> 30 & 3;
	uint32_t bits;

	memcpy(&bits, &f, 4);
	switch (t) {
	case DT_f32:
		memcpy(to, &f, 4);
		break;
	case DT_f64:
		memcpy(to, &d, 8);
		break;
	case DT_bf16:
		memcpy(to, (uint8_t *)&bits + 2, 2);
		break;
	case DT_f16:
		bits = 0x3800 | (r >> 24 & 0x3ff) | (r >> 5 & 0x8000);
		memcpy(to, &bits, 2);
		break;
	case DT_bool:
		*to = n & 1;
		break;
	case DT_i16: /* as cat has it: of two bytes */
		memcpy(to, (uint8_t *)&bits + 2, 2);
		break;
	default:
		memcpy(to, &n, dtype_bytes(t));
	}
}

void memory_fill(const struct op *op)
{
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		const struct range r = operand_range(o);
		bool known = false;

		for (unsigned k = 0; k < nwritten; k++)
			known |= range_overlap(written[k], r);
		if (known || r.hi - r.lo > FILLED_MAX)
			continue;
		for (uint64_t a = r.lo; a < r.hi; a += dtype_bytes((enum dtype)o->dtype))
			memory_number((enum dtype)o->dtype, XXH3_64bits(&a, 8),
				      (uint8_t *)(uintptr_t)a);
		if (o->access == ACCESS_READ && !input.hi && r.hi - r.lo <= NEAR) {
			input = r;
			input_type = (enum dtype)o->dtype;
		}
		if (nwritten < REGIONS)
			written[nwritten++] = r;
	}
}

void memory_begin(unsigned pass)
{
	for (uint64_t a = input.lo; a < input.hi; a += dtype_bytes(input_type)) {
		const uint64_t of[2] = {a, pass};

		memory_number(input_type, XXH3_64bits(of, sizeof(of)), (uint8_t *)(uintptr_t)a);
	}
}

uint64_t memory_hash(uint64_t h)
{
	for (unsigned k = 0; k < nwritten; k++)
		h = XXH3_64bits_withSeed((const void *)(uintptr_t)written[k].lo,
					 written[k].hi - written[k].lo, h);
	return h;
}
