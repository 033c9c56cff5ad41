// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/failure.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "platform/tracing/tracer.h"
#include "platform/whereabouts/metrics.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::communicator {

FailureDetector::FailureDetector(const Participants& participants, Tracks& tracks, carriers::Engines& engines,
                                 Vocabulary vocabulary, const LatePolicy& policy)
    : participants_(participants),
      tracks_(tracks),
      engines_(engines),
      mismatches_(participants, tracks, vocabulary),
      late_(participants, tracks, vocabulary, policy),
      nodes_(participants.span_nodes() ? std::make_unique<NodeReports>(participants, tracks, engines, vocabulary)
                                       : nullptr),
      ends_late_calls_(policy.ends_calls) {}

Status FailureDetector::fail(Status status) {
  tracks_.for_each([](Track& track) { track.cancel(); });
  if (is_broken_) return status;
  is_broken_ = true;
  const std::string own = status.message();
  if (MismatchFinder::is_for_all(status))
    status = mismatches_.agree(std::move(status), nodes_ != nullptr && nodes_->knows_mismatch());
  else if (participants_.group->broken() == 0)
    participants_.group->report_broken(participants_.rank);
  // First, since an MPI may not survive that its peers have ended. Who is late is said by one rank for all, and whole:
  // what all ranks agree on has a length.
  const bool is_late = status.code() == Code::kTimeout;
  if (!is_late || has_told_late_)
    HOCKET_LOG_ERROR("rank %u of %u: %s", participants_.rank, participants_.size,
                     is_late ? own.c_str() : status.message());
  if (nodes_ != nullptr && !others_know_) nodes_->report(status);
  reason_ = status.message();
  if (platform::Tracer* const tracer = platform::Tracer::current(); tracer != nullptr) tracer->ask_to_write();
  return status;
}

// The first that was reported, whatever else is found: ranks that have left because of it must not be taken for its
// cause.
Status FailureDetector::what_broke() const {
  HOCKET_TRY(mismatches_.agreed());
  const uint32_t rank = participants_.group->broken() - 1;
  std::string process;
  if (!participants_.is_here(rank))
    process = " (on another node)";
  else if (const auto& peer = participants_.peers[participants_.place_of(rank)]; peer != nullptr)
    process = " (process " + std::to_string(peer->address().process) + ")";
  return {Code::kPeerFailed,
          "rank " + std::to_string(rank) + process + " has ended or failed while others wait for it in a collective"};
}

Status FailureDetector::find_failure() {
  engines::shared_memory::NodeGroup& group = *participants_.group;
  if (group.broken() != 0) {
    Status reported = what_broke();
    // So have the others been; but engines learn of a failure from the rank that stands for the node.
    others_know_ = !engines_.reports_failures() || MismatchFinder::is_for_all(reported);
    return reported;
  }
  for (uint32_t place = 0; place < participants_.ranks_here(); ++place) {
    const auto& peer = participants_.peers[place];
    if (peer == nullptr || peer->is_alive()) continue;
    group.report_broken(participants_.rank_at(place));
    return what_broke();
  }
  if (nodes_ == nullptr) return Status::ok();
  HOCKET_TRY(tracks_.check());
  NodeReports::Received received = nodes_->receive();
  if (received.all_know) others_know_ = true;
  if (!received.status.is_ok()) return std::move(received.status);
  if (received.failed == NodeReports::kNoRank) return Status::ok();
  others_know_ = true;
  group.report_broken(received.failed);
  return what_broke();
}

// Only while a call goes on here is all memory of the peers still theirs.
Status FailureDetector::find_trouble() {
  HOCKET_TRY(find_failure());
  std::string difference = mismatches_.find();
  if (difference.empty() && nodes_ != nullptr) difference = nodes_->compare_with_awaited(now_ns());
  return difference.empty() ? Status::ok() : Status(Code::kMismatch, std::move(difference));
}

std::string FailureDetector::find_late_elsewhere(int64_t waited_ns) {
  const std::optional<uint32_t> track = late_.waits_for_others();
  if (!track) return {};
  const std::vector<uint32_t> absent = nodes_->absent(*track, now_ns());
  if (absent.empty()) return {};
  std::string sentence = late_.find_elsewhere(*track, absent, waited_ns);
  if (!sentence.empty()) nodes_->tell_late(*track);
  return sentence;
}

Status FailureDetector::look_for_late(int64_t waited_ns) {
  late_.publish(waited_ns);
  platform::write_metrics_when_due();
  if (!late_.is_due(waited_ns)) [[likely]]
    return Status::ok();
  // Each rank that waits, whoever of them says it.
  if (platform::Tracer* const tracer = platform::Tracer::current(); tracer != nullptr) tracer->ask_to_write();
  std::string sentence = late_.find(waited_ns);
  if (sentence.empty() && nodes_ != nullptr) sentence = find_late_elsewhere(waited_ns);
  if (sentence.empty()) return Status::ok();
  has_told_late_ = true;
  if (platform::Record* const record = platform::own_record(); record != nullptr)
    record->late_lines.fetch_add(1, std::memory_order_relaxed);
  if (ends_late_calls_) return {Code::kTimeout, sentence + "; HOCKET_LATE_ACTION=abort ends the call"};
  HOCKET_LOG_WARN("%s", sentence.c_str());
  return Status::ok();
}

void FailureDetector::end_wait(int64_t waited_ns) {
  LateFinder::withdraw();
  platform::Record* const record = platform::own_record();
  if (record == nullptr) return;
  record->waited_ns.fetch_add(static_cast<uint64_t>(waited_ns), std::memory_order_relaxed);
  if (std::exchange(has_told_late_, false) && !is_broken_)
    record->came_after_all.fetch_add(1, std::memory_order_relaxed);
  platform::write_metrics_when_due();
}

bool FailureDetector::look_now_and_then() {
  const auto now = static_cast<int64_t>(now_ns());
  if (now < next_look_ns_) return false;
  const bool is_first = std::exchange(next_look_ns_, now + kIntervalNs) == 0;
  if (is_first) return false;
  Status trouble = find_trouble();
  if (trouble.is_ok()) return false;
  (void)fail(std::move(trouble));
  return true;
}

bool FailureDetector::has_lost_peer() {
  const auto now = static_cast<int64_t>(now_ns());
  if (now < next_look_ns_) return false;
  next_look_ns_ = now + kIntervalNs;
  if (participants_.group->broken() != 0) return true;
  const auto has_gone = [](const auto& peer) { return peer != nullptr && !peer->is_alive(); };
  return std::any_of(participants_.peers.begin(), participants_.peers.end(), has_gone);
}

}  // namespace hocket::communicator
