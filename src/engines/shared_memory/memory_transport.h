// SPDX-License-Identifier: BSD-3-Clause
// Carries out the steps of one call at a time over memory that the ranks share.
//
// Calls of a lane are numbered from 1, alike on all ranks. Slots and counters exist kSets times, call n using set
// n mod kSets; a rank touches those of call n only when every rank has finished call n - kSets. That is what
// replaces a barrier at the end of each call: successive calls of any mix never interfere, and a rank may run kSets
// calls ahead. Usually the check costs nothing, because completing a barrier or an allreduce tells that all
// ranks have finished the call before it.
//
// Invariants
//   known_finished_ and Pair::finished of a peer <= finished of that rank
//   a slot buffer is reused only when every rank has finished the call that filled it
//   user memory that was published in place is not read by anybody once finish() has said kDone
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assertion.h"
#include "base/status.h"
#include "engines/executor/transport.h"
#include "engines/shared_memory/group.h"
#include "engines/shared_memory/staging.h"

namespace hocket::engines::shared_memory {

// What the counters of a lane's sets held when their last call was over, of as many as any call has used: most use none
// or one.
class CounterBases {
 public:
  void have(uint32_t counters) {
    if (counters * kSets > values_.size()) [[unlikely]]
      values_.resize(size_t{counters} * kSets);
  }
  uint64_t& of(uint32_t set, uint32_t counter) {
    HOCKET_ASSERT(counter * kSets + set < values_.size(), "a call says how many counters it uses");
    return values_[counter * kSets + set];
  }

 private:
  std::vector<uint64_t> values_;
};

class MemoryTransport final : public Transport {
 public:
  // Has the region keep what a lane's first staging buffers take, for the lane that is made next.
  static Status promise_staging(platform::SharedRegion& region);
  static void redeem_staging(platform::SharedRegion& region);
  // `index` < kLanes. Fails when there is no memory that the first staging buffers could be taken from.
  static Result<std::unique_ptr<MemoryTransport>> create(NodeGroup& group, uint32_t index);
  // The same after promise_staging(), which can't fail.
  static std::unique_ptr<MemoryTransport> create_promised(NodeGroup& group, uint32_t index);
  ~MemoryTransport() override;
  // Leaves this lane's memory to the region: peers may still use it.
  void abandon();

  void begin(const Program& program) override;
  Progress run(const Instruction& step, StepState& state, const Operands& operands) override;
  Progress finish() override;

  // Scratch memory for the next call, in the region so that it can be published in place. nullptr: not yet, peers
  // still read what an earlier call published there. Fails when the region has no room for it.
  Result<std::byte*> take_scratch(uint64_t bytes);

  // The call that begins now. Those of a lane count from 1, as this rank goes through them, each once however many
  // programs it has.
  // `shape`: the signature without the operation.
  void announce(const CallSignature& shape, uint64_t hash_of_shape, uint64_t operation) {
    history_.add(hash_of_shape, operation);
    mark_ = history_.mark();
    unit_ = history_.unit();
    ++announced_;
    mine_->records[announced_ % kSets].write(announced_ / kSets, shape, operation);
  }
  uint64_t announced() const { return announced_; }
  // What the rank at `place` has announced as number `number`. False: it hasn't yet, or it was long ago.
  bool read_record(uint32_t place, uint64_t number, CallSignature& signature) const {
    return lanes_[place]->records[number % kSets].read(number / kSets, signature);
  }

  // The rank has come to the call that it will announce next. While calls are timed only.
  void note_arrival(uint64_t came_ns) {
    const uint64_t number = announced_ + 1;
    mine_->arrivals[number % kSets].write(number / kSets, came_ns);
  }
  // When the rank at `place` came to call `number`; 0: it hasn't, or it was long ago, or it doesn't time its calls.
  uint64_t arrival_of(uint32_t place, uint64_t number) const {
    return lanes_[place]->arrivals[number % kSets].read(number / kSets);
  }

  // Whether the rank at `place` has done all of a call's steps. Relaxed: for reports only.
  bool has_finished(uint32_t place, uint64_t number) const {
    return lanes_[place]->finished.load(std::memory_order_relaxed) >= number;
  }

  // Whether the last look for a publication found its owner just writing it.
  bool peer_is_writing() const { return peer_is_writing_; }

  // A step can't be done, now or ever: the call ends with the failure.
  bool has_failed() const { return !failure_.is_ok(); }
  Status take_failure() { return std::exchange(failure_, Status::ok()); }

  // What a rank waits for that sleeps in this step, as RankBlock::awaits.
  uint32_t awaits(const Instruction& step) const;

 private:
  struct Pair {  // what this rank knows of its exchange with one peer
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t consumed = 0;               // of what was sent, as last seen
    uint64_t finished = 0;               // calls that it is known to have finished
    const StepState* sending = nullptr;  // the step whose message is under way; later ones wait for it
    const StepState* receiving = nullptr;
  };
  struct Scratch {
    std::byte* memory = nullptr;
    uint64_t bytes = 0;
    uint64_t call = 0;  // the last that published from it; 0: none
  };

  MemoryTransport(NodeGroup& group, uint32_t index);

  bool enter_set();
  bool all_finished(uint64_t call) { return known_finished_ >= call || find_finished(call); }
  bool find_finished(uint64_t call);
  // A rank that has started a call has finished the one before. Its data shows this at no cost, so this rank seldom
  // reads the line in which the peer reports it. Relaxed: the acquire by which its data came orders the store before.
  void has_started(uint32_t peer) {
    HOCKET_ASSERT(lanes_[peer]->finished.load(std::memory_order_relaxed) >= call_ - 1,
                  "a peer has finished what is known of it as finished");
    if (pairs_[peer].finished < call_ - 1) pairs_[peer].finished = call_ - 1;
  }
  uint32_t set() const { return static_cast<uint32_t>(call_ % kSets); }

  Progress publish(const Instruction& step, const Operands& operands);
  Progress expose(const Instruction& step, const Operands& operands);
  // Whether a line is of a rank that is or was in another call than this one; then nothing of it is used.
  bool is_of_other_call(const Instruction& step, uint64_t location) {
    if ((location & kMarkBits) == 0) [[likely]]
      return false;
    fail_by_other_call(step.peer);
    return true;
  }
  void fail_by_other_call(uint32_t peer);
  void fail_without_memory();
  Progress refuse(const Instruction& step);
  // The line of what the step wants to read or write, or nullptr while it is not published.
  const SlotLine* published(const Instruction& step);
  Progress get(const Instruction& step, const Operands& operands);
  Progress put(const Instruction& step, const Operands& operands);
  Progress combine_from(const Instruction& step, const Operands& operands);
  // Reads or combines `bytes` that lie at `location`, `done` bytes into the step's slice.
  // kPending if it could not be read, which it never will: the group has been reported broken.
  Progress take_in(const Instruction& step, const Operands& operands, uint64_t location, uint64_t offset, uint64_t done,
                   uint64_t bytes);
  // Where something is mapped here that lies at this location, no foreign one; nullptr: it can't be, and the call
  // fails.
  std::byte* at(uint32_t peer, uint64_t offset, uint64_t bytes) {
    const Member& owner = group_.member(peer);
    return offset + bytes <= owner.window.bytes ? owner.window.base + offset : reach(peer, offset, bytes);
  }
  std::byte* reach(uint32_t peer, uint64_t offset, uint64_t bytes);
  StagingBuffer* slot_buffer(uint8_t slot);
  bool publishes_in_place(const Instruction& step, const std::byte* memory) const;
  void write_slot(const Instruction& step, uint64_t location);

  Progress send(const Instruction& step, StepState& state, const Operands& operands);
  Progress send_fragments(const Instruction& step, StepState& state, const Operands& operands, uint64_t fragment);
  Progress receive(const Instruction& step, StepState& state, const Operands& operands);
  bool has_room(uint32_t peer);
  bool is_consumed(uint32_t peer, uint64_t serial);
  StagingBuffer* mail_buffer(uint32_t peer, bool is_short);
  bool is_expected(const Instruction& step, const StepState& state, const MailLine& line, uint64_t location);
  uint64_t reachable_location(const std::byte* data, uint64_t bytes);
  void post(uint32_t peer, uint64_t location, uint64_t bytes, uint64_t total);
  void post_inline(uint32_t peer, const std::byte* payload, uint64_t bytes, bool is_whole);
  void post_line(uint32_t peer, MailLine& line);

  Progress add(const Instruction& step);
  Progress wait_until(const Instruction& step);

  NodeGroup& group_;
  LaneBlock* mine_;
  LaneBlock* root_;
  std::vector<LaneBlock*> lanes_;
  std::vector<Pair> pairs_;
  StagingPool slot_staging_;
  StagingPool mail_staging_;
  StagingPool short_mail_staging_;

  const Program* program_ = nullptr;
  uint64_t call_ = 0;
  uint64_t announced_ = 0;
  CallHistory history_;
  uint64_t mark_ = 0;
  uint64_t unit_ = 1;
  uint64_t known_finished_ = 0;
  bool entered_ = false;
  bool finished_reported_ = false;
  bool peer_is_writing_ = false;
  Status failure_;
  bool lingers_ = false;  // published the caller's own memory, which must be left alone before we return
  bool holds_ = false;    // any of:
  StagingBuffer* held_[schedule::kMaxSlots] = {};
  std::unique_ptr<std::byte[]> bounce_;  // foreign memory on its way into a combination
  Scratch scratch_[2];
  Scratch* current_scratch_ = nullptr;
  CounterBases own_bases_;
  CounterBases shared_bases_;
};

}  // namespace hocket::engines::shared_memory
