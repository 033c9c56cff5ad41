// SPDX-License-Identifier: BSD-3-Clause
// Chooses the kernels for the CPU.
#include "reduction/kernel_table.h"

namespace hocket::reduction {

namespace baseline {
extern const KernelTable kTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const KernelTable kTable;
}
namespace avx512 {
extern const KernelTable kTable;
}
#endif

const KernelTable* find_kernels(InstructionSet set) {
  if (set == InstructionSet::kBaseline) return &baseline::kTable;
#if defined(__x86_64__)
  __builtin_cpu_init();  // we may be called before the constructor that does it
  if (set == InstructionSet::kAvx2 && __builtin_cpu_supports("avx2")) return &avx2::kTable;
  if (set == InstructionSet::kAvx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return &avx512::kTable;
  }
#endif
  return nullptr;
}

InstructionSet best_instruction_set() {
  static const InstructionSet best = [] {
    for (InstructionSet set : {InstructionSet::kAvx512, InstructionSet::kAvx2}) {
      if (find_kernels(set) != nullptr) return set;
    }
    return InstructionSet::kBaseline;
  }();
  return best;
}

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
    default:
      return "baseline";
  }
}

}  // namespace hocket::reduction
