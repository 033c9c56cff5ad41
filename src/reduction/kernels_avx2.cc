// SPDX-License-Identifier: BSD-3-Clause
#define HOCKET_KERNELS avx2
#include "reduction/kernels.h"
