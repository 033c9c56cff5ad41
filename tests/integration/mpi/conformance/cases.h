// SPDX-License-Identifier: BSD-3-Clause
// What is called: a case is the same on all ranks and follows from (seed, number) alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buffers.h"
#include "communicators.h"
#include "elements.h"
#include "layouts.h"
#include "operations.h"

namespace conformance {

enum class Collective {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan,
};
inline constexpr int kCollectives = 17;

const char* mpi_name(Collective collective);  // "Bcast"
bool is_reduction(Collective collective);
bool is_rooted(Collective collective);
bool has_in_place(Collective collective);
bool is_vector(Collective collective);  // blocks of different lengths

// How the lengths of a vector collective's blocks differ.
enum class Pattern { kEqual, kRandom, kSparse, kOnlyOne, kUnequal, kNone };

struct Case {
  uint64_t seed = 0;
  uint64_t number = 0;
  uint64_t salt = 0;  // all that is drawn at random within the case
  Collective collective = Collective::kBarrier;
  size_t communicator = 0;
  uint64_t root = 0;  // modulo the size of the communicator
  Family family;
  const Operation* operation = nullptr;
  int64_t sequences = 0;  // of one block; of vector collectives, the measure of blocks
  Pattern pattern = Pattern::kEqual;
  Shape shape = Shape::kPlain;
  bool is_mixed = false;     // ranks differ in their shapes
  bool is_permuted = false;  // blocks lie in another order than that of ranks, with gaps
  bool is_in_place = false;
  bool is_large = false;        // the _c function
  bool is_nonsense = false;     // arguments that don't count have no sense
  bool is_fresh = false;        // types are made for this case
  bool is_hocket_first = true;  // who of the two makes the call first
  Memory input = Memory::kHeap;
  Memory output = Memory::kHeap;
};

class Cases {
 public:
  Cases(uint64_t seed, const std::vector<Communicator>& communicators, int most_ranks);

  // Numbers below this are those of the systematic core: every collective at every root, in place and not, on little
  // and much; every operation on every type.
  uint64_t core() const { return core_.size(); }
  Case make(uint64_t number) const;

 private:
  void add_core();
  void add_core_operations();
  Case draw(uint64_t number) const;
  void draw_data(Case& result, class Random& random) const;
  void draw_operation(Case& result, class Random& random) const;
  int64_t limit(const Case& result) const;

  uint64_t seed_;
  size_t communicators_;
  int ranks_;
  std::vector<Case> core_;
};

// On one line, all that tells this case from others.
std::string description(const Case& which, const Communicator& communicator);

}  // namespace conformance
