// SPDX-License-Identifier: BSD-3-Clause
// One collective call of one rank on its way: a check of the arguments if wanted, then its programs one by one.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "communicator/calls/arguments.h"
#include "communicator/calls/call_blocks.h"
#include "communicator/calls/planner.h"
#include "communicator/calls/told_lengths.h"
#include "communicator/track.h"
#include "engines/executor/execution.h"

namespace hocket::communicator {

class Call {
 public:
  // Of a vector version, before start(): works out what `blocks()` tells. `kept`: the arrays may go before the call
  // ends.
  void read_blocks(const Arguments& arguments, uint32_t size, bool kept) { blocks_.read(arguments, size, kept); }
  void read_blocks(const Arguments& arguments, const schedule::Neighbours& neighbours, uint32_t rank, bool kept) {
    blocks_.read_among_neighbours(arguments, static_cast<uint32_t>(neighbours.destinations(rank).size()),
                                  static_cast<uint32_t>(neighbours.sources(rank).size()), kept);
  }
  const CallBlocks& blocks() const { return blocks_; }
  // Both must live until the call is done; pass ownership of the programs where no other object keeps them.
  void start(const Arguments& arguments, const Prepared& prepared, std::shared_ptr<const Prepared> keep = nullptr);
  // Of one that is over, with programs that it keeps itself.
  void start_again() { start(*arguments_, *prepared_, std::move(keep_)); }
  bool keeps(const Prepared& prepared) const { return keep_ != nullptr && prepared_ == &prepared; }
  // While calls are traced, of one that doesn't run. nullptr: nobody any more.
  void be_watched_by(engines::StepWatch* watch) { execution_.operands().watch = watch; }
  // Of the one that runs, as tables name it; lives as long as the process.
  const char* algorithm_name() const {
    return prepared_->choice.algorithm != nullptr ? prepared_->choice.algorithm->name.data() : "";
  }
  // Does what can be done now. A failure is stored in `failure`; it ends the call and breaks its communicator.
  engines::Progress advance(Track& track, Status& failure);
  // Changes when the call has come a stage further.
  uint64_t position() const { return (next_ << 32) + execution_.position(); }
  // After advance() said kPending: this call waits for an engine only, which has started it, so that the next one
  // on the same track may be started.
  bool lets_next_start() const {
    return prepared_->runs_by_itself && prepared_->last.scratch_bytes == 0 && execution_.has_started_step();
  }
  // What to sleep for after advance() said kPending, as RankBlock::awaits.
  uint32_t awaits(Track& track) const {
    const engines::Instruction* step = execution_.waiting_step();
    const bool is_known = step != nullptr && step->carrier == engines::kSharedMemory;
    return is_known ? track.lane().awaits(*step) : engines::shared_memory::RankBlock::kAnything;
  }

 private:
  // Tells peers which call this is.
  void announce(Track& track);
  // kPending: not yet, peers still use the memory it needs.
  engines::Progress start_next(Track& track, Status& failure);
  void start_with_blocks();
  // What comes before the programs, where blocks are passed on whose lengths ranks see for themselves: they ask how
  // many messages there are, and tell lengths.
  void begin_by_lengths();
  void go_by_survey();
  const engines::Program& take_survey();
  const engines::Program& tell_lengths();
  // The next of them, with the buffers where its operands lie.
  const engines::Program& next_program();

  const Arguments* arguments_ = nullptr;
  const std::byte* input_ = nullptr;  // the arguments', or the copy of it that was made first
  const Prepared* prepared_ = nullptr;
  std::shared_ptr<const Prepared> keep_;
  uint64_t next_ = 0;  // which of the programs
  bool is_announced_ = false;
  enum class Next : uint8_t { kSurvey, kDecision, kLengths, kPrograms };
  Next what_ = Next::kPrograms;
  const schedule::Plan* plan_ = nullptr;  // of prepared_ or its survey
  engines::Execution execution_;
  CallBlocks blocks_;
  ToldLengths lengths_;
  MessageSurvey survey_;
  engines::Program bound_;  // of prepared_->plan
};

}  // namespace hocket::communicator
