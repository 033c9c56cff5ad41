// SPDX-License-Identifier: BSD-3-Clause
#define HOCKET_KERNELS baseline
#include "reduction/kernels.h"
