// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/between_nodes.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "communicator/failure/presence.h"

namespace hocket::communicator {

using engines::shared_memory::first_remembered;
using engines::shared_memory::MemoryTransport;
using engines::wire::Channel;

namespace {

// Of one look: what is left comes with the next.
constexpr int kMostReports = 64;
constexpr size_t kMostAsked = 16;
constexpr uint64_t kFirstAskNs = 1'000'000'000;
// From some of those that haven't been asked yet to the next ones.
constexpr uint64_t kNextAskNs = 100'000'000;
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
  const NodeReport::Kind kind = status.code() == Code::kMismatch  ? NodeReport::kMismatch
                                : status.code() == Code::kTimeout ? NodeReport::kLate
                                                                  : NodeReport::kFailure;
  if (kind == NodeReport::kFailure && engines_.report_failure()) return;
  NodeReport report = new_report(kind);
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
    if (report.kind == NodeReport::kMismatch || report.kind == NodeReport::kLate) {
      knows_mismatch_ = true;
      const Code code = report.kind == NodeReport::kLate ? Code::kTimeout : Code::kMismatch;
      return {.all_know = true, .status = {code, report.reason}};
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

// Ranks of this node that have come may be through with the call, and look for reports no more.
void NodeReports::answer(const NodeReport& report) {
  if (report.kind != NodeReport::kCall || report.track >= Tracks::kMost || report.from >= participants_.size) return;
  const Track* const track = tracks_.find(report.track);
  if (track == nullptr || track->lane().announced() < report.number) return;
  NodeReport present = new_report(NodeReport::kPresent);
  present.track = report.track;
  present.number = report.number;
  for (uint32_t place = 0; place < participants_.ranks_here() && is_in_call(*track, participants_); ++place)
    if (has_come(*track, place, report.number)) present.say_present(place);
  send(report.from, present);
}

void NodeReports::note_answer(const NodeReport& report) {
  if (report.track >= Tracks::kMost || report.from >= participants_.size) return;
  Waited& waited = waited_[report.track];
  if (waited.number != report.number) return;
  if (report.kind == NodeReport::kTold) waited.is_told = true;
  if (waited.asked.empty()) return;
  waited.asked[report.from].has_answered = true;
  if (report.kind != NodeReport::kPresent) return;
  for (const uint32_t rank : participants_.nodes->ranks_of(participants_.nodes->node_of(report.from)))
    if (report.is_present(participants_.nodes->place_of(rank))) waited.asked[rank].has_answered = true;
}

// Engines don't tell whom they wait for: there the node's first rank asks all others, some at a time.
std::vector<uint32_t> NodeReports::peers_of(Track& track) const {
  std::vector<uint32_t> peers = track.channel()->peers();
  if (!peers.empty() || participants_.group->rank() != 0 || !is_in_call(track, participants_)) return peers;
  for (uint32_t rank = 0; rank < participants_.size; ++rank)
    if (!participants_.is_here(rank)) peers.push_back(rank);
  return peers;
}

bool NodeReports::send_records(uint32_t index, Waited& waited, uint64_t now) {
  Track& track = *tracks_.find(index);
  const std::vector<uint32_t> peers = peers_of(track);
  if (peers.empty()) return false;
  NodeReport report = new_report(NodeReport::kCall);
  report.track = index;
  report.number = track.lane().announced();
  for (uint64_t number = first_remembered(report.number); number <= report.number; ++number)
    track.lane().read_record(participants_.group->rank(), number, report.calls[number % NodeReport::kCalls]);
  waited.asked.resize(participants_.size);
  size_t sent = 0;
  for (size_t i = 0; i < peers.size() && sent < kMostAsked; ++i) {
    const uint32_t rank = peers[waited.turn++ % peers.size()];
    Asked& one = waited.asked[rank];
    if (one.has_answered) continue;
    send(rank, report);
    ++sent;
    if (one.since_ns == 0) one.since_ns = now;
  }
  return std::any_of(peers.begin(), peers.end(), [&waited](uint32_t rank) {
    return waited.asked[rank].since_ns == 0 && !waited.asked[rank].has_answered;
  });
}

std::vector<uint32_t> NodeReports::absent(uint32_t track, uint64_t now) const {
  const Waited& waited = waited_[track];
  const uint64_t turn = std::min(participants_.nodes->node_of(participants_.rank), kMostTurns);
  if (waited.is_told || waited.asked.empty()) return {};
  std::vector<uint32_t> ranks;
  for (const uint32_t rank : peers_of(*tracks_.find(track))) {
    const Asked& one = waited.asked[rank];
    if (one.since_ns != 0 && !one.has_answered && now >= one.since_ns + kAnswerNs + turn * kTurnNs)
      ranks.push_back(rank);
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
    const bool has_more = send_records(index, waited, now);
    if (!has_more) waited.pause_ns *= 2;
    waited.next_ns = now + (has_more ? kNextAskNs : waited.pause_ns);
  }
  return {};
}

}  // namespace hocket::communicator
