// SPDX-License-Identifier: BSD-3-Clause
// Declares the object of every registered algorithm, so that each file defines one with external linkage.
//
// Thread safety: constants.
#pragma once

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

#define HOCKET_ALGORITHM(object) extern const Algorithm object;
#define HOCKET_NEIGHBOR_ALGORITHM(object) extern const Algorithm object;
#include "algorithms/algorithms.def"

}  // namespace hocket::algorithms
