// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/call.h"

namespace hocket::communicator {

using engines::Progress;
using schedule::Buffer;

void Call::start(const Arguments& arguments, const Prepared& prepared, std::shared_ptr<const Prepared> keep) {
  arguments_ = &arguments;
  prepared_ = &prepared;
  keep_ = std::move(keep);
  next_ = 0;
  if (execution_.is_running()) [[unlikely]]
    execution_.abandon();
}

// Where a collective has no such buffer there is no address to count from.
static std::byte* beyond(std::byte* buffer, uint64_t bytes) { return buffer == nullptr ? nullptr : buffer + bytes; }

Progress Call::start_next(engines::shared_memory::Lane& lane, Status& failure) {
  const selection::Choice& choice = prepared_->choice;
  const engines::Program& program = next_ + 1 < choice.calls ? prepared_->chunk : prepared_->last;
  engines::Operands& operands = execution_.operands();
  operands.combiner = &arguments_->combiner;
  const uint64_t done = next_ * choice.chunk_elements * arguments_->combiner.element_bytes;
  // The program never writes to the input; the operands' common type has no const.
  operands.base[static_cast<int>(Buffer::kInput)] = beyond(const_cast<std::byte*>(arguments_->input), done);
  operands.base[static_cast<int>(Buffer::kOutput)] = beyond(arguments_->output, done);
  if (program.scratch_bytes != 0) {
    Result<std::byte*> scratch = lane.take_scratch(program.scratch_bytes);
    if (!scratch.is_ok()) {
      failure = scratch.take_status();
      return Progress::kDone;
    }
    if (scratch.value() == nullptr) return Progress::kPending;
    operands.base[static_cast<int>(Buffer::kScratch)] = scratch.value();
  }
  execution_.start(program, lane);
  ++next_;
  return Progress::kDone;
}

Progress Call::advance(engines::shared_memory::Lane& lane, Status& failure) {
  for (;;) {
    if (!execution_.is_running()) {
      if (start_next(lane, failure) == Progress::kPending) return Progress::kPending;
      if (!failure.is_ok()) [[unlikely]]
        return Progress::kDone;
    }
    if (execution_.advance() == Progress::kPending) return Progress::kPending;
    if (next_ == prepared_->choice.calls) return Progress::kDone;
  }
}

}  // namespace hocket::communicator
