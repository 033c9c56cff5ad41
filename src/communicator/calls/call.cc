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
  what_ = Next::kPrograms;
  plan_ = prepared.plan ? &*prepared.plan : nullptr;
  if (prepared.has_block_a_rank) start_with_blocks();
  if (prepared.lengths) [[unlikely]]
    begin_by_lengths();
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

// Non-blocking calls, of which several may be under way, ask for nothing.
void Call::begin_by_lengths() {
  what_ = Next::kLengths;
  if (prepared_->survey == nullptr) return;
  if (keep_ == nullptr && survey_.is_due()) {
    what_ = Next::kSurvey;
  } else {
    go_by_survey();
  }
}

void Call::go_by_survey() {
  const bool by_itself = keep_ != nullptr || !survey_.are_many();
  what_ = by_itself ? Next::kPrograms : Next::kLengths;
  if (by_itself) plan_ = &prepared_->survey->flat;
}

const engines::Program& Call::take_survey() {
  survey_.count(*prepared_->plan, blocks_.part(0, ~uint64_t{0}), prepared_->longest_short);
  engines::Operands& operands = execution_.operands();
  operands.combiner = &MessageSurvey::combiner();
  operands.on_demand = nullptr;
  operands.base[static_cast<int>(Buffer::kInput)] = survey_.own();
  operands.base[static_cast<int>(Buffer::kOutput)] = survey_.all();
  return prepared_->survey->sum;
}

const engines::Program& Call::tell_lengths() {
  if (const schedule::Neighbours* told = prepared_->told.among.get())
    lengths_.write(prepared_->told.of, blocks_.part(0, ~uint64_t{0}), told->sources(plan_->shape.rank).size());
  else
    lengths_.write(*plan_, blocks_.part(0, ~uint64_t{0}));
  engines::Operands& operands = execution_.operands();
  operands.combiner = &arguments_->combiner;
  operands.on_demand = nullptr;
  operands.base[static_cast<int>(Buffer::kInput)] = lengths_.own();
  operands.base[static_cast<int>(Buffer::kOutput)] = lengths_.told();
  return *prepared_->lengths;
}

const engines::Program& Call::next_program() {
  execution_.operands().combiner = &arguments_->combiner;
  execution_.operands().on_demand = arguments_->on_demand;
  const selection::Choice& choice = prepared_->choice;
  const uint64_t first = next_ * choice.chunk_elements;
  const uint64_t element = arguments_->combiner.element_bytes;
  // The program never writes to the input; the operands' common type has no const.
  auto* input = const_cast<std::byte*>(input_);
  std::byte* output = arguments_->output;
  const engines::Program* program = &bound_;
  if (plan_ == nullptr) [[likely]] {
    program = next_ + 1 < choice.calls ? &prepared_->chunk : &prepared_->last;
    input = beyond(input, first * element);
    output = beyond(output, first * element);
  } else {
    const uint64_t most = choice.calls > 1 ? choice.chunk_elements : ~uint64_t{0};
    schedule::Extents extents = blocks_.part(first, most);
    if (prepared_->neighbours != nullptr) {
      if (!plan_->rows.empty())
        lengths_.lay_rows_of_neighbours(*plan_, prepared_->incoming, prepared_->passed, extents);
    } else if (prepared_->lengths || !plan_->rows.empty()) {
      lengths_.lay_rows(*plan_, prepared_->longest_short, extents);
    }
    engines::bind(*plan_, extents, element, bound_);
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
  if (what_ == Next::kDecision) {
    survey_.learn(prepared_->survey->most_few);
    go_by_survey();
  }
  // What can't be started yet comes again.
  const Next first = what_;
  const engines::Program& program = first == Next::kPrograms ? next_program()
                                    : first == Next::kSurvey ? take_survey()
                                                             : tell_lengths();
  engines::Operands& operands = execution_.operands();
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
  if (first == Next::kPrograms) ++next_;
  what_ = first == Next::kSurvey ? Next::kDecision : Next::kPrograms;
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
