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
// By then a rank that waits in the same call has looked for reports some times.
constexpr uint64_t kAnswerNs = 600'000'000;
// Nodes' ranks say who is late one after the other, so that the first is heard before the next would say the same.
constexpr uint64_t kTurnNs = 100'000'000;
constexpr uint32_t kMostTurns = 4;
// Ranks beyond are not told that it has been said.
constexpr uint32_t kMostTold = 256;
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
    if (report.kind == NodeReport::kPresent || report.kind == NodeReport::kTold) {
      note_answer(report);
      continue;
    }
    std::string difference = compare(report);
    if (difference.empty()) {
      answer(report);
      continue;
    }
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

void NodeReports::send(uint32_t rank, const NodeReport& report) {
  const Status sent = channel_.send(participants_.wire.addresses[rank], report);
  if (!sent.is_ok()) HOCKET_LOG_DEBUG("rank %u could not be told of a call: %s", rank, sent.message());
}

void NodeReports::answer(const NodeReport& report) {
  if (report.kind != NodeReport::kCall || report.track >= Tracks::kMost || report.from >= participants_.size) return;
  const Track* const track = tracks_.find(report.track);
  if (track == nullptr || track->lane().announced() < report.number) return;
  NodeReport present = new_report(NodeReport::kPresent);
  present.track = report.track;
  present.number = report.number;
  send(report.from, present);
}

void NodeReports::note_answer(const NodeReport& report) {
  if (report.track >= Tracks::kMost) return;
  Waited& waited = waited_[report.track];
  if (waited.number != report.number) return;
  if (report.kind == NodeReport::kTold) waited.is_told = true;
  for (Asked& one : waited.asked)
    if (one.rank == report.from) one.has_answered = true;
}

// Engines don't tell whom they wait for: there the node's first rank asks all others, some at a time.
std::vector<uint32_t> NodeReports::peers_of(Track& track) const {
  std::vector<uint32_t> peers = track.channel()->peers();
  const MemoryTransport& lane = track.lane();
  const uint32_t place = participants_.group->rank();
  if (!peers.empty() || place != 0 || lane.announced() == 0 || lane.has_finished(place, lane.announced())) return peers;
  for (uint32_t rank = 0; rank < participants_.size; ++rank)
    if (!participants_.is_here(rank)) peers.push_back(rank);
  return peers;
}

void NodeReports::send_records(uint32_t index, Waited& waited, uint64_t now) {
  Track& track = *tracks_.find(index);
  const std::vector<uint32_t> peers = peers_of(track);
  if (peers.empty()) return;
  NodeReport report = new_report(NodeReport::kCall);
  report.track = index;
  report.number = track.lane().announced();
  for (uint64_t number = first_remembered(report.number); number <= report.number; ++number)
    track.lane().read_record(participants_.group->rank(), number, report.calls[number % NodeReport::kCalls]);
  for (size_t i = 0; i < std::min(kMostAsked, peers.size()); ++i) {
    const uint32_t rank = peers[waited.turn++ % peers.size()];
    send(rank, report);
    const bool is_new =
        std::none_of(waited.asked.begin(), waited.asked.end(), [rank](const Asked& one) { return one.rank == rank; });
    if (is_new) waited.asked.push_back({rank, now, false});
  }
}

std::vector<uint32_t> NodeReports::absent(uint32_t track, uint64_t now) const {
  const Waited& waited = waited_[track];
  const uint64_t turn = std::min(participants_.nodes->node_of(participants_.rank), kMostTurns);
  if (waited.is_told) return {};
  const std::vector<uint32_t> awaited = peers_of(*tracks_.find(track));
  std::vector<uint32_t> ranks;
  for (const Asked& one : waited.asked) {
    const bool is_awaited = std::find(awaited.begin(), awaited.end(), one.rank) != awaited.end();
    if (is_awaited && !one.has_answered && now >= one.since_ns + kAnswerNs + turn * kTurnNs) ranks.push_back(one.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void NodeReports::tell_late(uint32_t track) {
  Waited& waited = waited_[track];
  waited.is_told = true;
  NodeReport told = new_report(NodeReport::kTold);
  told.track = track;
  told.number = waited.number;
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < participants_.size && count < kMostTold; ++rank) {
    if (participants_.is_here(rank)) continue;
    send(rank, told);
    ++count;
  }
}

std::string NodeReports::compare_with_awaited(uint64_t now) {
  for (uint32_t index = 0; index < Tracks::kMost; ++index) {
    Track* track = tracks_.find(index);
    if (track == nullptr) continue;
    const uint64_t announced = track->lane().announced();
    Waited& waited = waited_[index];
    if (waited.number != announced)
      waited = {.number = announced,
                .next_ns = now + kFirstAskNs,
                .pause_ns = kFirstAskNs,
                .turn = waited.turn,
                .asked = {},
                .is_told = false};
    const bool asks = now >= waited.next_ns;
    // A rank that is asked first can say more.
    if (waited.stranger != kNoRank || (asks && waited.pause_ns > kFirstAskNs)) {
      std::string difference = find_stranger(*track, waited, now);
      if (!difference.empty()) return difference;
    }
    if (!asks) continue;
    waited.pause_ns *= 2;
    waited.next_ns = now + waited.pause_ns;
    send_records(index, waited, now);
  }
  return {};
}

}  // namespace hocket::communicator
