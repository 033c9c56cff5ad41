// SPDX-License-Identifier: BSD-3-Clause
// What `hocket lab bench` combines by: what NIC engines know, so that all ways can be compared.
//
// Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reduction/reduction.h"

namespace hocket::lab_bench {

// Those that engines carry out on integers of 64 bits, which is all that they know, by hocket's names: "sum", "band".
std::vector<std::string> names_of_operations();
// One of them; std::nullopt: `name` is none.
std::optional<reduction::Operation> operation_named(const std::string& name);

// The type of operands, whose elements have 64 bits: "int64", "double".
reduction::Type type_named(const std::string& name);

// Whether engines combine operands of this type so.
bool can_combine(reduction::Operation operation, reduction::Type type);

}  // namespace hocket::lab_bench
