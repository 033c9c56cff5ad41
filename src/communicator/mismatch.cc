// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are in different calls: who has waited for long compares what the ranks of its node have announced, and
// who finds a difference, by that or in a line that came, has all ranks end with one sentence.
#include <sched.h>

#include "communicator/call_words.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

using engines::shared_memory::first_remembered;
using engines::shared_memory::RankBlock;

// The first call in which two ranks of this node differ, as far as they remember; "": none. A rank may be many calls
// ahead of another, and some calls end though ranks are in different ones.
std::string Communicator::find_difference() const {
  for (const auto& track : tracks_) {
    if (track == nullptr) continue;
    const engines::shared_memory::Lane& lane = track->lane();
    const uint64_t last = lane.announced();
    for (uint64_t number = first_remembered(last); number <= last; ++number) {
      CallSignature first, other;
      uint32_t first_place = ranks_here();
      for (uint32_t place = 0; place < ranks_here(); ++place) {
        if (!lane.read_record(place, number, other)) continue;
        if (first_place == ranks_here()) {
          first_place = place;
          first = other;
        } else if (other != first) {
          return describe_difference(rank_at(first_place), first, rank_at(place), other, context_.vocabulary());
        }
      }
    }
  }
  return {};
}

// Only while a call goes on here is all memory of the peers still theirs.
Status Communicator::find_trouble() {
  HOCKET_TRY(find_failure());
  std::string difference = find_difference();
  if (difference.empty() && nodes_ != nullptr) difference = ask_whom_it_waits_for();
  return difference.empty() ? Status::ok() : Status(Code::kMismatch, std::move(difference));
}

// Of all sentences about it the first counts, which is told here and on the other ranks of the node.
Status Communicator::agree_on_mismatch(Status status) {
  if (std::string told = group_->mismatch(); !told.empty()) return {Code::kMismatch, std::move(told)};
  const std::string difference = mismatch_is_known_ ? std::string() : find_difference();
  if (!difference.empty()) status = Status(Code::kMismatch, difference);
  group_->report_mismatch(status.message());
  // Another may be about to: it has nothing to do in between.
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks && group_->broken() == 0; ++look) sched_yield();
  std::string told = group_->mismatch();
  return told.empty() ? std::move(status) : Status(Code::kMismatch, std::move(told));
}

}  // namespace hocket::communicator
