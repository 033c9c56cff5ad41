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
constexpr int kMostWords = 64;
constexpr size_t kMostAsked = 16;
constexpr uint64_t kFirstAskNs = 1'000'000'000;
// Between two looks that have to find the same.
constexpr uint64_t kStrangerNs = 1'000'000'000;

}  // namespace

NodeReport NodeReports::new_word(NodeReport::Kind kind) const {
  NodeReport word;
  word.communicator = participants_.wire.unique_number;
  word.kind = kind;
  word.from = participants_.rank;
  return word;
}

void NodeReports::report(const Status& status) {
  const bool differs = status.code() == Code::kMismatch;
  if (!differs && engines_.report_failure()) return;
  NodeReport word = new_word(differs ? NodeReport::kMismatch : NodeReport::kFailure);
  word.say(status.message());
  for (uint32_t rank = 0; rank < participants_.size; ++rank) {
    if (participants_.is_here(rank)) continue;
    const Status sent = words_.send(participants_.wire.addresses[rank], word);
    if (!sent.is_ok()) HOCKET_LOG_DEBUG("the failure could not be reported to rank %u: %s", rank, sent.message());
  }
}

NodeReports::Received NodeReports::receive() {
  const WirePart& wire = participants_.wire;
  for (int words = 0; words < kMostWords; ++words) {
    uint32_t from = 0;
    Result<NodeReport> received = words_.take(from);
    if (!received.is_ok()) return {.status = received.take_status()};
    const NodeReport& word = received.value();
    if (word.kind == NodeReport::kNone) return {};
    if (word.kind == NodeReport::kFailure && (word.communicator == wire.unique_number || word.communicator == 0)) {
      const auto found = std::find(wire.addresses.begin(), wire.addresses.end(), from);
      if (found == wire.addresses.end()) continue;
      return {.failed = static_cast<uint32_t>(found - wire.addresses.begin()), .status = {}};
    }
    if (word.communicator != wire.unique_number) continue;
    if (word.kind == NodeReport::kMismatch) {
      knows_mismatch_ = true;
      return {.all_know = true, .status = {Code::kMismatch, word.reason}};
    }
    std::string difference = compare(word);
    if (difference.empty()) continue;
    knows_mismatch_ = true;
    return {.status = {Code::kMismatch, std::move(difference)}};
  }
  return {};
}

// The first call in which this rank and that of `word` differ, as far as they remember; "": none, or it hasn't come so
// far.
std::string NodeReports::compare(const NodeReport& word) const {
  if (word.kind != NodeReport::kCall || word.track >= Tracks::kMost || tracks_.find(word.track) == nullptr) return {};
  const MemoryTransport& lane = tracks_.find(word.track)->lane();
  const uint32_t rank = participants_.rank;
  for (uint64_t number = first_remembered(word.number); number <= word.number; ++number) {
    CallSignature mine;
    const CallSignature& other = word.calls[number % NodeReport::kCalls];
    if (!lane.read_record(participants_.group->rank(), number, mine) || mine == other) continue;
    return rank < word.from ? describe_difference(rank, mine, word.from, other, vocabulary_)
                            : describe_difference(word.from, other, rank, mine, vocabulary_);
  }
  return {};
}

// A message of another call in place of what is awaited: its sender may be in no call any more, and receive no report.
std::string NodeReports::find_stranger(Track& track, Waited& waited, uint64_t now) const {
  Channel& channel = *track.channel();
  if (waited.stranger == kNobody) {
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
  const uint32_t sender = std::exchange(waited.stranger, kNobody);
  if (!channel.has_stranger(sender)) return {};
  return engines::shared_memory::in_another_call(sender, participants_.rank);
}

void NodeReports::send_records(uint32_t index, Waited& waited) {
  Track& track = *tracks_.find(index);
  NodeReport word = new_word(NodeReport::kCall);
  word.track = index;
  word.number = track.lane().announced();
  for (uint64_t number = first_remembered(word.number); number <= word.number; ++number)
    track.lane().read_record(participants_.group->rank(), number, word.calls[number % NodeReport::kCalls]);
  const std::vector<uint32_t> peers = track.channel()->peers();
  for (size_t i = 0; i < std::min(kMostAsked, peers.size()); ++i) {
    const Status sent = words_.send(participants_.wire.addresses[peers[waited.turn++ % peers.size()]], word);
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
    if (waited.stranger != kNobody || (asks && waited.pause_ns > kFirstAskNs)) {
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
