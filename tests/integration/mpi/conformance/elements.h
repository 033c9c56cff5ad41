// SPDX-License-Identifier: BSD-3-Clause
// The predefined types: which of their bytes mean something, and values for which results don't depend on the order in
// which they are combined.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conformance {

enum class Class {
  kInteger,
  kAddress,
  kFortranInteger,
  kFloat,
  kComplex,
  kBool,
  kFortranLogical,
  kByte,
  kOpaque,
  kPair
};

// What elements are made for.
enum class Values {
  kAnyBytes,  // to be moved only
  kSum,       // no rounding, and no overflow where that isn't plain wrapping
  kProduct,
  kOrder,  // minima and maxima
  kBits,
  kTruth,
  kPlace,  // pairs of few values, so with ties, and many places
};

// Whether the integer at `a` is less than the one at `b`.
using IsLess = bool (*)(const unsigned char* a, const unsigned char* b);

// Writes one element. `rank` is who contributes it.
using SetElement = void (*)(unsigned char* at, Values values, uint64_t random, int rank);

struct Element {
  const char* name;
  MPI_Datatype type;
  Class element_class;
  size_t size;       // its extent
  uint32_t meaning;  // bit i: byte i belongs to the value; others are padding, also within 80-bit floats
  SetElement set;
  IsLess is_less = nullptr;  // of integers only

  void write(unsigned char* at, Values values, uint64_t random, int rank) const;
};

// In the same order in all programs of one MPI. After MPI_Init.
const std::vector<Element>& elements();

// The element with this name; ends the program if there is none.
const Element& element(const char* name);

}  // namespace conformance
