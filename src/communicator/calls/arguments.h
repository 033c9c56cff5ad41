// SPDX-License-Identifier: BSD-3-Clause
// What a collective call is given: the one description of it that the C API and the interposer fill in. They check
// what their callers pass; nothing below checks it again.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/executor/combiner.h"
#include "engines/executor/on_demand.h"
#include "schedule/collective.h"
#include "schedule/step.h"

namespace hocket::communicator {

struct Arguments {
  // Not constexpr, as a defaulted one would be: a compiler clears a constant of this size by one string instruction,
  // which takes longer than all the stores.
  Arguments() {}  // NOLINT(modernize-use-equals-default)

  schedule::Collective collective = schedule::Collective::kBarrier;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  uint64_t count = 0;  // of a buffer with one block; of each block where all are equally long
  uint32_t root = 0;
  // This rank's input lies where its output does; see set_in_place().
  bool in_place = false;
  // Of a non-blocking call: kNotSupported, on all ranks alike, unless engines carry it out without any rank's help.
  bool only_by_engines = false;
  // Of a non-blocking call: the arguments are not compared with other ranks', who may be waited for in no call yet.
  bool is_unchecked = false;
  engines::Combiner combiner;
  uint64_t operation_name = 0;  // equal on all ranks for equal operations; 0 where ranks can't tell
  // Of vector versions, those that this rank has. Without displacements: one block behind the other.
  schedule::BlockVector input_blocks;
  schedule::BlockVector output_blocks;
  // Of a blocking call: whom to ask for operands as they are needed, and to give results to as they come. What it
  // throws ends the call and breaks the communicator.
  engines::OnDemand* on_demand = nullptr;
};

// The call is in place on this rank: finds the buffer that its caller does not pass. The other buffer, its blocks,
// `count` and the size of an element are there already.
void set_in_place(Arguments& arguments, uint32_t rank);

// Where the block of `rank` begins in a buffer of blocks, in bytes.
uint64_t block_offset(const Arguments& arguments, const schedule::BlockVector& blocks, uint32_t rank);

// Whether schedules find the input where the output is: not of collectives that copy it first.
inline bool runs_in_place(const Arguments& arguments) {
  return arguments.in_place && !schedule::copies_input_in_place(arguments.collective);
}

}  // namespace hocket::communicator
