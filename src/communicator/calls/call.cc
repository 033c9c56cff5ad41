// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/call.h"

namespace hocket::communicator {

using engines::Progress;
using schedule::Buffer;

void Call::start(const Arguments& arguments, const Prepared& prepared, std::shared_ptr<const Prepared> keep) {
  arguments_ = &arguments;
  prepared_ = &prepared;
  keep_ = std::move(keep);
  next_ = 0;
  is_announced_ = false;
  input_ = arguments.input;
  tells_lengths_ = prepared.lengths.has_value();
  if (prepared.has_block_a_rank) start_with_blocks();
  if (execution_.is_running()) [[unlikely]]
    execution_.abandon();
}

void Call::start_with_blocks() {
  const CallShape& shape = prepared_->shape;
  const uint32_t size = prepared_->size;
  if (prepared_->plan && !schedule::is_vector(shape.collective)) {
    blocks_.make_equal(shape.collective, shape.count, size);
  }
  if (arguments_->in_place && !runs_in_place(*arguments_)) input_ = blocks_.copy_input(*arguments_, size);
}

// Where a collective has no such buffer there is no address to count from.
static std::byte* beyond(std::byte* buffer, uint64_t bytes) { return buffer == nullptr ? nullptr : buffer + bytes; }

const engines::Program& Call::tell_lengths() {
  tells_lengths_ = false;
  lengths_.write(*prepared_->plan, blocks_.part(0, ~uint64_t{0}));
  engines::Operands& operands = execution_.operands();
  operands.on_demand = nullptr;
  operands.base[static_cast<int>(Buffer::kInput)] = lengths_.own();
  operands.base[static_cast<int>(Buffer::kOutput)] = lengths_.told();
  return *prepared_->lengths;
}

const engines::Program& Call::next_program() {
  execution_.operands().on_demand = arguments_->on_demand;
  const selection::Choice& choice = prepared_->choice;
  const uint64_t first = next_ * choice.chunk_elements;
  const uint64_t element = arguments_->combiner.element_bytes;
  // The program never writes to the input; the operands' common type has no const.
  auto* input = const_cast<std::byte*>(input_);
  std::byte* output = arguments_->output;
  const engines::Program* program = &bound_;
  if (!prepared_->plan) [[likely]] {
    program = next_ + 1 < choice.calls ? &prepared_->chunk : &prepared_->last;
    input = beyond(input, first * element);
    output = beyond(output, first * element);
  } else {
    const uint64_t most = choice.calls > 1 ? choice.chunk_elements : ~uint64_t{0};
    schedule::Extents extents = blocks_.part(first, most);
    if (prepared_->lengths || !prepared_->plan->rows.empty())
      lengths_.lay_rows(*prepared_->plan, prepared_->longest_short, extents);
    engines::bind(*prepared_->plan, extents, element, bound_);
    if (prepared_->engines != nullptr) prepared_->engines->assign(bound_);
    // Blocks know where they lie; a buffer of one block does not.
    if (extents.input == nullptr) input = beyond(input, first * element);
    if (extents.output == nullptr) output = beyond(output, first * element);
  }
  engines::Operands& operands = execution_.operands();
  operands.base[static_cast<int>(Buffer::kInput)] = input;
  operands.base[static_cast<int>(Buffer::kOutput)] = output;
  return *program;
}

void Call::announce(Track& track) {
  track.announce(prepared_->signature, prepared_->signature_hash,
                 operation_of(arguments_->combiner, arguments_->operation_name));
  is_announced_ = true;
}

Progress Call::start_next(Track& track, Status& failure) {
  if (!is_announced_) announce(track);
  const bool tells = tells_lengths_;
  const engines::Program& program = tells ? tell_lengths() : next_program();
  engines::Operands& operands = execution_.operands();
  operands.combiner = &arguments_->combiner;
  if (program.scratch_bytes != 0) {
    Result<std::byte*> scratch = track.lane().take_scratch(program.scratch_bytes);
    if (!scratch.is_ok()) {
      failure = scratch.take_status();
      return Progress::kDone;
    }
    if (scratch.value() == nullptr) return Progress::kPending;
    operands.base[static_cast<int>(Buffer::kScratch)] = scratch.value();
  }
  execution_.start(program, track.transport());
  if (!tells) ++next_;
  return Progress::kDone;
}

Progress Call::advance(Track& track, Status& failure) {
  for (;;) {
    if (!execution_.is_running()) {
      if (start_next(track, failure) == Progress::kPending) return Progress::kPending;
      if (!failure.is_ok()) [[unlikely]]
        return Progress::kDone;
    }
    if (execution_.advance() == Progress::kPending) {
      if (!track.has_failed()) [[likely]] {
        if (!track.has_just_started()) [[likely]]
          return Progress::kPending;
        // What was just asked for may have come already: a rank that shares the core needn't run first.
        track.poll();
        continue;
      }
      failure = track.take_failure();
      track.cancel();
      return Progress::kDone;
    }
    if (next_ == prepared_->choice.calls) return Progress::kDone;
  }
}

}  // namespace hocket::communicator
