// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/mismatch.h"

#include <sched.h>

#include <utility>

namespace hocket::communicator {

using engines::shared_memory::first_remembered;
using engines::shared_memory::RankBlock;

// A rank may be many calls ahead of another, and some calls end though ranks are in different ones.
std::string MismatchFinder::find() const {
  const uint32_t ranks = participants_.ranks_here();
  for (uint32_t index = 0; index < Tracks::kMost; ++index) {
    const Track* track = tracks_.find(index);
    if (track == nullptr) continue;
    const engines::shared_memory::MemoryTransport& lane = track->lane();
    const uint64_t last = lane.announced();
    for (uint64_t number = first_remembered(last); number <= last; ++number) {
      CallSignature first, other;
      uint32_t first_place = ranks;
      for (uint32_t place = 0; place < ranks; ++place) {
        if (!lane.read_record(place, number, other)) continue;
        if (first_place == ranks) {
          first_place = place;
          first = other;
        } else if (other != first) {
          return describe_difference(participants_.rank_at(first_place), first, participants_.rank_at(place), other,
                                     vocabulary_);
        }
      }
    }
  }
  return {};
}

Status MismatchFinder::agreed() const {
  std::string reason = participants_.group->reason();
  if (reason.empty()) return Status::ok();
  return {participants_.group->broken() == RankBlock::kLate ? Code::kTimeout : Code::kMismatch, std::move(reason)};
}

Status MismatchFinder::agree(Status status, bool is_known) const {
  engines::shared_memory::NodeGroup& group = *participants_.group;
  HOCKET_TRY(agreed());
  const std::string difference = is_known ? std::string() : find();
  if (!difference.empty()) status = Status(Code::kMismatch, difference);
  group.report_reason(status.code() == Code::kTimeout ? RankBlock::kLate : RankBlock::kMismatch, status.message());
  // Another may be about to: it has nothing to do in between.
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks && group.broken() == 0; ++look) sched_yield();
  HOCKET_TRY(agreed());
  return status;
}

}  // namespace hocket::communicator
