// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/closing.h"

#include <utility>

namespace hocket::communicator {

using engines::Progress;

void Closing::begin(Call* barrier) {
  barrier_ = barrier;
  if (participants_.size == 1)
    stage_ = Stage::kQuiet;
  else if (failure_.is_broken())
    stage_ = Stage::kLost;
  else if (!participants_.span_nodes())
    stage_ = count_out(0, Stage::kLeaving);
  else
    stage_ = barrier != nullptr ? Stage::kBarrier : Stage::kLost;
}

bool Closing::is_over() {
  const uint32_t ranks = participants_.ranks_here();
  for (;;) {
    const Stage before = stage_;
    switch (stage_) {
      case Stage::kBarrier:
        stage_ = after_barrier();
        break;
      case Stage::kLeftovers:
        if (!has_leftovers()) stage_ = failure_.is_broken() ? Stage::kLost : count_out(0, Stage::kLeaving);
        break;
      case Stage::kLeaving:
        stage_ = count_out(ranks, Stage::kAllLeaving);
        break;
      case Stage::kAllLeaving:
        stage_ = participants_.group->rank() != 0 ? Stage::kQuiet : count_out(2 * ranks, Stage::kQuiet);
        break;
      default:
        return true;
    }
    if (stage_ == before) return false;
  }
}

Closing::Stage Closing::after_barrier() {
  Status failure;
  tracks_.first().poll();
  if (!failure_.is_broken() && barrier_->advance(tracks_.first(), failure) == Progress::kPending)
    return failure_.look_now_and_then() ? Stage::kLost : Stage::kBarrier;
  if (!failure.is_ok()) (void)failure_.fail(std::move(failure));
  if (failure_.is_broken()) return Stage::kLost;
  // What others have reported while they waited, before they came to the barrier.
  failure_.drop_reports();
  return Stage::kLeftovers;
}

// Messages that came second and that no call has waited for: their senders have been in the barrier, so they come.
// No other rank may get them.
bool Closing::has_leftovers() {
  bool has_some = false;
  tracks_.for_each([&](Track& track) {
    track.poll_leftovers();
    if (track.has_failed()) (void)failure_.fail(track.take_failure());
    has_some = has_some || track.has_leftovers();
  });
  if (has_some && !failure_.is_broken()) (void)failure_.look_now_and_then();
  return has_some && !failure_.is_broken();
}

// When `needed` have been counted: counts this rank, but for the last time, and comes to `next`.
Closing::Stage Closing::count_out(uint32_t needed, Stage next) {
  auto& left = participants_.group->member(0).block->left;
  // Acquire: pairs with the ranks' fetch_add below.
  if (left.load(std::memory_order_acquire) < needed) {
    // A peer that has counted itself out may have gone since: only what is counted after this look tells.
    if (!failure_.has_lost_peer() || left.load(std::memory_order_acquire) >= needed) return stage_;
    return Stage::kLost;
  }
  // Release: all that this rank has done to others' memory.
  if (next != Stage::kQuiet) left.fetch_add(1, std::memory_order_acq_rel);
  return next;
}

}  // namespace hocket::communicator
