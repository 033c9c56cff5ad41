// SPDX-License-Identifier: BSD-3-Clause
// What a call has to know of its blocks where they differ, or where a long call takes a part of each at a time; and the
// input that a call in place has copied.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/collective.h"
#include "schedule/step.h"

namespace hocket::communicator {

struct Arguments;

class CallBlocks {
 public:
  // Reads the arguments' arrays, and copies them: `kept` says that the caller's may go before the call is over.
  // Displacements that are not given mean one block behind the other.
  void read(const Arguments& arguments, uint32_t size, bool kept);
  // The same of a call among neighbours, by how many destinations and sources this rank has.
  void read_among_neighbours(const Arguments& arguments, uint32_t destinations, uint32_t sources, bool kept);
  // Blocks of one length, to be taken part by part.
  void make_equal(schedule::Collective collective, uint64_t count, uint32_t size);

  // After a read() that has copied them: the arguments' arrays are the copies.
  void point_at_copies(Arguments& arguments) const;

  // Of the vector that all ranks see alike.
  uint64_t longest() const { return whole_.longest; }
  uint64_t total() const { return whole_.total; }

  // Elements [first, first + most) of every block.
  const schedule::Extents& part(uint64_t first, uint64_t most);

  // A copy of the caller's input, for collectives in place whose output would overwrite what peers still want.
  // Blocks that differ lie densely in the copy. Each start of a call makes one.
  const std::byte* copy_input(const Arguments& arguments, uint32_t size);

 private:
  struct Side {
    schedule::BlockVector whole;
    schedule::BlockVector part;
    bool is_there = false;
    uint32_t blocks = 0;
    std::vector<uint64_t> counts;  // of `whole`, if copied or made
    std::vector<uint64_t> displacements;
    std::vector<uint64_t> part_counts;
    std::vector<uint64_t> part_displacements;
  };
  static void take(Side& side, const schedule::BlockVector& given, uint32_t size, bool kept);
  static void cut(Side& side, uint64_t first, uint64_t most);
  void measure();

  schedule::Extents whole_;
  schedule::Extents part_;
  Side input_;
  Side output_;
  const uint64_t* input_displacements_ = nullptr;  // where the program's blocks lie
  std::vector<uint64_t> copy_displacements_;       // and those of the copy
  std::unique_ptr<std::byte[]> copy_;
  uint64_t copy_bytes_ = 0;
};

}  // namespace hocket::communicator
