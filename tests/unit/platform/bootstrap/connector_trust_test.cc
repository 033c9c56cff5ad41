// SPDX-License-Identifier: BSD-3-Clause
// A connector with peers that are absent, dead, out of reach, or not who they claim to be.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "platform/bootstrap/connector.h"
#include "platform/bootstrap/contexts.h"
#include "platform/bootstrap/hello.h"
#include "platform/bootstrap/unix_socket.h"
#include "platform/child_process.h"
#include "platform/descriptor.h"

namespace hocket::platform {
namespace {

// An address that nobody in this process has, though it can be connected with.
Address stranger(const Address& like) {
  Address address = like;
  std::random_device random;
  address.identity[0] = random();
  return address;
}

TEST(Connector, AbsentPeerIsATimeoutThatNamesItsProcess) {
  Context context = make_context();
  Address absent = stranger(context.connector->address());
  absent.process = 4711;
  // It exists, so that it isn't taken for dead, and says nothing.
  char name[48];
  std::snprintf(name, sizeof(name), "hocket-%016lx%016lx", absent.identity[0], absent.identity[1]);
  auto silent = listen_abstract(name);
  ASSERT_TRUE(silent.is_ok());
  auto connected = context.connector->connect_all({absent}, 300);
  ASSERT_FALSE(connected.is_ok());
  EXPECT_EQ(connected.status().code(), Code::kTimeout);
  EXPECT_NE(std::string(connected.status().message()).find("4711"), std::string::npos);
  close(silent.value());
}

TEST(Connector, PeerThatHasGivenUpAMeetingKeepsNobodyWaitingInIt) {
  SharedBoard board;
  const pid_t peer = start_child([&] {
    Context context = publish(*board, 0);
    const Descriptor farewell = context.connector->give_up(7, Descriptor());
    if (farewell.get() < 0) return 1;
    ++board->published;  // now it has said so
    wait_for(board->connected, 1);
    return 0;
  });
  wait_for(board->published, 2);
  for (int i = 0; i < 8; ++i) {  // some would connect with it, others wait for it to connect
    Context context = make_context();
    auto connected = context.connector->connect_all({board->addresses[0]}, kTimeoutMs, 7);
    ASSERT_FALSE(connected.is_ok());
    EXPECT_EQ(connected.status().code(), Code::kPeerFailed);
    EXPECT_NE(std::string(connected.status().message()).find("could not connect with all"), std::string::npos);
    // Another meeting is another matter.
    auto other = context.connector->connect_all({board->addresses[0]}, 300, 8);
    ASSERT_FALSE(other.is_ok());
    EXPECT_EQ(other.status().code(), Code::kTimeout);
  }
  ++board->connected;
  EXPECT_EQ(end_of_child(peer), 0);
}

TEST(Connector, WhoIsOutOfDescriptorsCanStillSayThatItGivesUp) {
  const pid_t child = start_child([&] {
    Context context = make_context();
    // Of two meetings at a time, each has its own.
    Result<Descriptor> first = context.connector->prepare(), second = context.connector->prepare();
    if (!first.is_ok() || !second.is_ok()) return 2;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(limit.rlim_max, 1024);
    setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<Descriptor> all;
    for (int more = 0; (more = dup(STDERR_FILENO)) >= 0;) all.emplace_back(more);
    const Descriptor farewell = context.connector->give_up(7, first.take());
    const Descriptor another = context.connector->give_up(8, second.take());
    if (farewell.get() < 0 || another.get() < 0) return 1;
    // With no other in reserve, no meeting is started.
    if (context.connector->prepare().is_ok()) return 3;
    all.pop_back();
    Result<Descriptor> third = context.connector->prepare();
    if (!third.is_ok()) return 4;
    context.connector->keep(third.take());
    return context.connector->prepare().is_ok() ? 0 : 5;
  });
  EXPECT_EQ(end_of_child(child), 0);
}

TEST(Connector, PeerThatDiedBeforehandIsKnownToHaveEnded) {
  Context context = make_context();
  for (int i = 0; i < 8; ++i) {  // some we would connect with, others should connect with us
    auto connected = context.connector->connect_all({stranger(context.connector->address())}, kTimeoutMs);
    ASSERT_FALSE(connected.is_ok());
    EXPECT_EQ(connected.status().code(), Code::kPeerFailed);
  }
}

TEST(Connector, SaysWhyAnAddressIsOutOfReach) {
  Context context = make_context();
  Address other = stranger(context.connector->address());
  EXPECT_EQ(why_apart(context.connector->address(), other), nullptr);
  for (auto field : {&Address::boot_hash, &Address::network_namespace}) {
    Address wrong = other;
    wrong.*field += 1;
    EXPECT_NE(why_apart(context.connector->address(), wrong), nullptr);
    EXPECT_EQ(context.connector->connect_all({wrong}, 10).status().code(), Code::kNotSupported);
  }
  other.user += 1;
  EXPECT_NE(why_apart(context.connector->address(), other), nullptr);
}

TEST(Connector, IntrudersAreDroppedAndTheRightPeerStillComes) {
  SharedBoard board;
  Context context = publish(*board, 0);
  const Address own = context.connector->address();
  char name[48];
  std::snprintf(name, sizeof(name), "hocket-%016lx%016lx", own.identity[0], own.identity[1]);
  std::vector<int> intruders;
  auto intrude = [&](const void* bytes, size_t length, bool with_memory) {
    int socket = -1;
    ASSERT_EQ(connect_abstract(name, &socket).value(), Progress::kDone);
    const std::span<const std::byte> message(static_cast<const std::byte*>(bytes), length);
    if (with_memory) {
      ASSERT_EQ(send_with_descriptor(socket, message, context.region->descriptor()).value(), Progress::kDone);
    } else {
      ASSERT_EQ(write(socket, bytes, length), static_cast<ssize_t>(length));
    }
    intruders.push_back(socket);
  };
  const pid_t child = start_child([&] { return connect_and_check(*board, 1, 2); });
  wait_for(board->published, 2);
  Hello hello;
  std::memcpy(hello.identity, board->addresses[1].identity, sizeof(hello.identity));
  hello.proof = own.nonce[0];
  hello.limit = 1 << 20;
  intrude(&hello, sizeof(hello), false);  // all right but without memory
  hello.proof ^= 1;
  intrude(&hello, sizeof(hello), true);  // a wrong nonce
  intrude(&hello, 7, true);
  const std::vector<char> noise(5000, 'x');
  intrude(noise.data(), noise.size(), true);
  auto connected = context.connector->connect_all({own, board->addresses[1]}, kTimeoutMs);
  ASSERT_TRUE(connected.is_ok()) << connected.status().message();
  auto* word = reinterpret_cast<std::atomic<uint64_t>*>(connected.value()[1]->region().base() + board->offsets[1]);
  EXPECT_EQ(word->fetch_add(1'000'000), 1001U);
  ++board->connected;
  wait_for(board->connected, 2);
  ++board->connected;
  EXPECT_EQ(end_of_child(child), 0);
  // Greets once more, so that those that came after the peer are heard too.
  EXPECT_EQ(context.connector->connect_all({stranger(own)}, kTimeoutMs).status().code(), Code::kPeerFailed);
  for (const int intruder : intruders) {
    pollfd watched{intruder, POLLRDHUP, 0};
    EXPECT_EQ(poll(&watched, 1, 0), 1) << "must have been hung up on";
    close(intruder);
  }
}

TEST(Hello, OnlyWholeAndSensibleOnesAreTaken) {
  Hello good;
  good.limit = 1 << 20;
  const auto bytes_of = [](const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); };
  EXPECT_TRUE(parse_hello(bytes_of(good)).is_ok());
  EXPECT_FALSE(parse_hello({}).is_ok());
  for (size_t length = 0; length < sizeof(Hello); ++length) {
    EXPECT_FALSE(parse_hello(bytes_of(good).first(length)).is_ok());
  }
  for (auto spoil : {+[](Hello& h) { h.magic ^= 1; }, +[](Hello& h) { ++h.version; }, +[](Hello& h) { h.limit = 0; },
                     +[](Hello& h) { h.limit = 4097; }, +[](Hello& h) { h.limit = UINT64_MAX; },
                     +[](Hello& h) { h.reserved = 1; }}) {
    Hello bad = good;
    spoil(bad);
    EXPECT_FALSE(parse_hello(bytes_of(bad)).is_ok());
  }
}

}  // namespace
}  // namespace hocket::platform
