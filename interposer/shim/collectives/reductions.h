// SPDX-License-Identifier: BSD-3-Clause
// The collectives that combine: calls for serve() of decision.h, which tells of errors, too.
//
// Thread safety: as decision.h.
#pragma once

#include <optional>

#include "shim/buffers/numbers.h"
#include "shim/buffers/own_copy.h"
#include "shim/collectives/arguments.h"
#include "shim/collectives/decision.h"
#include "shim/types/operations.h"

namespace hocket::interposer {

// MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter_block, MPI_Reduce_scatter, MPI_Scan, MPI_Exscan.
struct ReduceCall {
  Collective collective;
  const void* input;
  void* output;
  MPI_Count count;  // of a rank's part in a scatter of blocks
  MPI_Datatype type;
  MPI_Op op;
  int root;        // of a kReduce
  Numbers counts;  // of a kReduceScatter, instead of `count`
  MPI_Comm comm;

  struct Findings {
    const TypeFacts* facts;
    Operation operation;
    size_t operand;        // elements that each rank brings
    size_t result;         // elements that this rank gets; 0 where it gets none
    const size_t* counts;  // of a kReduceScatter whose parts differ, or nullptr
    bool is_in_place;
  };
};

// As hocket's call, with the program's buffers or copies of them; where it is in place, `input` has no meaning.
hocket_status_t fill(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                     const void* input, void* output, Arguments& arguments);
// What is to be done of a single rank, whatever the operation.
std::optional<OwnCopy> own_copy(const ReduceCall& call, const ReduceCall::Findings& findings);

Decision decide(const ReduceCall& call, ReduceCall::Findings& findings, CallForm form);
RuleKey rule_key_of(const ReduceCall& call, const Communicator& communicator, const ReduceCall::Findings& findings);
int carry_out(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings);

}  // namespace hocket::interposer
