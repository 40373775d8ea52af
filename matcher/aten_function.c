// SPDX-License-Identifier: Apache-2.0
/*
 * Functors of ATen's elementwise kernels: what their names say, and what their bytes add to that.
 * A lambda that captures keeps a pointer of the host's behind what it captured; such bytes mean
 * nothing. That a functor has the size that its name makes one expect is part of knowing it.
 */
#include "matcher/aten.h"

enum { RESULT_FIRST = DT_COUNT, RESULT_SECOND, RESULT_ARGUMENT };
enum { COMPUTE_MATH, COMPUTE_OWN };
enum { CAPTURED_NOTHING, CAPTURED_FIRST, CAPTURED_ANYTHING };

static const struct lambda {
	const char *name;
	uint8_t code, result, compute, captured;
} lambda[] = {
#define RESULT_f16 DT_f16
#define RESULT_bf16 DT_bf16
#define RESULT_f32 DT_f32
#define RESULT_bool DT_bool
#define LAMBDA(name, code, result, compute, captured)                                              \
	{#name, OP_##code, RESULT_##result, COMPUTE_##compute, CAPTURED_##captured},
#include "matcher/aten_lambda.def"
#undef LAMBDA
};

static bool set_types(struct aten_function *f, enum dtype result, unsigned nin,
		      const enum dtype *in)
{
	if (!result || nin > ATEN_MAX_INPUTS)
		return false;
	f->dtype[0] = (uint8_t)result;
	f->nin = (uint8_t)nin;
	for (unsigned i = 0; i < nin; i++) {
		if (!in[i])
			return false;
		f->dtype[1 + i] = (uint8_t)in[i];
		f->role[i] = (uint8_t)(ROLE_in0 + i);
	}
	return true;
}

/* A number of that type at that offset of the functor; returns the offset behind it. */
static uint32_t add_scalar(struct aten_function *f, uint32_t at, enum dtype t)
{
	at = aten_align(at, dtype_bytes(t));
	f->scalar[f->nscalar].at = (uint8_t)at;
	f->scalar[f->nscalar++].dtype = (uint8_t)t;
	if (f->align < dtype_bytes(t))
		f->align = (uint8_t)dtype_bytes(t);
	return at + dtype_bytes(t);
}

static void set_bytes(struct aten_function *f, uint32_t end, bool host_pointer)
{
	f->exact = true;
	if (host_pointer) {
		f->align = 8;
		f->bytes = (uint16_t)(aten_align(end, 8) + 8);
		return;
	}
	f->bytes = (uint16_t)aten_align(end ? end : 1, f->align);
}

static void pow_by_lambda(struct aten_function *f, unsigned number)
{
	f->code = number == 1 ? OP_square : number == 2 || number == 4 ? OP_pow : OP_touch;
	if (number == 2)
		f->choose = ATEN_CUBE;
	if (number == 4)
		set_bytes(f, add_scalar(f, 0, (enum dtype)f->dtype[1]), true);
	else
		set_bytes(f, 0, true);
}

static bool of_lambda(struct aten_part p, struct aten_function *f)
{
	struct aten_part base = aten_part_base(p);
	const struct lambda *l = lambda;
	const struct lambda *end = lambda + sizeof(lambda) / sizeof(lambda[0]);
	enum dtype in[ATEN_MAX_INPUTS + 1] = {DT_NONE}, result;
	unsigned nin = 0, number = aten_part_lambda(p);

	while (l < end && !aten_part_is(base, l->name))
		l++;
	if (l == end || !number)
		return false;
	while (nin <= ATEN_MAX_INPUTS && aten_part_parameter(p, nin).len) {
		in[nin] = aten_part_dtype(aten_part_parameter(p, nin));
		nin++;
	}
	if (!nin || nin > ATEN_MAX_INPUTS)
		return false;
	switch (l->result) {
	case RESULT_FIRST:
		result = in[0];
		break;
	case RESULT_SECOND:
		result = in[1];
		break;
	case RESULT_ARGUMENT:
		result = aten_part_dtype(aten_part_argument(p, 1));
		break;
	default:
		result = (enum dtype)l->result;
	}
	if (!set_types(f, result, nin, in))
		return false;
	f->code = l->code;
	f->compute = (uint8_t)(l->compute == COMPUTE_MATH ? aten_math(in[0]) : in[0]);
	if (aten_part_is(base, "where_kernel_impl")) {
		if (nin != 3 || in[0] != DT_bool || in[1] != in[2])
			return false;
		f->role[0] = ROLE_cond;
		f->role[1] = ROLE_in0;
		f->role[2] = ROLE_in1;
		f->compute = (uint8_t)in[1];
	} else if (aten_part_is(base, "masked_fill_kernel")) {
		if (nin != 2 || in[1] != DT_bool)
			return false;
		f->role[0] = ROLE_in1;
		f->role[1] = ROLE_cond;
	} else if (f->code != OP_touch && nin != 1) {
		return false;
	} else if (aten_part_is(base, "GeluCUDAKernelImpl")) {
		number = aten_part_lambda_outer(p, 0);
		if (number != 1 && number != 2)
			return false;
		f->code = number == 1 ? OP_gelu_tanh : OP_gelu_erf;
	} else if (aten_part_is(base, "pow_tensor_scalar_kernel_impl")) {
		pow_by_lambda(f, number);
		return true;
	} else if (aten_part_is(base, "compare_scalar_kernel")) {
		f->choose = ATEN_COMPARE;
		set_bytes(f, add_scalar(f, 4, in[0]), true);
		return true;
	} else if (aten_part_is(base, "launch_clamp_scalar")) {
		/* Which kind of clamp, and two limits; in what order does not matter for relu. */
		f->choose = ATEN_CLAMP;
		f->align = (uint8_t)dtype_bytes(aten_math(in[0]));
		f->limits = (uint8_t)(aten_align(4, f->align) + 2 * f->align);
		set_bytes(f, f->limits, true);
		return true;
	}
	if (l->captured == CAPTURED_FIRST) {
		set_bytes(f, add_scalar(f, 0, in[0]), true);
	} else if (l->captured == CAPTURED_NOTHING) {
		set_bytes(f, 0, false);
		f->alternative = 8; /* [=] without anything captured */
	}
	return true;
}

/* The functions that BinaryFunctor and its like wrap. */
static void of_inner(struct aten_part inner, struct aten_function *f)
{
	static const struct {
		const char *name;
		uint8_t code, choose;
	} row[] = {
		{"MulFunctor", OP_mul, ATEN_AS_NAMED},
		{"DivFunctor", OP_div, ATEN_AS_NAMED},
		{"BitwiseAndFunctor", OP_bit_and, ATEN_AS_NAMED},
		{"BitwiseOrFunctor", OP_bit_or, ATEN_AS_NAMED},
		{"CompareEqFunctor", OP_equal, ATEN_EQUAL},
		{"CompareFunctor", OP_less, ATEN_COMPARE},
	};

	f->code = OP_touch;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (aten_part_is(aten_part_base(inner), row[i].name)) {
			f->code = row[i].code;
			f->choose = row[i].choose;
		}
}

/*
 * BinaryFunctor<A, B, RESULT, F>: F of both arguments, in F's own type; AUnaryFunctor and
 * BUnaryFunctor hold the left or the right one as a number behind F.
 */
static bool of_binary(struct aten_part p, struct aten_function *f, char held)
{
	struct aten_part inner = aten_part_argument(p, 3);
	enum dtype a = aten_part_dtype(aten_part_argument(p, 0)),
		   b = aten_part_dtype(aten_part_argument(p, 1)),
		   math = aten_part_dtype(aten_part_argument(inner, 0));
	enum dtype in[2] = {held == 'A' ? b : a, b};
	uint32_t end;

	if (!set_types(f, aten_part_dtype(aten_part_argument(p, 2)), held ? 1 : 2, in) || !a || !b)
		return false;
	of_inner(inner, f);
	if (held == 'A')
		f->role[0] = ROLE_in1;
	if (f->code == OP_touch)
		return true; /* any size: nothing is read of it */
	if (!math)
		return false;
	f->compute = (uint8_t)math;
	f->align = f->choose ? 4 : 1;
	end = f->choose ? 4 : 1;
	if (held)
		end = add_scalar(f, end, math);
	set_bytes(f, end, false);
	if (held && f->code == OP_mul) {
		f->code = OP_scale;
		f->role[0] = ROLE_in0;
	} else if (held &&
		   (f->code == OP_bit_and || f->code == OP_bit_or || f->choose == ATEN_EQUAL)) {
		f->role[0] = ROLE_in0;
	}
	return true;
}

static bool of_add(struct aten_part p, struct aten_function *f, unsigned nin)
{
	enum dtype t = aten_part_dtype(aten_part_argument(p, 0)), in[2] = {t, t};
	uint32_t end = 0;

	if (!set_types(f, t, nin, in))
		return false;
	f->code = OP_add;
	f->compute = (uint8_t)aten_math(t);
	f->align = 1;
	f->choose = nin == 2 ? ATEN_ALPHA : ATEN_AS_NAMED;
	for (unsigned i = nin; i <= 2; i++)
		end = add_scalar(f, end, aten_math(t));
	set_bytes(f, end, false);
	return true;
}

bool aten_function_parse(struct aten_part p, struct aten_function *f)
{
	struct aten_part base = aten_part_base(p);

	memset(f, 0, sizeof(*f));
	f->align = 1;
	if (!aten_part_starts(p, "at::native::"))
		return false;
	if (aten_part_lambda(p))
		return of_lambda(p, f);
	if (aten_part_is(base, "BinaryFunctor"))
		return of_binary(p, f, 0);
	if (aten_part_is(base, "AUnaryFunctor"))
		return of_binary(p, f, 'A');
	if (aten_part_is(base, "BUnaryFunctor"))
		return of_binary(p, f, 'B');
	if (aten_part_is(base, "CUDAFunctor_add"))
		return of_add(p, f, 2);
	if (aten_part_is(base, "CUDAFunctorOnSelf_add"))
		return of_add(p, f, 1);
	if (aten_part_is(base, "CUDAFunctorOnOther_add")) {
		bool ok = of_add(p, f, 1);

		f->role[0] = ROLE_in1;
		return ok;
	}
	if (aten_part_is(base, "CompareFunctor") || aten_part_is(base, "CompareEqFunctor")) {
		enum dtype t = aten_part_dtype(aten_part_argument(p, 0)), in[2] = {t, t};

		of_inner(p, f);
		f->compute = (uint8_t)t;
		f->align = 4;
		set_bytes(f, 4, false);
		return set_types(f, DT_bool, 2, in);
	}
	if (aten_part_is(base, "AbsFunctor")) {
		enum dtype t = aten_part_dtype(aten_part_argument(p, 0));

		f->code = OP_abs;
		f->compute = (uint8_t)t;
		set_bytes(f, 0, false);
		return set_types(f, t, 1, &t);
	}
	if (aten_part_is(base, "FillFunctor")) {
		f->code = OP_fill;
		if (!set_types(f, aten_part_dtype(aten_part_argument(p, 0)), 0, NULL))
			return false;
		f->compute = f->dtype[0];
		set_bytes(f, add_scalar(f, 0, (enum dtype)f->dtype[0]), false);
		return true;
	}
	return false;
}
