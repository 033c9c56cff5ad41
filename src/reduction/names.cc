// SPDX-License-Identifier: BSD-3-Clause
// Sizes and names of types and operations.
#include <array>

#include "reduction/elements.h"
#include "reduction/reduction.h"

namespace hocket::reduction {
namespace {

struct TypeFacts {
  size_t size;
  std::string_view name;
};

constexpr std::array<TypeFacts, static_cast<size_t>(Type::kCount)> kTypes = {{
    {0, "none"},
    {1, "int8"},
    {2, "int16"},
    {4, "int32"},
    {8, "int64"},
    {1, "uint8"},
    {2, "uint16"},
    {4, "uint32"},
    {8, "uint64"},
    {sizeof(float), "float"},
    {sizeof(double), "double"},
    {sizeof(long double), "long_double"},
    {2 * sizeof(float), "complex_float"},
    {2 * sizeof(double), "complex_double"},
    {2 * sizeof(long double), "complex_long_double"},
    {sizeof(bool), "bool"},
    {4, "logical4"},
    {1, "byte"},
    {sizeof(Pair<float, int>), "float_int"},
    {sizeof(Pair<double, int>), "double_int"},
    {sizeof(Pair<long, int>), "long_int"},
    {sizeof(Pair<int, int>), "2int"},
    {sizeof(Pair<short, int>), "short_int"},
    {sizeof(Pair<long double, int>), "long_double_int"},
    {sizeof(Pair<float, float>), "2float"},
    {sizeof(Pair<double, double>), "2double"},
}};

constexpr std::array<std::string_view, static_cast<size_t>(Operation::kCount)> kOperations = {
    "none", "sum",  "prod", "min",  "max",    "land",   "lor",
    "lxor", "band", "bor",  "bxor", "minloc", "maxloc", "sum_saturating"};

}  // namespace

size_t size_of(Type type) { return type < Type::kCount ? kTypes[static_cast<size_t>(type)].size : 0; }

std::string_view name(Type type) { return type < Type::kCount ? kTypes[static_cast<size_t>(type)].name : "unknown"; }

std::string_view name(Operation operation) {
  return operation < Operation::kCount ? kOperations[static_cast<size_t>(operation)] : "unknown";
}

}  // namespace hocket::reduction
