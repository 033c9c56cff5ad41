// SPDX-License-Identifier: BSD-3-Clause
#include "reduction/reduction.h"

#include "reduction/kernel_table.h"

namespace hocket::reduction {

Combine find_combine(Operation operation, Type type) {
  static const KernelTable& kernels = *find_kernels(best_instruction_set());
  if (operation >= Operation::kCount || type >= Type::kCount) return nullptr;
  return kernels.combine[static_cast<size_t>(operation)][static_cast<size_t>(type)];
}

std::string_view instruction_set() { return name(best_instruction_set()); }

}  // namespace hocket::reduction
