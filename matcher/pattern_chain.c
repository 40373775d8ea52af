// SPDX-License-Identifier: Apache-2.0
/* Names of chains: they have no fixed form, so mostly no nodes (seq_chain.h). */
#include "matcher/group.h"

const struct pattern pattern_rmsnorm = {.name = "rmsnorm"};
const struct pattern pattern_add_layernorm = {.name = "add_layernorm"};
const struct pattern pattern_layernorm = {.name = "layernorm"};
const struct pattern pattern_gelu = {.name = "gelu"};
const struct pattern pattern_bias_gelu = {.name = "bias_gelu"};
const struct pattern pattern_mask_softmax = {.name = "mask_softmax"};
const struct pattern pattern_rope = {.name = "rope"};
const struct pattern pattern_dequant_rmsnorm = {.name = "dequant_rmsnorm"};
const struct pattern pattern_lora_add = {.name = "lora_add"};
const struct pattern pattern_chain = {.name = "chain"};

/*
 * An activation and its product lie far apart, and what comes between mostly writes where the
 * activation has read. For the silu there is a kernel of this form.
 */
static enum reason as_a_chain(struct group *g)
{
	return REASON_SHAPE;
}

const struct pattern pattern_gelu_mul = {
	.name = "gelu_mul",
	.nnode = 2,
	.njoin = 1,
	.node = {OP_gelu_tanh, OP_mul},
	.also = OP_gelu_erf,
	.join = {{0, ROLE_out, 1, ROLE_in0}},
	.bind = as_a_chain,
	.watched = true,
};
