// SPDX-License-Identifier: Apache-2.0
#include "matcher/decode.h"

#define DECODER(symbol) extern const struct decoder symbol;
#include "matcher/decoders.def"
#undef DECODER

static const struct decoder *const decoder[] = {
#define DECODER(symbol) &symbol,
#include "matcher/decoders.def"
#undef DECODER
};

bool decode_families = true;

void decode_kernel(struct kernel *k)
{
	k->decoder = NULL;
	k->decoder_data = NULL;
	k->ops = 0;
	k->family = false;
	for (unsigned i = 0; i < sizeof(decoder) / sizeof(decoder[0]) && !k->decoder; i++) {
		if (!decode_families && decoder[i] != &sig_decoder)
			continue;
		k->decoder_data = decoder[i]->knows(k);
		if (k->decoder_data) {
			k->decoder = decoder[i];
			k->ops = decoder[i]->ops(k->decoder_data);
			k->family = decoder[i] != &sig_decoder;
		}
	}
}

void op_opaque(struct op *op)
{
	op->code = OP_opaque;
	op->vetted = op->has_eps = op->plus_one = false;
	op->noperand = op->nslot = 0;
	op->rows = op->cols = 0;
	op->eps = 0;
	op->nscalar = 0;
	op->compute = DT_NONE;
	op->scalar[0] = 1;
	op->scalar[1] = 0;
	op->order.width = 0;
}

enum reason decode_launch(const struct launch *l, struct op *op)
{
	const struct kernel *k = l->kernel;
	enum reason why;

	op_opaque(op);
	if (!k->decoder)
		return REASON_UNKNOWN_KERNEL;
	why = k->decoder->decode(k->decoder_data, l, op);
	if (why)
		op_opaque(op);
	return why;
}
