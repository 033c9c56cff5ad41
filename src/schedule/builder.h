// SPDX-License-Identifier: BSD-3-Clause
// Writes a plan, one step at a time. Algorithms see this and nothing else.
//
// Steps run one after the other unless they are added between begin_stage() and end_stage(), where they may
// proceed together (an exchange is a send and a receive in one stage).
//
// Misuse (a rank or number out of range, a stage left open, ...) is an error in an algorithm, not in a program that
// uses hocket: it ends the process with a sentence that says what was wrong. What an algorithm makes of its steps is
// the verifier's business (verifier/verifier.h).
//
// Thread safety: a builder belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "schedule/plan.h"

namespace hocket::schedule {

class Builder {
 public:
  Builder(Collective collective, const Shape& shape);

  // What the algorithm may ask about its group (the whole communicator unless entered by enter_group).
  uint32_t size() const { return group().shape.size; }
  uint32_t rank() const { return group().shape.rank; }
  uint32_t root() const { return group().shape.root; }
  uint32_t segments() const { return group().shape.segments; }
  const Shape& shape() const { return group().shape; }
  // The caller's blocks differ in length and may lie anywhere: a slice of several of them is none.
  bool blocks_lie_apart() const { return plan_.shape.varies && plan_.collective != Collective::kReduceScatterBlock; }
  // Of a collective among neighbours: who they are.
  const Neighbours& neighbours() const { return *plan_.shape.neighbours; }
  // Whether writing to the output may change the input.
  bool in_place() const { return group().shape.in_place; }
  // What a composition is made over: the nodes or, on one node, its NUMA domains. Groups don't know: to them it is one
  // node, as far as they use slots or counters.
  const Nodes& nodes() const;
  // Whether the algorithm has asked for them so far.
  bool was_asked_for_nodes() const { return was_asked_for_nodes_; }

  // --- slices ---------------------------------------------------------------------------------------------
  // The whole of the caller's buffers (within enter_group: what the outer algorithm gave the inner one).
  Slice input() const { return group().input; }
  Slice output() const { return group().output; }
  // Part `index` of `parts` nearly equal parts of a slice; parts of parts compose.
  static Slice part(const Slice& whole, uint32_t index, uint32_t parts) {
    return parts_of(whole, index, index + 1, parts);
  }
  // The block of rank `index` of the group: part `index` of `size()`, unless the group was entered with cuts.
  Slice input_block(uint32_t index) const { return block(input(), group().input_cuts, index); }
  Slice output_block(uint32_t index) const { return block(output(), group().output_cuts, index); }
  // Parts [first, last) of `parts`.
  static Slice parts_of(const Slice& whole, uint32_t first, uint32_t last, uint32_t parts);

  // A new scratch area with room for any slice no longer than `like`; a row, if `like` is of one.
  uint8_t scratch_area(const Slice& like);
  // All of a new scratch area that holds these blocks side by side.
  Slice scratch_row(std::vector<uint64_t> blocks);
  // The slice of the area that stands for `part`, where the slice `base` stands at the area's beginning.
  // With base == part, the area holds one segment at a time.
  static Slice in_scratch(uint8_t area, const Slice& part, const Slice& base);

  // --- two-sided steps ------------------------------------------------------------------------------------
  void begin_stage();
  void end_stage();
  void send(uint32_t peer, const Slice& source);
  void receive(uint32_t peer, const Slice& destination);
  // destination = incoming (op) local when incoming_left, else local (op) incoming.
  void receive_combine(uint32_t peer, const Slice& local, const Slice& destination, bool incoming_left);

  // --- by multicast -------------------------------------------------------------------------------------------
  // To all ranks that take the first of it and of a message; it may come to some of them or to none. `at_a_time`: as
  // many ranks may multicast at once, who share the room that receivers have.
  void multicast(const Slice& source, uint32_t at_a_time = 1);
  // A message to a rank that takes it by first_of().
  void pass_on(uint32_t peer, const Slice& source);
  // From now on the next multicast of `multicaster` may write to `destination`, which a first_of() takes later. A plan
  // that has such steps is a row of multicasts: it expects all that it takes before it takes the first, and takes them
  // in that order, with one peer for all; it passes on to one peer. Its pass_on() may be over before the peer has the
  // message, so that what is passed on stays as it is until the last one, which waits for all of them.
  void expect(uint32_t multicaster, const Slice& destination);
  // The next multicast of `multicaster` or the next message of `peer`, whichever comes first; both bring the same.
  void first_of(uint32_t peer, uint32_t multicaster, const Slice& destination);

  // --- one-sided steps on slots -----------------------------------------------------------------------------
  // Versions count from 1 per slot and rank within a call (within enter_group: since it was entered).
  void publish(uint8_t slot, const Slice& source);
  void expose(uint8_t slot, const Slice& destination);
  // What of the peer's publication is meant: everything, or `part` where the peer published `whole`
  // (both as slices of the same buffer).
  struct From {
    uint32_t peer = 0;
    uint8_t slot = 0;
    uint32_t version = 1;
    Slice part = {};  // buffer kNone: everything
    Slice whole = {};
  };
  void get(const From& from, const Slice& destination);
  void put(const From& to, const Slice& source);
  // destination = published (op) local when incoming_left, else local (op) published.
  void combine_from(const From& from, const Slice& local, const Slice& destination, bool incoming_left);

  // --- counters ---------------------------------------------------------------------------------------------
  void add(uint32_t peer, uint8_t counter, uint32_t value = 1);
  void wait_until(uint8_t counter, uint32_t value);
  // Says how much peers add to this rank's own counter in this call. Needed once per own counter in use.
  void own_total(uint8_t counter, uint32_t total);
  void add_shared(uint8_t counter, uint32_t value = 1);
  void wait_until_shared(uint8_t counter, uint32_t value);
  // Says how much all ranks together add to the shared counter; every rank must say the same.
  void shared_total(uint8_t counter, uint32_t total);

  // --- local steps --------------------------------------------------------------------------------------------
  // Nothing where source and destination are the same slice.
  void copy(const Slice& source, const Slice& destination);
  // destination = source (op) destination when source_left, else destination (op) source.
  void combine(const Slice& source, const Slice& destination, bool source_left);

  // --- by engines --------------------------------------------------------------------------------------------
  // Stands for messages to other nodes that a NIC engine carries out: no algorithm's, but a communicator's.
  void trigger(const Slice& source, const Slice& destination);

  // --- composition ------------------------------------------------------------------------------------------
  // Until leave_group(), the builder speaks to an inner algorithm about a group: its rank i is ranks[i] of the
  // outer group, its buffers are the two slices. This rank must be one of `ranks`. `slot_base` and `counter_base`
  // are the first numbers that the outer algorithm doesn't use; every member must give the same. Their numbers must
  // not have been used before in this plan, so that the inner algorithm's versions and totals begin afresh.
  // Shared counters belong to a node: within a group that isn't a whole node they can't be used.
  struct GroupOptions {
    std::vector<uint32_t> ranks;
    // Instead of `ranks`, where many plans have the same large group: what they share, ascending, which stays until
    // the group is left.
    std::span<const uint32_t> shared_ranks = {};
    uint32_t root = 0;  // in the group's numbering
    uint32_t segments = 1;
    uint32_t degree = 0;
    Slice input = {};
    Slice output = {};
    uint8_t slot_base = 0;
    uint8_t counter_base = 0;
    // Where blocks of unequal lengths begin, and the last ends: block i is parts [cuts[i], cuts[i+1]) of cuts.back().
    // Empty: they are equal. For algorithms that ask for input_block() and output_block() only.
    std::vector<uint32_t> input_cuts = {};
    std::vector<uint32_t> output_cuts = {};
    // The scratch areas that are made within serve what comes after as well. For algorithms that only send messages:
    // what is published may be read until the call ends.
    bool lends_scratch = false;
  };
  void enter_group(const GroupOptions& options);
  void leave_group();

  Plan finish();

 private:
  struct Group {
    Shape shape;
    Slice input = {};
    Slice output = {};
    bool is_whole = false;  // all ranks of the plan, in their order: so that a plan of one of a million is short
    std::span<const uint32_t> ranks;  // ranks of the plan, if not
    std::vector<uint32_t> own_ranks;  // these, where nobody else keeps them
    const Nodes* nodes = nullptr;
    mutable std::shared_ptr<const Nodes> own_nodes;  // where the shape has none: once they are asked for
    std::vector<uint32_t> input_cuts;
    std::vector<uint32_t> output_cuts;
    uint32_t slot_base = 0;
    uint32_t counter_base = 0;
    bool lends_scratch = false;
    std::vector<uint8_t> made;  // scratch areas
  };
  const Group& group() const { return groups_.back(); }
  void add_ranks(Group& inner, const GroupOptions& options) const;
  Step& append(StepKind kind);
  Step& append_two_sided(StepKind kind, uint32_t peer);
  Step& append_one_sided(StepKind kind, const From& from);
  Step& append_publication(StepKind kind, uint8_t slot);
  Step& append_counter(StepKind kind, uint8_t counter, uint32_t value);
  uint32_t plan_rank(uint32_t group_rank) const;
  // nullptr: the area is no part of a row.
  std::shared_ptr<const std::vector<uint64_t>> row_of(uint8_t area) const;
  uint8_t add_area(const ScratchArea& area, std::shared_ptr<const std::vector<uint64_t>> row);
  uint32_t plan_multicaster(uint32_t group_rank) const;
  uint8_t plan_slot(uint8_t slot);
  uint8_t plan_counter(uint8_t counter);
  bool is_node(const std::vector<uint32_t>& ranks) const;
  void require_whole_node() const;
  Slice block(const Slice& whole, const std::vector<uint32_t>& cuts, uint32_t index) const;
  static void give_nodes(Group& group);

  Plan plan_;
  mutable bool was_asked_for_nodes_ = false;
  std::deque<Group> groups_;  // so that shape() and nodes() stay where they are while groups are entered and left
  std::vector<uint8_t> free_areas_;
  bool in_stage_ = false;
  size_t stage_begin_ = 0;
  uint32_t publications_[kMaxSlots] = {};
  uint32_t counters_used_ = 0;  // counters 0 .. counters_used_-1 have been named
};

}  // namespace hocket::schedule
