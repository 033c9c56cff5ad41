// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one instruction set, and which of them this machine can run. For reduction.cc, tests and benchmarks.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reduction/reduction.h"

namespace hocket::reduction {

enum class InstructionSet : uint8_t { kBaseline, kAvx2, kAvx512, kCount };

// nullptr where MPI does not define the operation on the type: in all tables at the same places.
struct KernelTable {
  Combine combine[static_cast<size_t>(Operation::kCount)][static_cast<size_t>(Type::kCount)];
};

// nullptr if this build or this CPU has it not. The baseline is always there.
const KernelTable* find_kernels(InstructionSet set);
InstructionSet best_instruction_set();
std::string_view name(InstructionSet set);

}  // namespace hocket::reduction
