// SPDX-License-Identifier: BSD-3-Clause
// What a reduction should give, one element at a time and as plainly as possible, to compare the kernels with.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "reduction/reduction.h"

namespace hocket::reduction {

using Bytes = std::vector<unsigned char>;

// The standard's table of predefined operations, as text.
bool mpi_defines(Operation operation, Type type);

// One element at any address. mpi_defines(operation, type) must hold.
void reference(Operation operation, Type type, const void* left, const void* right, void* out);

// Bit for bit, padding aside. A NaN that was computed equals any other: which operand's payload it carries is open.
bool same_element(Operation operation, Type type, const void* a, const void* b);

// Zeros of different sign and NaNs included.
bool same_bytes(const void* a, const void* b, size_t bytes);

// `count` elements of every sort: ends of the range, small numbers (so that values are equal now and then), zeros of
// both signs, infinities, NaNs, arbitrary bits.
Bytes random_elements(Type type, size_t count, std::mt19937_64& random);

}  // namespace hocket::reduction
