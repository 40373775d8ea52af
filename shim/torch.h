/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which release of PyTorch is in this process? Its sums along rows were added up in another order
 * before 2.10, by kernels of the same names and parameters (matcher/aten_reduce.h).
 */
#ifndef AF_SHIM_TORCH_H
#define AF_SHIM_TORCH_H

/* Before the first launch is decoded: option `torch`, if set, settles it. Else nothing is known
 * yet. */
void torch_start(const char *option);
/* A kernel of PyTorch's is there: its library is loaded, and the version is read from the file that
 * wheels (torch/version.py) and archives (build-version) have beside it. Sets row_pick_torch. For
 * each kernel once: it goes through the loaded objects until that is settled. */
void torch_seen(void);

#endif
