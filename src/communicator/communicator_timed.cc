// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls while calls are timed.
#include <utility>

#include "communicator/communicator.h"
#include "communicator/timing/call_timer.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::RankBlock;

// The same with a look at the clock before and after each look at the call.
Status Communicator::run_timed(const Arguments& arguments) {
  CallTimer timer(participants_, tracks_.first().lane(), traced_name(arguments.collective, context_.vocabulary()));
  const Watched watched(blocking_, timer.watch());
  const Prepared* prepared = nullptr;
  HOCKET_TRY(prepare(arguments, blocking_, prepared, nullptr));
  blocking_.start(arguments, *prepared);
  note_call(*prepared);
  if (Status failure = complete_timed(timer); !failure.is_ok()) {
    timer.note_failure();
    return failure;
  }
  timer.end(*prepared, context_.vocabulary());
  return Status::ok();
}

Status Communicator::complete_timed(CallTimer& timer) {
  Status failure;
  Track& track = tracks_.first();
  wait_.arrive();
  const auto is_done = [&] {
    timer.look_begins();
    track.poll();
    const uint64_t before = blocking_.position();
    const bool done = blocking_.advance(track, failure) == Progress::kDone;
    timer.look_ends(done || blocking_.position() != before);
    return done;
  };
  if (!is_done()) {
    HOCKET_TRY(wait_.until(is_done,
                           [&] { return requests_.running() == 0 ? blocking_.awaits(track) : RankBlock::kAnything; }));
  }
  return failure.is_ok() ? Status::ok() : failure_.fail(std::move(failure));
}

}  // namespace hocket::communicator
