// SPDX-License-Identifier: BSD-3-Clause
#define HOCKET_KERNELS avx512
#define HOCKET_COMPLEX_PRODUCTS avx2  // AVX-512 can't be had without fused multiply-add
#include "reduction/kernels.h"
