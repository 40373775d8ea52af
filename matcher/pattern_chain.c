// SPDX-License-Identifier: Apache-2.0
/* Names of chains: they have no fixed form, so no nodes (seq_chain.h). */
#include "matcher/group.h"

const struct pattern pattern_rmsnorm = {.name = "rmsnorm"};
const struct pattern pattern_add_layernorm = {.name = "add_layernorm"};
const struct pattern pattern_layernorm = {.name = "layernorm"};
const struct pattern pattern_gelu_mul = {.name = "gelu_mul"};
const struct pattern pattern_gelu = {.name = "gelu"};
const struct pattern pattern_bias_gelu = {.name = "bias_gelu"};
const struct pattern pattern_mask_softmax = {.name = "mask_softmax"};
const struct pattern pattern_rope = {.name = "rope"};
const struct pattern pattern_dequant_rmsnorm = {.name = "dequant_rmsnorm"};
const struct pattern pattern_lora_add = {.name = "lora_add"};
const struct pattern pattern_chain = {.name = "chain"};
