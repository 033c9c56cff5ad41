// SPDX-License-Identifier: BSD-3-Clause
#define HOCKET_KERNELS avx512
#include "reduction/kernels.h"
