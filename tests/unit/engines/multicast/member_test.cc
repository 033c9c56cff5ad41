// SPDX-License-Identifier: BSD-3-Clause
// Members of a group over a network that loses, doubles and mixes what it carries, and over real sockets.
#include "engines/multicast/member.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engines/multicast/blocks.h"
#include "engines/multicast/pace.h"
#include "engines/multicast/udp_port.h"
#include "support/multicast_network.h"

namespace hocket::engines::multicast {
namespace {

using test::Datagram;
using Network = test::MulticastNetwork;
using NetworkPort = test::MulticastNetworkPort;
constexpr uint32_t kFragmentBytes = 64;

Member::Identity identity(uint32_t self, uint64_t group = 5) {
  return {.key = {1, 2}, .group = group, .self = self, .fragment_bytes = kFragmentBytes, .streams = 2, .ranks = 4};
}

Member member_of(Network& network, uint32_t self, uint64_t group = 5, uint64_t queue = 4096) {
  return {std::make_unique<NetworkPort>(network), identity(self, group), queue};
}

Datagram content_for(size_t bytes, uint64_t salt) {
  Datagram content(bytes);
  for (size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(i * 3 + salt);
  return content;
}

void send_all(Member& member, uint32_t stream, const Datagram& content) {
  const Member::Message message{stream, member.next(stream), content};
  uint64_t offset = 0;
  do {
    const Result<uint64_t> next = member.send(message, offset);
    ASSERT_TRUE(next.is_ok());
    offset = next.value();
  } while (offset < content.size());
}

TEST(MulticastMember, MessagesComeWhetherTheyWereAwaitedBeforeOrAfter) {
  Network network;
  Member root = member_of(network, 0);
  Member early = member_of(network, 1);
  Member late = member_of(network, 2);
  for (const size_t bytes : {0u, 1u, 64u, 65u, 1000u}) {
    const Datagram content = content_for(bytes, bytes);
    Datagram into_early(bytes);
    Datagram into_late(bytes);
    uint64_t number = 0;
    const uint32_t first = early.expect(1, 0, into_early, number);
    send_all(root, 1, content);
    early.poll();
    late.poll();
    const uint32_t second = late.expect(1, 0, into_late, number);
    EXPECT_TRUE(early.has_come(first));
    EXPECT_TRUE(late.has_come(second));
    EXPECT_EQ(into_early, content);
    EXPECT_EQ(into_late, content);
    early.forget(first);
    late.forget(second);
  }
  root.poll();
  EXPECT_EQ(root.counters().own, root.counters().sent);
  EXPECT_EQ(late.counters().missed, 0u);
  EXPECT_GT(late.counters().kept, 0u);
}

TEST(MulticastMember, WritesNothingOnceAMessageIsForgotten) {
  Network network;
  Member root = member_of(network, 0);
  Member other = member_of(network, 1);
  Datagram into(200, std::byte{0xee});
  uint64_t number = 0;
  const uint32_t expected = other.expect(0, 0, into, number);
  other.forget(expected);
  send_all(root, 0, content_for(200, 1));
  other.poll();
  EXPECT_EQ(std::count(into.begin(), into.end(), std::byte{0xee}), 200);
  EXPECT_EQ(other.counters().late, 4u);
  EXPECT_EQ(other.counters().missed, 1u);
  const Member::Losses losses = other.take_losses();
  EXPECT_EQ(losses.expected, 4u);
  EXPECT_EQ(losses.missed, 4u);
}

// What comes is right or isn't there; numbers never slip.
TEST(MulticastMember, NeverTakesOneMessageForAnotherWhateverTheNetworkDoes) {
  for (const uint32_t lost : {0u, 10u, 50u, 90u, 100u}) {
    Network network;
    network.lost_percent = lost;
    network.doubled_percent = 20;
    network.mixes = true;
    Member roots[2] = {member_of(network, 0), member_of(network, 1)};
    Member other = member_of(network, 2);
    uint32_t come = 0;
    for (uint64_t round = 0; round < 400; ++round) {
      const uint32_t source = round / 3 % 2;
      const Datagram content = content_for(round * 7 % 300, round);
      send_all(roots[source], 0, content);
      if (round % 5 != 0) other.poll();
      Datagram into(content.size());
      uint64_t number = 0;
      const uint32_t expected = other.expect(0, source, into, number);
      other.poll();
      if (other.has_come(expected)) {
        ++come;
        EXPECT_EQ(into, content) << round;
      }
      other.forget(expected);
    }
    EXPECT_TRUE(lost != 0 || come == 400) << come;
    EXPECT_TRUE(lost != 50 || come > 50) << come;
    EXPECT_TRUE(lost != 100 || come == 0) << come;
    EXPECT_EQ(other.counters().refused, 0u);
  }
}

TEST(MulticastMember, CountsOtherJobsAndForgeriesAndIgnoresThem) {
  Network network;
  Member root = member_of(network, 0);
  Member stranger = member_of(network, 0, 6);
  Member::Identity forger = identity(0);
  forger.key = {3, 4};
  Member forging(std::make_unique<NetworkPort>(network), forger, 4096);
  Member outside(std::make_unique<NetworkPort>(network), {{1, 2}, 5, 3, kFragmentBytes, 200, 2000}, 4096);
  Member other = member_of(network, 1);
  Datagram into(100, std::byte{0xee});
  uint64_t number = 0;
  const uint32_t expected = other.expect(0, 0, into, number);
  send_all(stranger, 0, content_for(100, 1));
  send_all(forging, 0, content_for(100, 1));
  send_all(outside, 150, content_for(100, 1));  // a stream that there isn't
  other.poll();
  EXPECT_FALSE(other.has_come(expected));
  EXPECT_EQ(other.counters().other_jobs, 2u);
  EXPECT_EQ(other.counters().refused, 4u);
  EXPECT_EQ(std::count(into.begin(), into.end(), std::byte{0xee}), 100);
  send_all(root, 0, content_for(100, 9));
  other.poll();
  EXPECT_TRUE(other.has_come(expected));
  EXPECT_EQ(into, content_for(100, 9));
}

TEST(MulticastMember, KeepsNoMoreThanItHasRoomFor) {
  Network network;
  Member root = member_of(network, 0);
  Member other = member_of(network, 1, 5, 4 * kFragmentBytes);
  for (int i = 0; i < 6; ++i) send_all(root, 0, content_for(kFragmentBytes, static_cast<uint64_t>(i)));
  other.poll();
  EXPECT_EQ(other.counters().kept, 4u);
  EXPECT_EQ(other.counters().no_room, 2u);
}

TEST(MulticastPace, FollowsReports) {
  Pace pace(10'000);
  const double at_first = pace.bytes_per_us();
  EXPECT_TRUE(pace.may_send(0));
  pace.sent(0, 10'000);
  EXPECT_TRUE(pace.may_send(0));
  pace.sent(0, 1);
  EXPECT_FALSE(pace.may_send(0));
  EXPECT_TRUE(pace.may_send(1'000'000));
  pace.receive({.expected = 100, .missed = 50});
  EXPECT_EQ(pace.bytes_per_us(), at_first / 2);
  pace.receive({.expected = 0, .missed = 0});
  EXPECT_EQ(pace.bytes_per_us(), at_first / 2);
  for (int i = 0; i < 100; ++i) pace.receive({.expected = 100, .missed = 0});
  EXPECT_EQ(pace.bytes_per_us(), Pace::kFastest);
  for (int i = 0; i < 100; ++i) pace.receive({.expected = 100, .missed = 100});
  EXPECT_EQ(pace.bytes_per_us(), Pace::kSlowest);
}

TEST(MulticastPace, IsSharedByThoseWhoMulticastAtATimeDownToTheSlowest) {
  constexpr uint32_t kAtATime = 16;
  const auto ns_until_next = [](Pace pace) {  // after 1 KiB behind a burst
    pace.sent(0, 1024, kAtATime);
    int64_t ns = 0;
    while (!pace.may_send(ns)) ns += 100;
    return ns;
  };
  Pace pace(1);
  EXPECT_NEAR(static_cast<double>(ns_until_next(pace)), 1024 * kAtATime * 1000 / pace.bytes_per_us(), 200);
  for (int i = 0; i < 100; ++i) pace.receive({.expected = 8, .missed = 1});
  ASSERT_EQ(pace.bytes_per_us(), Pace::kSlowest);
  EXPECT_NEAR(static_cast<double>(ns_until_next(pace)), 1024 * 1000 / Pace::kSlowest, 200);
}

TEST(MulticastDelay, GrowsWithMissesAndIsGivenUpWithoutThem) {
  AdaptiveDelay delay;
  EXPECT_EQ(delay.ns(), 0);
  delay.receive({.expected = 4, .missed = 2});
  EXPECT_EQ(delay.ns(), AdaptiveDelay::kLeastNs);
  for (int i = 0; i < 30; ++i) delay.receive({.expected = 4, .missed = 4});
  EXPECT_EQ(delay.ns(), AdaptiveDelay::kMostNs);
  for (int i = 0; i < 100; ++i) delay.receive({.expected = 4, .missed = 1});
  EXPECT_EQ(delay.ns(), 0);
}

// Sockets of one machine, by its loopback interface, which takes multicast of IPv4 only.
TEST(MulticastPort, CarriesDatagramsToAllMembersOfAGroupOnly) {
  const Result<Interface> loopback = find_interface("lo", Family::kIpv4);
  ASSERT_TRUE(loopback.is_ok()) << loopback.status().message();
  const Result<GroupAddress> one = draw_address(Family::kIpv4);
  const Result<GroupAddress> another = draw_address(Family::kIpv4);
  ASSERT_TRUE(one.is_ok() && another.is_ok());
  const auto open = [&](const GroupAddress& group) {
    return open_udp_port({.group = group, .interface = loopback.value()});
  };
  Result<std::unique_ptr<MulticastPort>> first = open(one.value());
  Result<std::unique_ptr<MulticastPort>> second = open(one.value());
  Result<std::unique_ptr<MulticastPort>> foreign = open(another.value());
  ASSERT_TRUE(first.is_ok() && second.is_ok() && foreign.is_ok()) << first.status().message();
  const Datagram head = content_for(40, 1);
  const Datagram body = content_for(1000, 2);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(first.value()->send(head, body).is_ok());
  for (MulticastPort* port : {first.value().get(), second.value().get()}) {
    for (int i = 0; i < 20; ++i) {
      const std::span<const std::byte> come = port->receive();
      ASSERT_EQ(come.size(), 1040u) << to_text(one.value());
      EXPECT_TRUE(std::equal(head.begin(), head.end(), come.begin()));
      EXPECT_TRUE(std::equal(body.begin(), body.end(), come.begin() + 40));
    }
    EXPECT_TRUE(port->receive().empty());
  }
  EXPECT_TRUE(foreign.value()->receive().empty());
}

// More at a time than a datagram holds, of which the last is shorter; strangers' empty ones between them.
TEST(MulticastPort, CarriesLongMessagesInTrains) {
  const Result<Interface> loopback = find_interface("lo", Family::kIpv4);
  const Result<GroupAddress> group = draw_address(Family::kIpv4);
  ASSERT_TRUE(loopback.is_ok() && group.is_ok());
  const auto open = [&] { return open_udp_port({.group = group.value(), .interface = loopback.value()}).take(); };
  Member::Identity own = identity(0);
  own.fragment_bytes = 1400;
  std::unique_ptr<MulticastPort> port = open();
  MulticastPort& sent_by = *port;
  Member root(std::move(port), own, 4096);
  own.self = 1;
  Member other(open(), own, 4096);
  for (const size_t bytes : {1u, 1400u, 1401u, 64'000u, 130'000u}) {
    const Datagram content = content_for(bytes, bytes);
    Datagram into(bytes);
    uint64_t number = 0;
    const uint32_t expected = other.expect(0, 0, into, number);
    ASSERT_TRUE(sent_by.send({}, {}).is_ok());
    send_all(root, 0, content);
    ASSERT_TRUE(sent_by.send({}, {}).is_ok());
    other.poll();
    EXPECT_TRUE(other.has_come(expected)) << bytes;
    EXPECT_EQ(into, content) << bytes;
    other.forget(expected);
  }
  EXPECT_NE(sent_by.most_at_once(), sent_by.most_bytes()) << "trains have been given up";
  EXPECT_EQ(other.counters().missed + other.counters().refused, 0u);
  EXPECT_EQ(other.counters().taken, root.counters().sent);
}

// What is missing is asked for by blocks, and what comes by another way counts as missed.
TEST(MulticastMember, TakesWhatIsMissingByAnotherWay) {
  for (const size_t bytes : {1u, 64u, 65u, 5000u, 64u * 64u, 64u * 64u + 1, 100'000u}) {
    Network network;
    network.lost_percent = 50;
    Member root = member_of(network, 0);
    Member other = member_of(network, 1);
    const Datagram content = content_for(bytes, 3);
    Datagram into(bytes);
    uint64_t number = 0;
    const uint32_t expected = other.expect(0, 0, into, number);
    send_all(root, 0, content);
    for (int i = 0; i < 20; ++i) other.poll();
    const Blocks blocks(bytes, kFragmentBytes);
    uint32_t rounds = 0;
    for (uint64_t missing = other.missing(expected); missing != 0; missing = other.missing(expected), ++rounds) {
      const uint64_t asked = blocks.first(missing, 2000);
      Datagram by_message;
      blocks.each(asked, [&](uint32_t block) {
        const auto begin = content.begin() + static_cast<std::ptrdiff_t>(blocks.begin(block));
        by_message.insert(by_message.end(), begin, begin + static_cast<std::ptrdiff_t>(blocks.length(block)));
      });
      ASSERT_EQ(by_message.size(), blocks.bytes(asked));
      other.supply(expected, asked, by_message);
      ASSERT_EQ(other.missing(expected) & asked, 0u);
    }
    EXPECT_TRUE(other.has_come(expected));
    EXPECT_EQ(into, content) << bytes;
    other.forget(expected);
    EXPECT_EQ(other.counters().missed, rounds == 0 ? 0u : 1u);
    EXPECT_EQ(other.take_losses().expected, (bytes + kFragmentBytes - 1) / kFragmentBytes);
    EXPECT_EQ(blocks.bytes(blocks.all()), bytes);
  }
}

TEST(MulticastAddress, IsReadAndWritten) {
  for (const char* text : {"239.1.2.3:5000", "224.0.1.1:1", "[ff15::1]:65535"}) {
    const Result<GroupAddress> address = parse_address(text);
    ASSERT_TRUE(address.is_ok()) << text;
    EXPECT_EQ(to_text(address.value()), text);
  }
  EXPECT_TRUE(parse_address("239.1.2.3").is_ok());
  EXPECT_GE(parse_address("ff15::1").value().port, 49152);
  for (const char* text : {"", "10.0.0.1:5", "239.1.2.3:", "239.1.2.3:0", "239.1.2.3:70000", "239.1.2:5", "[ff15::1",
                           "[ff15::1]5", "[ff15::1]:", "fe80::1", "host:5", "239.1.2.3:5x"})
    EXPECT_FALSE(parse_address(text).is_ok()) << text;
}

TEST(MulticastAddress, IsDrawnAnewEachTime) {
  for (const Family family : {Family::kIpv4, Family::kIpv6}) {
    std::vector<GroupAddress> drawn;
    for (int i = 0; i < 20; ++i) drawn.push_back(draw_address(family).value());
    for (const GroupAddress& address : drawn) {
      EXPECT_TRUE(parse_address(to_text(address)).is_ok());
      EXPECT_LE(std::count(drawn.begin(), drawn.end(), address), 1);
    }
  }
}

}  // namespace
}  // namespace hocket::engines::multicast
