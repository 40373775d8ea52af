// SPDX-License-Identifier: Apache-2.0
/*
 * ATen's elementwise kernels:
 *
 *   vectorized_elementwise_kernel<V, F, array>(int n, F, pointers)
 *   unrolled_elementwise_kernel<F, array, ...>(int n, F, pointers, offsets, offsets, load, store)
 *   elementwise_kernel<128, V, closure>(int n, closure)
 *
 * The closure is gpu_kernel_impl_nocast's {offsets, pointers, F} or gpu_kernel_impl's {offsets,
 * pointers, F, types}, with a pointer of the host's behind. Pointers are those of the result and of
 * the arguments. The two flat forms are for dense tensors; the unrolled one may convert on the way.
 */
#include "matcher/aten.h"

enum form { FLAT, STRIDED };
enum { THREADS = 128, CLOSURE = 8 };

struct elementwise {
	uint8_t form, ntensor;
	uint8_t per_thread; /* elements; 0: 4, 8 or 16 */
	bool casts;
	uint16_t functor, pointers;
	uint16_t load, store; /* of flat kernels that convert: where the types are */
	uint16_t types;       /* likewise of strided ones: the first of ntensor bytes */
	uint16_t end;         /* behind what means anything */
	struct aten_function f;
};

static bool functor_fits(const struct aten_function *f, uint32_t bytes)
{
	return !f->exact || bytes == f->bytes || (f->alternative && bytes == f->alternative);
}

static unsigned array_size(struct aten_part p)
{
	int n = aten_part_number(aten_part_argument(p, 1));

	return aten_part_is(aten_part_argument(p, 0), "char*") && n > 0 ? (unsigned)n : 0;
}

/* n, functor and pointers of the flat forms; the functor's place follows from its size. */
static bool flat(const struct kernel *k, struct aten_part functor, struct aten_part array,
		 struct elementwise *e)
{
	if (k->nparam < 3 || !aten_function_parse(functor, &e->f))
		return false;
	e->form = FLAT;
	e->ntensor = (uint8_t)(1 + e->f.nin);
	if (array_size(array) != e->ntensor || k->param[0].offset || k->param[0].bytes != 4 ||
	    !functor_fits(&e->f, k->param[1].bytes) || k->param[1].offset < 4 ||
	    k->param[1].bytes > 64 || k->param[1].offset > 8 ||
	    (e->f.exact && k->param[1].bytes == e->f.bytes &&
	     k->param[1].offset != aten_align(4, e->f.align)) ||
	    k->param[2].offset != aten_align(k->param[1].offset + k->param[1].bytes, 8) ||
	    k->param[2].bytes != 8u * e->ntensor)
		return false;
	e->functor = (uint16_t)k->param[1].offset;
	e->pointers = (uint16_t)k->param[2].offset;
	e->end = (uint16_t)(k->param[2].offset + k->param[2].bytes);
	return k->param_bytes >= e->end;
}

static bool vectorized(const struct kernel *k, struct aten_part name, struct elementwise *e)
{
	return k->nparam == 3 &&
	       flat(k, aten_part_argument(name, 1), aten_part_argument(name, 2), e);
}

/* LoadWithCast<N> is {u8 type[N], u32 size[N]}, StoreWithCast<1> {u8 type, u32 size}. */
static bool unrolled(const struct kernel *k, struct aten_part name, struct elementwise *e)
{
	/* Newer versions say how many elements a thread takes. */
	int per_thread = aten_part_number(aten_part_argument(name, 2));
	unsigned first = per_thread > 0 ? 3 : 2;
	struct aten_part load = aten_part_argument(name, first + 2),
			 store = aten_part_argument(name, first + 3);
	uint32_t bytes;

	if (k->nparam != 7 ||
	    !flat(k, aten_part_argument(name, 0), aten_part_argument(name, 1), e) ||
	    !aten_part_is(aten_part_base(aten_part_argument(name, first)),
			  "TrivialOffsetCalculator") ||
	    !aten_part_is(aten_part_base(aten_part_argument(name, first + 1)),
			  "TrivialOffsetCalculator"))
		return false;
	e->per_thread = (uint8_t)(per_thread > 0 ? per_thread : 4);
	if (k->param[3].bytes != 1 || k->param[4].bytes != 1 || k->param[6].offset > 256)
		return false;
	if (aten_part_is(aten_part_base(load), "LoadWithoutCast") &&
	    aten_part_is(aten_part_base(store), "StoreWithoutCast"))
		return k->param[5].bytes == 1 && k->param[6].bytes == 1;
	bytes = aten_align(e->f.nin, 4) + 4u * e->f.nin;
	if (!aten_part_is(aten_part_base(load), "LoadWithCast") ||
	    !aten_part_is(aten_part_base(store), "StoreWithCast") || !e->f.nin ||
	    k->param[5].bytes != bytes || k->param[6].bytes != 8 || k->param[5].offset < e->end ||
	    k->param[6].offset < k->param[5].offset + bytes ||
	    k->param_bytes < k->param[6].offset + 8)
		return false;
	e->casts = true;
	e->load = (uint16_t)k->param[5].offset;
	e->store = (uint16_t)k->param[6].offset;
	return true;
}

static bool strided(const struct kernel *k, struct aten_part name, struct elementwise *e)
{
	struct aten_part closure = aten_part_argument(name, 2), base = aten_part_base(closure);
	int per_thread = aten_part_number(aten_part_argument(name, 1));
	uint32_t at, size;

	e->form = STRIDED;
	e->casts = aten_part_is(base, "gpu_kernel_impl");
	if ((!e->casts && !aten_part_is(base, "gpu_kernel_impl_nocast")) ||
	    aten_part_lambda(closure) == 0 ||
	    aten_part_number(aten_part_argument(name, 0)) != THREADS || per_thread < 1 ||
	    per_thread > 16 || !aten_function_parse(aten_part_argument(closure, 0), &e->f))
		return false;
	if (k->nparam != 2 || k->param[0].offset || k->param[0].bytes != 4 ||
	    k->param[1].offset != CLOSURE || k->param[1].bytes > 4096)
		return false;
	/* Two elements a thread for results of four bytes or more, unless they are converted. */
	if (per_thread != (!e->casts && dtype_bytes((enum dtype)e->f.dtype[0]) >= 4 ? 2 : 4))
		return false;
	e->per_thread = (uint8_t)per_thread;
	e->ntensor = (uint8_t)(1 + e->f.nin);
	at = CLOSURE + aten_align(aten_offsets_bytes(e->ntensor), 8);
	e->pointers = (uint16_t)at;
	at = aten_align(at + 8u * e->ntensor, e->f.align);
	e->functor = (uint16_t)at;
	e->end = e->functor;
	if (!e->f.exact)
		return !e->casts && k->param[1].offset + k->param[1].bytes > at &&
		       k->param[1].offset + k->param[1].bytes <= at + 64 &&
		       k->param_bytes >= k->param[1].offset + k->param[1].bytes;
	/* Two sizes of functors are possible; which it is follows from the whole. */
	for (unsigned i = 0; i < 2; i++) {
		size = i ? e->f.alternative : e->f.bytes;
		if (!size)
			return false;
		e->types = (uint16_t)(at + size);
		e->end = (uint16_t)(e->types + (e->casts ? e->ntensor : 0));
		if (aten_align(e->end, 8) + 8 == k->param[1].offset + k->param[1].bytes)
			return k->param_bytes >= k->param[1].offset + k->param[1].bytes;
	}
	return false;
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct elementwise e;
	struct aten_part name, base;

	if (!strstr(k->name, "elementwise_kernelI") || !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	name = aten_part(text);
	base = aten_part_base(name);
	if (!aten_part_starts(name, "at::native::"))
		return NULL;
	memset(&e, 0, sizeof(e));
	if (aten_part_is(base, "vectorized_elementwise_kernel") ? !vectorized(k, name, &e)
	    : aten_part_is(base, "unrolled_elementwise_kernel") ? !unrolled(k, name, &e)
	    : aten_part_is(base, "elementwise_kernel")          ? !strided(k, name, &e)
								: true)
		return NULL;
	return aten_intern(&e, sizeof(e));
}

/* The types in memory, where they are not the functor's own. */
static bool types(const struct elementwise *e, const uint8_t *p, enum dtype t[])
{
	for (unsigned i = 0; i < e->ntensor; i++) {
		const uint8_t *in = p + e->load, *out = p + e->store;

		t[i] = (enum dtype)e->f.dtype[i];
		if (!e->casts)
			continue;
		if (e->form == STRIDED) {
			t[i] = aten_scalar_type(p[e->types + i]);
		} else {
			t[i] = aten_scalar_type(i ? in[i - 1] : *out);
			if (dtype_bytes(t[i]) !=
			    aten_u32(i ? in + aten_align(e->f.nin, 4) + 4 * (i - 1) : out + 4))
				return false;
		}
		if (!t[i])
			return false;
	}
	return true;
}

static bool holds(enum dtype wide, enum dtype narrow)
{
	if (wide == narrow || narrow == DT_bool)
		return true;
	if (narrow == DT_f16 || narrow == DT_bf16)
		return wide == DT_f32 || wide == DT_f64;
	if (narrow == DT_f32)
		return wide == DT_f64;
	if (narrow == DT_i32 || narrow == DT_i16 || narrow == DT_i8 || narrow == DT_u8)
		return wide == DT_i64 || wide == DT_f64 || (wide == DT_i32 && narrow != DT_i32) ||
		       (wide == DT_f32 && narrow != DT_i32);
	return false;
}

/*
 * Is converting on the way no more than what the op says, operands of these types and arithmetic in
 * `compute`? If arguments are converted without loss, and the result only once.
 */
static bool casts_say_nothing(const struct elementwise *e, const enum dtype t[])
{
	if (e->f.code == OP_copy)
		return holds((enum dtype)e->f.dtype[1], t[1]) || t[0] == e->f.dtype[0];
	for (unsigned i = 1; i < e->ntensor; i++)
		if (!holds((enum dtype)e->f.dtype[i], t[i]))
			return false;
	return t[0] == e->f.dtype[0] || e->f.compute == e->f.dtype[0];
}

static bool grid_fits(const struct elementwise *e, const struct launch *l, int64_t n)
{
	if (l->block[0] != THREADS || l->block[1] != 1 || l->block[2] != 1)
		return false;
	if (e->per_thread)
		return aten_grid_is(l, n, THREADS * e->per_thread);
	return aten_grid_is(l, n, THREADS * 4) || aten_grid_is(l, n, THREADS * 8) ||
	       aten_grid_is(l, n, THREADS * 16);
}

/* Result and arguments of a functor on n elements, from OffsetCalculator or dense. */
static bool operands(const struct elementwise *e, const uint8_t *p, int64_t n, const enum dtype t[],
		     struct op *op, bool *exact)
{
	const struct aten_function *f = &e->f;
	struct aten_box box; /* large: not zeroed */

	box.dims = 0;
	if (e->form == STRIDED && !aten_offsets(p + CLOSURE, e->ntensor, n, &box))
		return false;
	for (unsigned i = 0; i < e->ntensor; i++) {
		enum role role = i ? (enum role)f->role[i - 1] : ROLE_out;
		enum access access = i ? ACCESS_READ : ACCESS_WRITE;
		uint64_t addr = aten_u64(p + e->pointers + 8 * i);

		if (e->form == STRIDED
			    ? !aten_box_operand(&box, i, role, access, t[i], addr, op, exact)
			    : !aten_dense(op, role, access, t[i], addr, 0, n))
			return false;
		aten_slot(op, e->pointers + 8 * i, 8, role);
	}
	/* A result that is written over itself, or in part: not what these kernels are for. */
	for (unsigned d = 0; d < box.dims; d++)
		if (!box.stride[d][0])
			return false;
	if (!*exact) {
		op->operand[op->noperand] = op->operand[0];
		op->operand[op->noperand++].access = ACCESS_READ;
	}
	return true;
}

/* How many elements there are, and bytes that mean nothing: decode does not look at them. */
static void blank(const struct elementwise *e, const struct launch *l, struct op *op)
{
	const struct kernel *k = l->kernel;
	const struct param *last = &k->param[k->nparam - 1];
	const uint32_t types = e->casts ? e->ntensor : 0;

	if (e->form == STRIDED) {
		aten_shape(op, 0, 4);
		aten_offsets_blank(op, l->params, CLOSURE, e->ntensor);
		if (!e->f.exact)
			return;
		aten_function_blank(&e->f, e->functor, e->types - e->functor, op);
		aten_blank(op, e->types + types, last->offset + last->bytes - e->types - types);
		return;
	}
	aten_slot(op, 0, 4, ROLE_n);
	aten_function_blank(&e->f, e->functor, k->param[1].bytes, op);
	if (k->nparam == 3)
		return;
	/* Two empty structs, and two of types or two empty ones more. */
	aten_blank(op, k->param[3].offset, k->param[3].bytes);
	aten_blank(op, k->param[4].offset, k->param[4].bytes);
	if (e->casts) {
		aten_blank(op, e->load + e->f.nin, aten_align(e->f.nin, 4) - e->f.nin);
		aten_blank(op, e->store + 1, 3);
	} else {
		aten_blank(op, k->param[5].offset, k->param[5].bytes);
		aten_blank(op, k->param[6].offset, k->param[6].bytes);
	}
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct elementwise *e = data;
	const int32_t n = (int32_t)aten_u32(l->params);
	enum dtype t[ATEN_MAX_INPUTS + 1];
	enum reason why;
	bool exact = true;

	if (n < 1 || !grid_fits(e, l, n) || !types(e, l->params, t) ||
	    !operands(e, l->params, n, t, op, &exact))
		return REASON_SHAPE;
	op->rows = 1;
	op->cols = n;
	op->vetted = true;
	why = aten_function_apply(&e->f, l->params + e->functor, op);
	if (why)
		return why;
	/* Roles may have changed places. */
	for (unsigned i = 0; i < e->ntensor; i++)
		op->slot[i].role = op->operand[i].role;
	if (!exact || (e->casts && !casts_say_nothing(e, t))) {
		op->code = OP_touch;
		op->nscalar = 0;
	}
	blank(e, l, op);
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return aten_function_ops(&((const struct elementwise *)data)->f);
}

const struct decoder aten_elementwise_decoder = {"aten_elementwise", knows, decode, ops};
