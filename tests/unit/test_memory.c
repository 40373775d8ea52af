/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "shim/mappings.h"
#include "shim/memory.h"
#include "shim/record.h"

/* The driver, as far as the table asks it: one address range of each kind that no hook saw. */
enum { GLOBAL = 0x100000, GRAPH = 0x200000, ASYNC = 0x300000, HOST = 0x400000, BYTES = 0x1000 };
static unsigned asked;

static CUresult pointer_attributes(unsigned n, CUpointer_attribute *attr, void **value,
				   CUdeviceptr at)
{
	CUdeviceptr base = at & ~(CUdeviceptr)0xfffff;
	bool known = base >= GLOBAL && base <= HOST && at - base < BYTES;

	asked++;
	for (unsigned i = 0; i < n; i++) {
		switch (attr[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
			*(unsigned *)value[i] = !known         ? 0
						: base == HOST ? CU_MEMORYTYPE_HOST
							       : CU_MEMORYTYPE_DEVICE;
			break;
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned *)value[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)value[i] = known ? 1 : -2;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
			*(CUdeviceptr *)value[i] = known ? base : 0;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
			*(size_t *)value[i] = known ? BYTES : 0;
			break;
		case CU_POINTER_ATTRIBUTE_CONTEXT:
			*(CUcontext *)value[i] =
				base == GLOBAL || base == HOST ? (CUcontext)1 : NULL;
			break;
		case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
			*(CUmemoryPool *)value[i] = base == ASYNC ? (CUmemoryPool)1 : NULL;
			break;
		default:
			return CUDA_ERROR_INVALID_VALUE;
		}
	}
	return CUDA_SUCCESS;
}

struct driver real = {.cuPointerGetAttributes = pointer_attributes};
bool record_on;

void record_alloc(uint64_t base, uint64_t bytes, int device, unsigned flags)
{
}

void record_free(uint64_t base, uint64_t bytes)
{
}

static struct range span(uint64_t base, uint64_t bytes)
{
	return (struct range){base, base + bytes};
}

static enum reason check(uint64_t base, uint64_t bytes)
{
	return memory_check(span(base, bytes), 1, 2);
}

static const CUcontext CTX = (CUcontext)0x7;

static void ordinary(void **state)
{
	asked = 0;
	memory_add(0x1000, 0x100, CTX, 1, MEMORY_DEVICE);
	assert_int_equal(check(0x1000, 0x100), REASON_NONE);
	assert_int_equal(check(0x1010, 1), REASON_NONE);
	assert_int_equal(check(0x10ff, 1), REASON_NONE);
	assert_int_equal(asked, 0);
	assert_int_equal(check(0x1000, 0), REASON_NONE);
	assert_int_equal(check(0x1000, 0x101), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0xfff, 2), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(memory_check(span(0x1000, 4), 0, 1),
			 REASON_NOT_DEVICE_MEMORY); /* other device */
	assert_int_equal(memory_remove(0x1004), 0); /* not its base */
	assert_int_equal(memory_remove(0x1000), 0x100);
	assert_int_equal(memory_remove(0x1000), 0);
	assert_int_equal(check(0x1000, 4), REASON_NOT_DEVICE_MEMORY);
}

static void kinds(void **state)
{
	memory_add(0x1000, 0x100, CTX, 1, MEMORY_HOST);
	memory_add(0x2000, 0x100, CTX, 1, MEMORY_MANAGED);
	memory_add(0x3000, 0x100, CTX, 1, MEMORY_DEVICE | MEMORY_ALIASED);
	memory_add(0x4000, 0x100, CTX, 1, MEMORY_DEVICE | MEMORY_SHARED);
	assert_int_equal(check(0x1000, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0x2000, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0x3000, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0x4000, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(memory_check(span(0x4000, 4), 1, 1),
			 REASON_NONE); /* one output: nothing to see */
	memory_drop_context(CTX);
	assert_int_equal(memory_remove(0x4000), 0);
}

static void unknown(void **state)
{
	asked = 0;
	assert_int_equal(check(GLOBAL, BYTES), REASON_NONE); /* a module's variable */
	assert_int_equal(check(GLOBAL + 8, BYTES), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(GRAPH, 4),
			 REASON_NOT_DEVICE_MEMORY); /* may be mapped elsewhere, too */
	assert_int_equal(check(ASYNC, 4), REASON_NONE);
	assert_int_equal(check(HOST, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0x900000, 4), REASON_NOT_DEVICE_MEMORY); /* malloc */
	assert_true(asked >= 6);
	assert_int_equal(memory_device(ASYNC + 4), 1);
	assert_int_equal(memory_device(0x900000), -1);
}

static void kind_on_demand(void **state)
{
	struct range r;
	unsigned flags;

	memory_add(ASYNC, BYTES, NULL, -1, 0);
	asked = 0;
	assert_true(memory_find(ASYNC + 5, &r, &flags));
	assert_int_equal(r.lo, ASYNC);
	assert_int_equal(r.hi, ASYNC + BYTES);
	assert_int_equal(flags, 0);
	assert_int_equal(asked, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(check(ASYNC, BYTES), REASON_NONE);
	assert_int_equal(asked, 1);
	memory_drop_context(CTX); /* stream-ordered memory outlives contexts */
	assert_int_equal(memory_remove(ASYNC), BYTES);
}

static void adjacent(void **state)
{
	for (uint64_t i = 0; i < 8; i++)
		memory_add(0x10000 + i * 0x100, 0x100, CTX, 1, MEMORY_DEVICE);
	assert_int_equal(check(0x10080, 0x680), REASON_NONE);
	memory_remove(0x10300);
	assert_int_equal(check(0x10080, 0x680), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(0x10400, 0x400), REASON_NONE);
	memory_remove_range(span(0x10180, 0x300), NULL); /* 0x10100 only reaches in */
	assert_int_equal(memory_remove(0x10100), 0x100);
	assert_int_equal(memory_remove(0x10200), 0);
	assert_int_equal(memory_remove(0x10400), 0);
	assert_int_equal(memory_remove(0x10500), 0x100);
	memory_drop_context(CTX);
}

/* An address that came back: what was there before went behind our back. */
static void replaced(void **state)
{
	struct range r;
	unsigned flags;

	memory_add(0x1000, 0x100, CTX, 1, MEMORY_HOST);
	memory_add(0x1100, 0x100, CTX, 1, MEMORY_DEVICE | MEMORY_SHARED);
	memory_add(0x1080, 0x100, CTX, 1, MEMORY_DEVICE);
	assert_int_equal(check(0x1080, 0x100), REASON_NONE);
	assert_false(memory_find(0x1000, &r, &flags));
	assert_false(memory_find(0x1180, &r, &flags));
	memory_drop_context(CTX);
}

static void contexts(void **state)
{
	for (uint64_t i = 0; i < 1000; i++)
		memory_add(0x100000000 + i * 0x1000, 0x1000, i % 2 ? CTX : (CUcontext)0x8, 1,
			   MEMORY_DEVICE);
	memory_drop_context(CTX);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(memory_remove(0x100000000 + i * 0x1000), i % 2 ? 0 : 0x1000);
}

static void flagged(void **state)
{
	for (uint64_t i = 0; i < 16; i++)
		memory_add(0x10000 + i * 0x100, 0x100, CTX, 1, MEMORY_DEVICE);
	memory_flag(span(0x10280, 0x300), MEMORY_SHARED);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(check(0x10000 + i * 0x100, 4),
				 i >= 2 && i <= 5 ? REASON_NOT_DEVICE_MEMORY : REASON_NONE);
	memory_drop_context(CTX);
}

/* Random allocations against a plain list. */
static void random_table(void **state)
{
	enum { CELLS = 64 };
	int cell[CELLS] = {0}; /* allocation number that holds the cell, 0: none */
	unsigned seed = 1;

	for (int step = 1; step < 20000; step++) {
		unsigned at = rand_r(&seed) % CELLS, n = 1 + rand_r(&seed) % 6;
		struct range r;
		unsigned flags;

		n = at + n > CELLS ? CELLS - at : n;
		if (rand_r(&seed) % 3) {
			for (unsigned i = 0; i < CELLS;
			     i++) /* whatever it overlaps goes as a whole */
				for (unsigned k = at; k < at + n; k++)
					if (cell[i] && cell[i] == cell[k] &&
					    (i < at || i >= at + n))
						cell[i] = -1;
			for (unsigned i = 0; i < CELLS; i++)
				cell[i] = cell[i] < 0 ? 0 : cell[i];
			for (unsigned k = at; k < at + n; k++)
				cell[k] = step;
			memory_add(0x10000 + at * 16, n * 16, CTX, 1, MEMORY_DEVICE);
		} else {
			bool base = cell[at] && (!at || cell[at - 1] != cell[at]);
			int gone = cell[at];

			assert_int_equal(memory_remove(0x10000 + at * 16) > 0, base);
			for (unsigned i = 0; base && i < CELLS; i++)
				cell[i] = cell[i] == gone ? 0 : cell[i];
		}
		at = rand_r(&seed) % CELLS;
		assert_int_equal(memory_find(0x10000 + at * 16 + 7, &r, &flags), cell[at] != 0);
	}
	memory_drop_context(CTX);
}

static void mapped(void **state)
{
	const CUmemGenericAllocationHandle a = 100, b = 101, c = 102;
	const uint64_t before = memory_aliased();

	/* ASYNC's addresses stand for device memory that the driver knows. */
	mappings_add(a, span(ASYNC, 0x100));
	mappings_add(b, span(ASYNC + 0x100, 0x100));
	assert_int_equal(check(ASYNC, 0x200), REASON_NONE);
	assert_int_equal(memory_aliased(), before);
	mappings_add(a, span(ASYNC + 0x200, 0x100)); /* the same memory twice */
	assert_int_equal(memory_aliased(), before + 2);
	assert_int_equal(check(ASYNC, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(ASYNC + 0x200, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(check(ASYNC + 0x100, 4), REASON_NONE);
	mappings_flag(b, MEMORY_SHARED);
	mappings_flag(a, MEMORY_ALIASED); /* known already */
	assert_int_equal(memory_aliased(), before + 2);
	assert_int_equal(check(ASYNC + 0x100, 4), REASON_NOT_DEVICE_MEMORY);
	mappings_flag(c, MEMORY_SHARED | MEMORY_ALIASED); /* exported before it is mapped */
	mappings_add(c, span(ASYNC + 0x300, 0x100));
	assert_int_equal(memory_check(span(ASYNC + 0x300, 4), 1, 1), REASON_NOT_DEVICE_MEMORY);
	mappings_remove(span(ASYNC, 0x400));
	mappings_reference(a, -1);
	mappings_reference(b, -1);
	mappings_reference(c, -1);
	mappings_add(c, span(ASYNC, 0x100)); /* the handle's number came back for other memory */
	assert_int_equal(check(ASYNC, 4), REASON_NONE);
	mappings_reference(c, -1); /* released while mapped, as is usual */
	assert_int_equal(check(ASYNC, 4), REASON_NONE);
	mappings_remove(span(ASYNC, 0x100));
}

/* Last: it cannot be taken back. */
static void peers(void **state)
{
	memory_add(0x1000, 0x100, CTX, 1, MEMORY_DEVICE);
	assert_int_equal(check(0x1000, 4), REASON_NONE);
	memory_peer_enabled();
	assert_int_equal(check(0x1000, 4), REASON_NOT_DEVICE_MEMORY);
	assert_int_equal(memory_check(span(0x1000, 4), 1, 1), REASON_NONE);
	memory_drop_context(CTX);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ordinary),     cmocka_unit_test(kinds),
	cmocka_unit_test(unknown),      cmocka_unit_test(kind_on_demand),
	cmocka_unit_test(adjacent),     cmocka_unit_test(replaced),
	cmocka_unit_test(contexts),     cmocka_unit_test(flagged),
	cmocka_unit_test(random_table), cmocka_unit_test(mapped),
	cmocka_unit_test(peers),
};
UNIT_MAIN(tests)
