// SPDX-License-Identifier: BSD-3-Clause
// The end of a communicator. A rank may free its memory only when no peer will touch it again, not even to look whether
// it sleeps; and it waits for that as little as for anything else, since MPI_Comm_free is local.
//
// All of a node count themselves out on its first rank, twice: the first time says "I touch nobody's memory but this
// counter", for a rank's calls are over when it leaves, and nothing in a peer's needs it any more; the second "nor the
// counter". Between nodes a barrier comes before, begun when the rank leaves: tags are used again when all are through
// with them, NIC engines answer those who have missed a message, and what came second is on its way.
#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/log.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

using engines::Progress;

Status Communicator::leave() {
  if (ending_ != Ending::kOpen) return Status::ok();
  if (unfinished_ != 0) {
    return Status(Code::kInvalidArgument, "the communicator has " + std::to_string(unfinished_) +
                                              " requests that have not been tested or waited for to their end");
  }
  if (size_ == 1) {
    ending_ = Ending::kQuiet;
  } else if (broken_) {
    ending_ = Ending::kLost;
  } else if (nodes_ == nullptr) {
    ending_ = count_out(0, Ending::kLeaving);
  } else {
    const Prepared* barrier = nullptr;
    const Status prepared = prepare(last_, blocking_, barrier, nullptr);
    if (prepared.is_ok()) blocking_.start(last_, *barrier);
    ending_ = prepared.is_ok() ? Ending::kBarrier : Ending::kLost;
  }
  return Status::ok();
}

bool Communicator::has_left() {
  for (;;) {
    const Ending before = ending_;
    switch (ending_) {
      case Ending::kBarrier:
        ending_ = after_barrier();
        break;
      case Ending::kLeftovers:
        if (!has_leftovers()) ending_ = broken_ ? Ending::kLost : count_out(0, Ending::kLeaving);
        break;
      case Ending::kLeaving:
        ending_ = count_out(ranks_here(), Ending::kAllLeaving);
        break;
      case Ending::kAllLeaving:
        ending_ = group_->rank() != 0 ? Ending::kQuiet : count_out(2 * ranks_here(), Ending::kQuiet);
        break;
      default:
        return true;
    }
    if (ending_ == before) return false;
  }
}

Communicator::Ending Communicator::after_barrier() {
  Track& track = *tracks_[0];
  Status failure;
  track.poll();
  if (!broken_ && blocking_.advance(track, failure) == Progress::kPending) {
    look_for_failure_now_and_then();
    return broken_ ? Ending::kLost : Ending::kBarrier;
  }
  if (!failure.is_ok()) (void)fail(std::move(failure));
  // What others have told while they waited, before they came to the barrier: not all MPIs end with messages left.
  if (!broken_) words_->drop_all();
  return broken_ ? Ending::kLost : Ending::kLeftovers;
}

// Messages that came second and that no call has waited for: their senders have been in the barrier, so they come.
// Nobody else may get them.
bool Communicator::has_leftovers() {
  bool has_some = false;
  for (auto& track : tracks_) {
    if (track == nullptr) continue;
    track->poll_leftovers();
    if (track->has_failed()) (void)fail(track->take_failure());
    has_some = has_some || track->has_leftovers();
  }
  if (has_some && !broken_) look_for_failure_now_and_then();
  return has_some && !broken_;
}

// When `needed` have been counted: counts this rank, but for the last time, and comes to `next`.
Communicator::Ending Communicator::count_out(uint32_t needed, Ending next) {
  auto& left = group_->member(0).block->left;
  // Acquire: pairs with the ranks' fetch_add below.
  if (left.load(std::memory_order_acquire) < needed) {
    if (!has_lost_peer() || left.load(std::memory_order_acquire) >= needed) return ending_;
    return Ending::kLost;
  }
  // Release: all that this rank has done to others' memory.
  if (next != Ending::kQuiet) left.fetch_add(1, std::memory_order_acq_rel);
  return next;
}

// A peer that has counted itself out may have gone since: only what is counted after this look tells. Nobody is told:
// memory of who has left may be in use again.
bool Communicator::has_lost_peer() {
  const auto now = static_cast<int64_t>(now_ns());
  if (now < next_look_ns_) return false;
  next_look_ns_ = now + kFailureCheckNs;
  if (group_->broken() != 0) return true;
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& peer) { return peer != nullptr && !peer->is_alive(); });
}

Status Communicator::close() {
  constexpr int64_t kShortestPauseNs = 10'000;
  constexpr int64_t kLongestPauseNs = 1'000'000;
  HOCKET_TRY(leave());
  for (int64_t pause_ns = kShortestPauseNs; !has_left(); pause_ns = std::min(pause_ns * 2, kLongestPauseNs)) {
    context_.progress();
    const timespec pause{0, pause_ns};
    nanosleep(&pause, nullptr);
  }
  return Status::ok();
}

}  // namespace hocket::communicator
