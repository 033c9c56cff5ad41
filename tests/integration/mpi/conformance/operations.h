// SPDX-License-Identifier: BSD-3-Clause
// The predefined operations and some of the program's own, each with a way to fold operands without an MPI collective.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "elements.h"
#include "layouts.h"

namespace conformance {

// left and inout: one sequence, its elements one after the other; inout = left op inout.
using CombineSequence = void (*)(const unsigned char* left, unsigned char* inout, size_t element_size, size_t length);

struct Operation {
  const char* name;
  MPI_Op op;
  unsigned classes;  // bit of each Class that it is defined for
  Values values;
  CombineSequence combine;  // of the program's own operations
  bool is_matrix;           // needs sequences of four MPI_UINT32_T

  bool is_predefined() const { return combine == nullptr; }
  bool fits(const Element& element) const { return (classes >> static_cast<int>(element.element_class) & 1) != 0; }
};

const std::vector<Operation>& operations();
const Operation& operation(const char* name);

// Ends of the program's own operations; before MPI_Finalize.
void free_operations();

// Which layouts the program's own operations may meet, until they are forgotten. How often one met another type so far.
// Thread safety: operations may be called by any thread.
void expect_operands(const Layout* layout);
void forget_operands();
int foreign_operands();

// inout = left op inout for so many sequences of `family`, packed without padding between the elements.
void fold(const Operation& operation, const Family& family, unsigned char* left, unsigned char* inout,
          int64_t sequences);

}  // namespace conformance
