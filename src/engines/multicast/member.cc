// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/member.h"

#include <algorithm>

#include "base/assertion.h"
#include "base/log.h"

namespace hocket::engines::multicast {
namespace {

// Own datagrams that may have come back before they are looked for, so that they don't take the room of others'.
constexpr uint64_t kMostPendingReports = 32;
// Datagrams that are taken at a time at most, so that a flood of a stranger's doesn't keep a rank from its work.
constexpr uint32_t kMostAtATime = 256;

const unsigned char* as_chars(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

}  // namespace

Member::Member(std::unique_ptr<MulticastPort> port, const Identity& identity, uint64_t queue_bytes)
    : port_(std::move(port)),
      identity_(identity),
      streams_(identity.streams),
      unexpected_(queue_bytes, identity.fragment_bytes) {
  for (Stream& stream : streams_) stream.next.resize(identity.ranks);
}

Result<uint64_t> Member::send(const Message& message, uint64_t offset, uint64_t most_bytes) {
  const uint64_t datagram_bytes = identity_.fragment_bytes + MULTICAST_HEADER_BYTES;
  heads_.resize(std::max<uint64_t>(1, port_->most_at_once() / datagram_bytes));
  const uint64_t most = std::clamp<uint64_t>(most_bytes / identity_.fragment_bytes, 1, heads_.size());
  run_.clear();
  const uint64_t before = counters_.sent;
  do {
    Head& head = heads_[run_.size()];
    const uint64_t bytes = std::min<uint64_t>(message.bytes.size() - offset, identity_.fragment_bytes);
    const std::span<const std::byte> content = message.bytes.subspan(offset, bytes);
    const multicast_fragment fragment{.group = identity_.group,
                                      .number = message.number,
                                      .source = identity_.self,
                                      .offset = static_cast<uint32_t>(offset),
                                      .whole = static_cast<uint32_t>(message.bytes.size()),
                                      .bytes = static_cast<uint16_t>(bytes),
                                      .stream = static_cast<uint8_t>(message.stream)};
    multicast_write(&identity_.key, &fragment, as_chars(content.data()), reinterpret_cast<unsigned char*>(head.bytes));
    run_.push_back({head.bytes, content});
    offset += bytes;
  } while (offset < message.bytes.size() && run_.size() < most);
  if (Status sent = port_->send_all(run_); !sent.is_ok()) return sent;
  counters_.sent += run_.size();
  if (before / kMostPendingReports != counters_.sent / kMostPendingReports) poll();
  return offset;
}

uint32_t Member::expect(uint32_t stream, uint32_t source, std::span<std::byte> into, uint64_t& number) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(expected_.size()));
    expected_.emplace_back();
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  Expected& one = expected_[place];
  one.stream = stream;
  one.source = source;
  one.number = number = streams_[stream].next[source]++;
  one.in_use = true;
  one.is_judged = false;
  one.assembly.reset(into, identity_.fragment_bytes);
  if (unexpected_.size() != 0) (void)unexpected_.move_to({stream, source, number}, one.assembly);
  ++expecting_;
  ++counters_.messages;
  return place;
}

void Member::supply(uint32_t expected, uint64_t blocks, std::span<const std::byte> content) {
  Expected& one = expected_[expected];
  judge(one);
  one.assembly.supply(blocks, content);
}

void Member::forget(uint32_t expected) {
  Expected& one = expected_[expected];
  HOCKET_ASSERT(one.in_use && expecting_ != 0, "a message is forgotten once");
  judge(one);
  one.in_use = false;
  free_.push_back(expected);
  --expecting_;
}

void Member::judge(Expected& one) {
  if (std::exchange(one.is_judged, true)) return;
  losses_.expected += one.assembly.fragments();
  losses_.missed += one.assembly.missing();
  if (one.assembly.is_complete()) return;
  ++counters_.missed;
  HOCKET_LOG_DEBUG("rank %u: missed message %lu of rank %u by multicast (stream %u)", identity_.self, one.number,
                   one.source, one.stream);
}

bool Member::poll() {
  for (uint32_t taken = 0; taken < kMostAtATime; ++taken) {
    const std::span<const std::byte> datagram = port_->receive();
    if (datagram.empty()) return true;
    take(datagram);
  }
  return false;
}

void Member::take(std::span<const std::byte> datagram) {
  multicast_fragment fragment;
  const multicast_verdict verdict =
      multicast_read(&identity_.key, identity_.group, identity_.fragment_bytes, as_chars(datagram.data()),
                     static_cast<uint32_t>(datagram.size()), &fragment);
  if (verdict != MULTICAST_TAKEN) {
    ++(verdict == MULTICAST_OTHER_GROUP ? counters_.other_jobs : counters_.refused);
    return;
  }
  if (fragment.source == identity_.self) {
    ++counters_.own;
    return;
  }
  if (fragment.stream >= streams_.size() || fragment.source >= identity_.ranks) {
    ++counters_.refused;
    return;
  }
  const std::span<const std::byte> content = datagram.subspan(MULTICAST_HEADER_BYTES);
  if (fragment.number >= streams_[fragment.stream].next[fragment.source]) {
    keep(fragment, content);
    return;
  }
  const auto is_it = [&](const Expected& one) {
    return one.in_use && one.number == fragment.number && one.source == fragment.source &&
           one.stream == fragment.stream;
  };
  const auto last = expected_.begin() + static_cast<std::ptrdiff_t>(last_);
  auto found = std::find_if(last, expected_.end(), is_it);
  if (found == expected_.end()) found = std::find_if(expected_.begin(), last, is_it);
  if (found == expected_.end() || !is_it(*found)) {
    ++counters_.late;
    return;
  }
  last_ = static_cast<size_t>(found - expected_.begin());
  if (fragment.whole != found->assembly.bytes()) {
    ++counters_.refused;  // the ranks' counts don't match, as the message by the other way will tell
  } else {
    ++(found->assembly.take(fragment.offset, content) ? counters_.taken : counters_.repeated);
  }
}

void Member::keep(const multicast_fragment& fragment, std::span<const std::byte> content) {
  switch (
      unexpected_.keep({fragment.stream, fragment.source, fragment.number}, fragment.whole, fragment.offset, content)) {
    case UnexpectedQueue::Verdict::kKept:
      ++counters_.kept;
      break;
    case UnexpectedQueue::Verdict::kRepeated:
      ++counters_.repeated;
      break;
    case UnexpectedQueue::Verdict::kNoRoom:
      ++counters_.no_room;
      break;
  }
}

}  // namespace hocket::engines::multicast
