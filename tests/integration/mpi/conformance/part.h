// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in a case: where its blocks lie, what they hold before and after, and the arguments of the call.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cases.h"
#include "communicators.h"
#include "layouts.h"

namespace conformance {

// Instances of a type that lie one after the other. What they hold is named: elements `first` and following of message
// `key`, or what ranks [key, last) get by combining theirs.
struct Block {
  MPI_Aint at = 0;  // of the first instance, in bytes from the buffer that is passed
  int64_t count = 0;
  const Layout* layout = nullptr;
  uint64_t key = 0;
  uint64_t last = 0;  // 0: nothing is combined
  int64_t first = 0;

  int64_t elements() const { return count * static_cast<int64_t>(layout->elements.size()); }
};

struct Side {
  std::vector<Block> blocks;  // what is read, or what must have been written
  std::vector<Block> room;    // must exist besides, and not be touched
  bool is_in_place = false;
  bool is_null = false;
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int64_t> counts;
  std::vector<MPI_Aint> displacements;  // in extents of `type`; of Alltoallw in bytes
  std::vector<MPI_Datatype> types;

  void make_nonsense();  // of arguments that must not be looked at
};

struct Part {
  Side send, receive;
  std::vector<Block> input_in_place;  // what the receive buffer holds before
  const Layout* operands = nullptr;   // of reductions
  std::vector<std::unique_ptr<Layout>> fresh;
};

Part make_part(const Case& which, const Communicator& communicator);

}  // namespace conformance
