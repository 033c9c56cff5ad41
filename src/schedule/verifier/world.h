// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the verifier share: the plans, every rank's memory, what each rank knows of the others, the
// complaints.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "schedule/rows.h"
#include "schedule/verifier/contributions.h"
#include "schedule/verifier/trace.h"
#include "schedule/verifier/verifier.h"

namespace hocket::schedule {

// Elements [begin, begin + length) of one rank's memory, in which all its buffers lie.
struct Span {
  uint64_t begin = 0;
  uint64_t length = 0;

  uint64_t end() const { return begin + length; }
};

inline bool overlap(const Span& a, const Span& b) {
  return a.length != 0 && b.length != 0 && a.begin < b.end() && b.begin < a.end();
}
inline bool same(const Span& a, const Span& b) { return a.begin == b.begin && a.length == b.length; }

// A step with its slices resolved for the call's count.
struct Operands {
  Span source;
  Span destination;
  bool whole_target = true;
  Span target;  // within the publication
};

// Where a rank's buffers lie in its memory. Buffers that it doesn't have are 0 elements long.
class Layout {
 public:
  Layout(const Plan& plan, const VerifyOptions& options);
  Layout(Layout&&) = delete;  // extents_ points into it

  Span input() const { return input_; }
  Span output() const { return output_; }
  uint64_t extent() const { return extent_; }
  uint32_t input_blocks() const { return input_.length == 0 ? 0 : input_blocks_; }
  uint32_t output_blocks() const { return output_.length == 0 ? 0 : output_blocks_; }
  Span input_block(uint32_t block) const { return block_of(input_, input_vector_, input_blocks_, block); }
  Span output_block(uint32_t block) const { return block_of(output_, output_vector_, output_blocks_, block); }
  const Extents& extents() const { return extents_; }
  // The slice's elements, or a sentence that says what is wrong with it.
  std::string locate(const Slice& slice, Span& span) const;

 private:
  struct Vector {
    std::vector<uint64_t> counts;
    std::vector<uint64_t> displacements;
    BlockVector blocks;
    uint64_t extent = 0;
  };
  void make_vectors(const Plan& plan, std::span<const uint64_t> lengths);
  void make_vectors_of_neighbours(const Plan& plan, std::span<const uint64_t> lengths);
  void lay_rows(const Plan& plan, const VerifyOptions& options);
  void lay(Vector& vector, bool dense) const;
  void place_buffers(const Plan& plan);
  Span block_of(Span buffer, const Vector& vector, uint32_t blocks, uint32_t block) const;

  Extents extents_;
  uint32_t input_blocks_;
  uint32_t output_blocks_;
  Vector input_vector_;
  Vector output_vector_;
  RowOffsets rows_;
  Span input_;
  Span output_;
  std::vector<Span> scratch_;
  uint64_t extent_ = 0;
};

// What each rank knows of the others: clock(r)[q] is 0 while r's current stage doesn't imply that q has started, and
// else one more than the number of q's stages that are known to be done.
class Clocks {
 public:
  explicit Clocks(uint32_t size)
      : size_(size), now_(static_cast<size_t>(size) * size), next_(static_cast<size_t>(size) * size) {
    for (uint32_t rank = 0; rank < size; ++rank) now_[index(rank, rank)] = next_[index(rank, rank)] = 1;
  }

  const uint32_t* now(uint32_t rank) const { return &now_[index(rank, 0)]; }
  // A step of the current stage of `rank` waits for something that happened at `clock`.
  void acquire(uint32_t rank, const uint32_t* clock) {
    uint32_t* next = &next_[index(rank, 0)];
    for (uint32_t q = 0; q < size_; ++q) next[q] = next[q] < clock[q] ? clock[q] : next[q];
  }
  void finish_stage(uint32_t rank) {
    ++next_[index(rank, rank)];
    std::copy_n(&next_[index(rank, 0)], size_, &now_[index(rank, 0)]);
  }
  // What the steps of `rank` do from here on happens after `clock` too, until forget() ends it: a step that waits
  // for a peer touches memory after its wait only.
  void assume(const uint32_t* clock) { assumed_ = clock; }
  void forget() { assumed_ = nullptr; }
  // Is that stage of `other` over before what `rank` does now, whatever the timing?
  bool knows(uint32_t rank, uint32_t other, uint32_t stage) const {
    return clock_knows(now(rank), other, stage) || (assumed_ != nullptr && clock_knows(assumed_, other, stage));
  }
  static bool clock_knows(const uint32_t* clock, uint32_t other, uint32_t stage) { return clock[other] >= stage + 2; }

  size_t save(uint32_t rank) {
    const size_t at = saved_.size();
    saved_.insert(saved_.end(), now(rank), now(rank) + size_);
    return at;
  }
  const uint32_t* saved(size_t at) const { return &saved_[at]; }

 private:
  size_t index(uint32_t rank, uint32_t other) const { return static_cast<size_t>(rank) * size_ + other; }

  uint32_t size_;
  std::vector<uint32_t> now_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> saved_;
  const uint32_t* assumed_ = nullptr;
};

struct World {
  World(std::span<const Plan> plans, const VerifyOptions& options);

  uint32_t size() const { return static_cast<uint32_t>(plans.size()); }
  const Nodes& nodes() const { return plans[0].shape.nodes != nullptr ? *plans[0].shape.nodes : one_node; }
  const Step& step(Where where) const { return plans[where.rank].steps[where.step]; }
  std::span<Cell> cells(uint32_t rank, Span span) { return {memory[rank].data() + span.begin, span.length}; }

  // "rank 3 step 7 (get slot 0 v2 of 1) ..."
  void complain(Where where, const std::string& text);
  void complain(const std::string& text);
  // "step 7 (get slot 0 v2 of 1) of rank 3", to be named in another step's complaint.
  std::string mention(Where where) const;
  // "element 5 of output" for a position in a rank's memory.
  std::string place(uint32_t rank, uint64_t position) const;

  // The step ends at least one later than `depth` and its own stage's beginning; the result is its end.
  uint32_t deepen(Where where, uint32_t depth);
  // `to` had to wait for `from`.
  void link(LinkKind kind, Where from, Where to, uint64_t elements = 0) {
    if (trace != nullptr) trace->links.push_back({kind, from, to, elements});
  }

  std::span<const Plan> plans;
  const VerifyOptions& options;
  std::deque<Layout> layouts;
  std::vector<std::vector<Cell>> memory;
  Contributions contributions;
  Clocks clocks;
  std::vector<uint32_t> stage;       // the stage each rank is in
  std::vector<uint32_t> depth;       // of the chain of steps that its beginning had to wait for
  std::vector<uint32_t> next_depth;  // and its end, so far
  Nodes one_node;                    // where the plans name no nodes
  Report report;
  Trace* trace = nullptr;  // which rank waited for which, if the caller wants to know
};

// Checks what needs no other rank: kinds, numbers, bounds, lengths. Fills `operands`.
void resolve_steps(World& world, uint32_t rank, std::vector<Operands>& operands);
// The steps [begin, end) of a rank, one stage, must not depend on each other's order.
void check_stage(World& world, uint32_t rank, uint32_t begin, uint32_t end, const std::vector<Operands>& operands);

}  // namespace hocket::schedule
