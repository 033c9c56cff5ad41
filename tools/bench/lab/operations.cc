// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/operations.h"

#include "engines/nic/operation_name.h"

namespace hocket::lab_bench {

using reduction::Operation;
using reduction::Type;

namespace {

std::vector<Operation> operations() {
  std::vector<Operation> found;
  for (int i = 0; i < static_cast<int>(Operation::kCount); ++i)
    if (can_combine(static_cast<Operation>(i), Type::kInt64)) found.push_back(static_cast<Operation>(i));
  return found;
}

}  // namespace

bool can_combine(Operation operation, Type type) {
  return engines::nic::operation_name(schedule::Collective::kReduce, operation, type) != 0;
}

std::vector<std::string> names_of_operations() {
  std::vector<std::string> names;
  for (const Operation one : operations()) names.emplace_back(reduction::name(one));
  return names;
}

std::optional<Operation> operation_named(const std::string& name) {
  for (const Operation one : operations())
    if (name == reduction::name(one)) return one;
  return std::nullopt;
}

Type type_named(const std::string& name) { return name == "double" ? Type::kDouble : Type::kInt64; }

}  // namespace hocket::lab_bench
