// SPDX-License-Identifier: BSD-3-Clause
// What enemies send, through the NIC engine's programs in the kernel (BPF_PROG_TEST_RUN): they do with each packet what
// the same protocol does in user space, bit for bit, and touch nothing beside it. As root, in a network namespace of
// its own; with LONG_TESTS=1 ten million packets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "kernel_victims.h"
#include "lab/netlink.h"
#include "support/long_tests.h"

namespace hocket::test {
namespace {

constexpr int kSkipped = 77;

TEST_F(KernelVictims, DoWithEveryPacketWhatTheProtocolSays) {
  const uint64_t many = is_long_tier() ? 10'000'000 : 200'000;
  for (uint64_t i = 0; i < many; ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(kGroups));
    const uint64_t kind = packets_.below(4);
    if (i % 16 == 0) start(group);
    if (engine_.groups()[group].state.broken != 0 && (kind == 1 || packets_.below(64) == 0)) renew(group);
    const HostilePacket packet = kind == 0   ? packets_.noise()
                                 : kind == 1 ? packets_.malformed(group)
                                 : kind == 2 ? packets_.random_fields(group)
                                             : packets_.misbehaving(group);
    const std::string difference = feed(packet, kind == 0 && packets_.below(3) == 0);
    ASSERT_EQ(difference, "") << "by packet " << i << " (" << packet.what << ")";
    if (i % 50'000 == 0) expect_nothing_else_has_changed();
  }
  expect_nothing_else_has_changed();
  for (const auto& sent : redirected_)
    for (const uint64_t count : sent) EXPECT_NE(count, 0u);
  EXPECT_NE(expected_[NIC_KEPT], 0u);
  EXPECT_TRUE(std::any_of(engine_.groups().begin(), engine_.groups().end(),
                          [](const Victim& victim) { return victim.published != 0; }));
}

// What goes out of sockets that are no doorbells passes, unless it says that it is a ring.
TEST_F(KernelVictims, TakeNoDoorbellsFromStrangers) {
  const uint64_t many = is_long_tier() ? 1'000'000 : 20'000;
  for (uint64_t i = 0; i < many; ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(kGroups));
    HostilePacket packet = packets_.below(2) == 0 ? packets_.noise() : packets_.misbehaving(group);
    nic_message message = message_of(packet);
    if (packets_.below(4) == 0) {
      message.kind = NIC_DOORBELL;
      message.group = packets_.below(2) == 0 ? slot_of(group) : message.group;
      put(message, packet);
    }
    Frame frame = frame_of(packet.datagram());
    const bool has_length = words_of_length(packet.length) >= 0;
    const bool is_ring = has_length && message.kind == NIC_DOORBELL;
    if (!has_length) ++expected_[NIC_BAD_LENGTH];
    if (is_ring) ++expected_[NIC_NO_GROUP];
    const Frame before = frame;
    const Result<int> done = programs_->try_leaving(frame);
    ASSERT_EQ(frame, before);
    ASSERT_TRUE(done.is_ok() && done.value() == (is_ring ? TC_ACT_SHOT : TC_ACT_UNSPEC));
    ASSERT_EQ(difference(), "") << "by packet " << i << " (" << packet.what << ")";
  }
  expect_nothing_else_has_changed();
}

// A job may send what it likes over its doorbell.
TEST_F(KernelVictims, TakeOfADoorbellWhatTheProtocolSays) {
  constexpr uint32_t kGroup = 1;
  const platform::Descriptor doorbell(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(bind_to(doorbell, kInterface, 0));
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  ASSERT_EQ(getsockopt(doorbell.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length), 0);
  const nic_doorbell rings = {cookie, slot_of(kGroup)};
  ASSERT_TRUE(programs_->set_doorbell(rings).is_ok());
  const uint64_t many = is_long_tier() ? 1'000'000 : 20'000;
  for (uint64_t i = 0; i < many; ++i) {
    const Victim& victim = engine_.groups()[kGroup];
    if (victim.state.broken != 0 || packets_.below(100) == 0) renew(kGroup);
    HostilePacket packet = packets_.misbehaving(kGroup);
    if (packets_.below(2) == 0) {
      ASSERT_EQ(feed(packet, false), "") << "by packet " << i << " (" << packet.what << ")";
      continue;
    }
    ASSERT_EQ(ring(doorbell, rings, kGroup), "") << "by ring " << i;
  }
  programs_->forget_doorbell(rings);
  expect_nothing_else_has_changed();
  EXPECT_NE(expected_[NIC_DOORBELLS], 0u);
  EXPECT_NE(expected_[NIC_UNSOUND], 0u);
}

Status make_namespace() {
  if (unshare(CLONE_NEWNET) != 0) return Status::system("can't make a network namespace", errno);
  const platform::Descriptor here(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  Result<lab::Netlink> netlink = lab::Netlink::open();
  if (!netlink.is_ok()) return netlink.take_status();
  lab::VethPair pair;
  pair.name = "hostile0";
  pair.index = kInterface;
  pair.peer_name = "hostile1";
  pair.peer_index = kInterface + 1;
  pair.peer_address = {2, 0, 0, 0, 0, 1};
  pair.peer_namespace = here.get();
  HOCKET_TRY(netlink.value().add_veth(pair));
  HOCKET_TRY(netlink.value().set_up(kInterface));
  return netlink.value().set_up(kInterface + 1);
}

}  // namespace
}  // namespace hocket::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (geteuid() != 0) {
    std::puts("skipped: BPF programs need root");
    return hocket::test::kSkipped;
  }
  if (const hocket::Status status = hocket::test::make_namespace(); !status.is_ok()) {
    std::printf("skipped: %s\n", status.message());
    return hocket::test::kSkipped;
  }
  return RUN_ALL_TESTS();
}
