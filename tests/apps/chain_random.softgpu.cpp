/* SPDX-License-Identifier: Apache-2.0 */
/* The random chains' kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/chain_random_kernels.cuh"

#define OF_EACH_TYPE(kernel)                                                                       \
	SOFTGPU_KERNEL(kernel<float>)                                                              \
	SOFTGPU_KERNEL(kernel<__half>)                                                             \
	SOFTGPU_KERNEL(kernel<bf16>)

OF_EACH_TYPE(each_add)
OF_EACH_TYPE(each_sub)
OF_EACH_TYPE(each_mul)
OF_EACH_TYPE(each_scale)
OF_EACH_TYPE(each_shift)
OF_EACH_TYPE(each_relu)
OF_EACH_TYPE(each_neg)
OF_EACH_TYPE(each_square)
OF_EACH_TYPE(each_sigmoid)
OF_EACH_TYPE(each_silu)
OF_EACH_TYPE(each_tanh)
OF_EACH_TYPE(each_gelu_tanh)
OF_EACH_TYPE(each_gelu_erf)
OF_EACH_TYPE(each_bias)
OF_EACH_TYPE(each_column)
OF_EACH_TYPE(each_row)
OF_EACH_TYPE(row_mean)
OF_EACH_TYPE(row_rmsnorm)
OF_EACH_TYPE(row_layernorm)
OF_EACH_TYPE(row_softmax)
OF_EACH_TYPE(stir)
SOFTGPU_KERNEL(each_cast<float, __half>)
SOFTGPU_KERNEL(each_cast<float, bf16>)
SOFTGPU_KERNEL(each_cast<__half, float>)
SOFTGPU_KERNEL(each_cast<__half, bf16>)
SOFTGPU_KERNEL(each_cast<bf16, float>)
SOFTGPU_KERNEL(each_cast<bf16, __half>)
