// SPDX-License-Identifier: BSD-3-Clause
// Data types as a program may make them, of which is known without asking the MPI where each element lies.
//
// What is sent consists of sequences: the same few elements again and again. A layout lays one sequence out in memory;
// layouts of one family have the same type signature, so ranks may use different ones for the same message.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "elements.h"

namespace conformance {

// The elements of one sequence.
using Family = std::vector<const Element*>;

enum class Shape {
  kPlain,       // the predefined type itself; a sequence is several of it
  kContiguous,  // dense
  kDuplicate,   // a copy of a dense type
  kVector,      // an element, a gap, an element, ...
  kBlocks,      // two elements, a gap, two elements, ...
  kBackwards,   // a negative stride
  kIndexed,     // the last element first, with gaps
  kRotated,     // the second element first, dense
  kStruct,      // with padding between and behind
  kNegativeLower,
  kPositiveLower,
  kSubarray,  // a piece of a row of a matrix
  kNested,    // vectors in a vector
  kColumns,   // each a column of a matrix, one beside the other, so that they interleave
};
inline constexpr int kShapes = 14;

const char* shape_name(Shape shape);

struct Layout {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool is_made = false;
  std::vector<const Element*> elements;  // of one instance of the type, in the order of its signature
  std::vector<MPI_Aint> places;          // where they lie, in bytes
  MPI_Aint extent = 0;

  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout();
};

// Instances of the type that make up so many sequences.
int64_t instances(Shape shape, const Family& family, int64_t sequences);

// The shape in which this family can be laid out: the one asked for, or one like it.
Shape fitting(Shape shape, const Family& family);

// `columns`: how many instances lie beside each other at most; looked at for kColumns only. Kept layouts are reused
// and live until forget_layouts(); others belong to the caller.
void make_layout(Layout& layout, Shape shape, const Family& family, int64_t columns);
const Layout& kept_layout(Shape shape, const Family& family);
void forget_layouts();

}  // namespace conformance
