// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/between_nodes.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hocket::communicator {

using engines::shared_memory::first_remembered;
using engines::shared_memory::MemoryTransport;
using engines::wire::Channel;

namespace {

// Of one look: what is left comes with the next.
constexpr int kMostReports = 64;
constexpr size_t kMostAsked = 16;
constexpr uint64_t kFirstAskNs = 1'000'000'000;
// Between two looks that have to find the same.
constexpr uint64_t kStrangerNs = 1'000'000'000;

}  // namespace

NodeReport NodeReports::new_report(NodeReport::Kind kind) const {
  NodeReport report;
  report.communicator = participants_.wire.unique_number;
  report.kind = kind;
  report.from = participants_.rank;
  return report;
}

void NodeReports::report(const Status& status) {
  const bool differs = status.code() == Code::kMismatch;
  if (!differs && engines_.report_failure()) return;
  NodeReport report = new_report(differs ? NodeReport::kMismatch : NodeReport::kFailure);
  report.say(status.message());
  for (uint32_t rank = 0; rank < participants_.size; ++rank) {
    if (participants_.is_here(rank)) continue;
    const Status sent = channel_.send(participants_.wire.addresses[rank], report);
    if (!sent.is_ok()) HOCKET_LOG_DEBUG("the failure could not be reported to rank %u: %s", rank, sent.message());
  }
}

NodeReports::Received NodeReports::receive() {
  const WirePart& wire = participants_.wire;
  for (int reports = 0; reports < kMostReports; ++reports) {
    uint32_t from = 0;
    Result<NodeReport> received = channel_.take(from);
    if (!received.is_ok()) return {.status = received.take_status()};
    const NodeReport& report = received.value();
    if (report.kind == NodeReport::kNone) return {};
    if (report.kind == NodeReport::kFailure &&
        (report.communicator == wire.unique_number || report.communicator == 0)) {
      const auto found = std::find(wire.addresses.begin(), wire.addresses.end(), from);
      if (found == wire.addresses.end()) continue;
      return {.failed = static_cast<uint32_t>(found - wire.addresses.begin()), .status = {}};
    }
    if (report.communicator != wire.unique_number) continue;
    if (report.kind == NodeReport::kMismatch) {
      knows_mismatch_ = true;
      return {.all_know = true, .status = {Code::kMismatch, report.reason}};
    }
    std::string difference = compare(report);
    if (difference.empty()) continue;
    knows_mismatch_ = true;
    return {.status = {Code::kMismatch, std::move(difference)}};
  }
  return {};
}

// The first call in which this rank and that of `report` differ, as far as they remember; "": none, or it hasn't come
// so far.
std::string NodeReports::compare(const NodeReport& report) const {
  if (report.kind != NodeReport::kCall || report.track >= Tracks::kMost || tracks_.find(report.track) == nullptr)
    return {};
  const MemoryTransport& lane = tracks_.find(report.track)->lane();
  const uint32_t rank = participants_.rank;
  for (uint64_t number = first_remembered(report.number); number <= report.number; ++number) {
    CallSignature mine;
    const CallSignature& other = report.calls[number % NodeReport::kCalls];
    if (!lane.read_record(participants_.group->rank(), number, mine) || mine == other) continue;
    return rank < report.from ? describe_difference(rank, mine, report.from, other, vocabulary_)
                              : describe_difference(report.from, other, rank, mine, vocabulary_);
  }
  return {};
}

// A message of another call in place of what is awaited: its sender may be in no call any more, and receive no report.
std::string NodeReports::find_stranger(Track& track, Waited& waited, uint64_t now) const {
  Channel& channel = *track.channel();
  if (waited.stranger == kNoRank) {
    const std::vector<uint32_t> senders = channel.senders();
    for (size_t i = 0; i < std::min(kMostAsked, senders.size()); ++i) {
      const uint32_t sender = senders[(waited.turn + i) % senders.size()];
      if (!channel.has_stranger(sender)) continue;
      waited.stranger = sender;
      waited.seen_ns = now;
      break;
    }
    return {};
  }
  if (now < waited.seen_ns + kStrangerNs) return {};
  const uint32_t sender = std::exchange(waited.stranger, kNoRank);
  if (!channel.has_stranger(sender)) return {};
  return engines::shared_memory::in_another_call(sender, participants_.rank);
}

void NodeReports::send_records(uint32_t index, Waited& waited) {
  Track& track = *tracks_.find(index);
  NodeReport report = new_report(NodeReport::kCall);
  report.track = index;
  report.number = track.lane().announced();
  for (uint64_t number = first_remembered(report.number); number <= report.number; ++number)
    track.lane().read_record(participants_.group->rank(), number, report.calls[number % NodeReport::kCalls]);
  const std::vector<uint32_t> peers = track.channel()->peers();
  for (size_t i = 0; i < std::min(kMostAsked, peers.size()); ++i) {
    const Status sent = channel_.send(participants_.wire.addresses[peers[waited.turn++ % peers.size()]], report);
    if (!sent.is_ok()) HOCKET_LOG_DEBUG("a rank that is waited for could not be asked: %s", sent.message());
  }
}

std::string NodeReports::compare_with_awaited(uint64_t now) {
  for (uint32_t index = 0; index < Tracks::kMost; ++index) {
    Track* track = tracks_.find(index);
    if (track == nullptr) continue;
    const uint64_t announced = track->lane().announced();
    Waited& waited = waited_[index];
    if (waited.number != announced)
      waited = {.number = announced, .next_ns = now + kFirstAskNs, .pause_ns = kFirstAskNs, .turn = waited.turn};
    const bool asks = now >= waited.next_ns;
    // A rank that is asked first can say more.
    if (waited.stranger != kNoRank || (asks && waited.pause_ns > kFirstAskNs)) {
      std::string difference = find_stranger(*track, waited, now);
      if (!difference.empty()) return difference;
    }
    if (!asks) continue;
    waited.pause_ns *= 2;
    waited.next_ns = now + waited.pause_ns;
    send_records(index, waited);
  }
  return {};
}

}  // namespace hocket::communicator
