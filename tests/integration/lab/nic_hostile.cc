// SPDX-License-Identifier: BSD-3-Clause
// What enemies send, through the NIC engine's programs in the kernel (BPF_PROG_TEST_RUN): they do with each packet what
// the same protocol does in user space, bit for bit, and touch nothing beside it. As root, in a network namespace of
// its own; with LONG_TESTS=1 ten million packets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "hostile_frames.h"
#include "lab/netlink.h"
#include "nic/kernel_programs.h"
#include "support/long_tests.h"

namespace hocket::test {
namespace {

constexpr int kSkipped = 77;
constexpr int kInterface = 10;
constexpr uint64_t kSeed = 20;
constexpr uint32_t kGroups = VictimEngine::kGroups;
constexpr unsigned char kRed = 0xa5;

// The programs with groups in some of their slots, and beside them the same groups in user space.
class KernelVictims : public testing::Test {
 protected:
  static constexpr uint32_t slot_of(uint32_t group) { return 2 * group + 1; }
  static constexpr uint32_t first_member_of(uint32_t group) { return 100 * group + 50; }

  void SetUp() override {
    nic::Interface interface;
    interface.index = kInterface;
    auto loaded = nic::KernelPrograms::load(interface, NIC_DEFAULT_PORT, nic::Hook::kTc);
    ASSERT_TRUE(loaded.is_ok()) << loaded.status().message();
    programs_ = loaded.take();
    std::memset(&programs_->state(0), kRed, (2 * kGroups + 1) * sizeof(nic_state));
    std::memset(&programs_->member(0), kRed, 100 * (kGroups + 1) * sizeof(nic_member));
    for (uint32_t group = 0; group < kGroups; ++group) ASSERT_TRUE(join(group).is_ok());
  }

  Status join(uint32_t group) {
    const Victim& victim = engine_.groups()[group];
    nic_slot slot{};
    slot.group = victim.group;
    slot.first_member = first_member_of(group);
    slot.interface = kInterface;
    slot.port = htons(NIC_DEFAULT_PORT);
    slot.ip = htonl(0x0a000001);
    // One group's host never sleeps, one's can't be woken.
    slot.ear_port = group == 2 ? 0 : htons(5);
    // And behind them one for messages to all.
    for (uint32_t number = 0; number <= victim.group.size; ++number) {
      nic_member& member = programs_->member(slot.first_member + number);
      member = {};
      member.ip = htonl(0x0a000100 + number);
      member.port = slot.port;
      member.is_peer = 1;
    }
    programs_->state(slot_of(group)) = victim.state;
    HOCKET_TRY(programs_->set_slot(slot_of(group), slot));
    Result<platform::Descriptor> page = programs_->take_page(slot_of(group), [](uint32_t) { return false; });
    if (!page.is_ok()) return page.take_status();
    void* memory = mmap(nullptr, sizeof(nic_page), PROT_READ | PROT_WRITE, MAP_SHARED, page.value().get(), 0);
    if (memory == MAP_FAILED) return Status::system("no page", errno);
    pages_[group] = static_cast<nic_page*>(memory);
    pages_[group]->sleeps = group == 0 ? 0 : 1;
    expected_pages_[group] = *pages_[group];
    return programs_->set_id(victim.group.id, slot_of(group));
  }

  void TearDown() override {
    for (nic_page* page : pages_)
      if (page != nullptr) munmap(page, sizeof *page);
  }

  // What the page and the counters shall show of it; whether the host is told.
  bool publish(uint32_t group, const nic_outcome& outcome, bool is_abort) {
    nic_page& page = expected_pages_[group];
    page.done += outcome.completed;
    expected_[NIC_OPERATIONS] += outcome.completed;
    const uint64_t broken = engine_.groups()[group].state.broken;
    const bool may_end = outcome.verdict == NIC_DISAGREEMENT || (is_abort && outcome.verdict == NIC_TAKEN);
    if (may_end && broken != 0) page.broken = broken;
    const uint32_t sends = outcome.end_send - outcome.first_send;
    expected_[outcome.repeats != 0 ? NIC_RESENT : NIC_SENT] += sends;
    if (outcome.reply != 0) ++expected_[NIC_REPLIED];
    return outcome.completed != 0 || (may_end && broken != 0);
  }

  // What the program shall do with a packet, and with its bytes.
  int expect_action(const Taken& taken, Frame& frame) {
    if (taken.counter != kPassed) ++expected_[taken.counter];
    if (taken.counter == NIC_BAD_TAG) return TC_ACT_SHOT;
    if (taken.group == kNoGroup) return TC_ACT_UNSPEC;
    const nic_outcome& outcome = taken.outcome;
    const nic_group& group = engine_.groups()[taken.group].group;
    const bool is_told = publish(taken.group, outcome, taken.message.kind == NIC_ABORT);
    if (is_told && taken.group != 0 && taken.group != 2) {
      ++expected_[NIC_WOKEN];
      return TC_ACT_OK;
    }
    nic_message last;
    if (outcome.reply != 0) {
      last = nic_replied(&group, &engine_.groups()[taken.group].state, outcome.reply, &taken.message);
    } else if (outcome.first_send == outcome.end_send ||
               nic_following(&group, &taken.message, &outcome, outcome.end_send - 1u, &last) == 0) {
      return TC_ACT_SHOT;
    }
    __u64 words[NIC_WORDS + 1];
    nic_write(&last, nic_tag(&group.key, &last), words);
    std::memcpy(&frame.bytes[NIC_BEFORE_HEADER], words, sizeof words);
    return TC_ACT_REDIRECT;
  }

  // Both get the packet; what is different afterwards.
  std::string feed(const HostilePacket& packet, bool is_spoilt) {
    Frame frame = frame_of(packet.datagram());
    Taken taken;
    if (is_spoilt && packet.length == NIC_HEADER_BYTES) {
      taken.counter = spoil(frame, packets_);
    } else {
      taken = engine_.take(packet.datagram());
      if (packet.expected != kAnyCounter && packet.expected != taken.counter) return "unexpected verdict";
    }
    Frame after = frame;
    const int action = expect_action(taken, after);
    const Result<int> done = programs_->try_arriving(frame.span());
    if (!done.is_ok()) return done.status().message();
    if (done.value() != action) return "action " + std::to_string(done.value()) + " not " + std::to_string(action);
    // The headers of what goes out are the programs' own affair.
    const size_t from = action == TC_ACT_UNSPEC || action == TC_ACT_SHOT ? 0 : NIC_BEFORE_HEADER;
    if (frame.length > from && std::memcmp(&frame.bytes[from], &after.bytes[from], frame.length - from) != 0)
      return "the packet's bytes";
    return difference();
  }

  std::string difference() const {
    for (uint32_t group = 0; group < kGroups; ++group) {
      const Victim& victim = engine_.groups()[group];
      if (std::memcmp(&programs_->state(slot_of(group)), &victim.state, sizeof(nic_state)) != 0)
        return "the state of group " + std::to_string(group);
      if (std::memcmp(pages_[group], &expected_pages_[group], sizeof(nic_page)) != 0)
        return "the page of group " + std::to_string(group);
      for (uint32_t number = 0; number < victim.group.size; ++number)
        if (programs_->member(first_member_of(group) + number).heard != victim.heard[number])
          return "a sign of life in group " + std::to_string(group);
    }
    return "";
  }

  void expect_nothing_else_has_changed() const {
    const nic::Counters counters = programs_->counters();
    for (uint32_t counter = 0; counter < NIC_COUNTERS; ++counter) {
      if (counter == NIC_NO_ROOM) continue;  // the kernel's affair
      EXPECT_EQ(counters[counter], expected_[counter]) << "counter " << counter;
    }
    const auto expect_red = [](const void* memory, size_t bytes, const char* what) {
      const auto* byte = static_cast<const unsigned char*>(memory);
      for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(byte[i], kRed) << what << ", byte " << i;
    };
    uint32_t next_member = 0;
    for (uint32_t group = 0; group <= kGroups; ++group) {
      expect_red(&programs_->state(2 * group), sizeof(nic_state), "a state beside others");
      expect_red(&programs_->member(next_member), (first_member_of(group) - next_member) * sizeof(nic_member),
                 "members beside others");
      if (group < kGroups) next_member = first_member_of(group) + engine_.groups()[group].group.size + 1;
    }
  }

  void start(uint32_t group) {
    const Victim& victim = engine_.groups()[group];
    const auto program = static_cast<uint32_t>(packets_.below(victim.group.programs));
    const uint64_t epoch = victim.state.started + 1;
    (void)engine_.start(group, program);
    (void)nic_start(&victim.group, &programs_->state(slot_of(group)), program, epoch);
  }
  void renew(uint32_t group) {
    engine_.renew(group);
    programs_->state(slot_of(group)) = engine_.groups()[group].state;
    pages_[group]->broken = expected_pages_[group].broken = 0;
  }

  VictimEngine engine_{kSeed};
  HostilePackets packets_{engine_, kSeed + 1};
  std::unique_ptr<nic::KernelPrograms> programs_;
  std::array<nic_page*, kGroups> pages_ = {};
  std::array<nic_page, kGroups> expected_pages_ = {};
  nic::Counters expected_ = {};
};

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
}

// What goes out of sockets that are no doorbells passes, unless it says that it is a ring.
TEST_F(KernelVictims, TakeNoDoorbellsFromStrangers) {
  const uint64_t many = is_long_tier() ? 1'000'000 : 20'000;
  for (uint64_t i = 0; i < many; ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(kGroups));
    HostilePacket packet = packets_.below(2) == 0 ? packets_.noise() : packets_.misbehaving(group);
    nic_message message = message_of(packet);
    if (packets_.below(4) == 0) {
      message.kind = NIC_BELL;
      message.group = packets_.below(2) == 0 ? slot_of(group) : message.group;
      put(message, packet);
    }
    Frame frame = frame_of(packet.datagram());
    const bool is_ring = packet.length == NIC_HEADER_BYTES && message.kind == NIC_BELL;
    if (packet.length != NIC_HEADER_BYTES) ++expected_[NIC_BAD_LENGTH];
    if (is_ring) ++expected_[NIC_NO_GROUP];
    const Result<int> done = programs_->try_leaving(frame.span());
    ASSERT_TRUE(done.is_ok() && done.value() == (is_ring ? TC_ACT_SHOT : TC_ACT_UNSPEC));
    ASSERT_EQ(difference(), "") << "by packet " << i << " (" << packet.what << ")";
  }
  expect_nothing_else_has_changed();
}

// A job may send what it likes over its doorbell.
TEST_F(KernelVictims, TakeOfADoorbellWhatTheProtocolSays) {
  constexpr uint32_t kGroup = 1;
  const platform::Descriptor bell(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = kInterface;
  ASSERT_EQ(bind(bell.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  ASSERT_EQ(getsockopt(bell.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length), 0);
  const nic_bell rings = {cookie, slot_of(kGroup)};
  ASSERT_TRUE(programs_->set_bell(rings).is_ok());
  const uint64_t many = is_long_tier() ? 1'000'000 : 20'000;
  for (uint64_t i = 0; i < many; ++i) {
    const Victim& victim = engine_.groups()[kGroup];
    if (victim.state.broken != 0 || packets_.below(100) == 0) renew(kGroup);
    HostilePacket packet = packets_.misbehaving(kGroup);
    if (packets_.below(2) == 0) {
      ASSERT_EQ(feed(packet, false), "") << "by packet " << i << " (" << packet.what << ")";
      continue;
    }
    if (packets_.below(8) == 0) packet = packets_.noise();
    nic_message message = message_of(packet);
    if (packets_.below(4) != 0) message.kind = NIC_BELL;
    if (packets_.below(4) != 0) message.group = packets_.below(4) != 0 ? rings.slot : slot_of(kGroup + 1);
    if (packets_.below(4) != 0) message.epoch = victim.state.started + 1;
    if (packets_.below(4) != 0) message.program = static_cast<uint8_t>(packets_.below(victim.group.programs + 1u));
    put(message, packet);
    Frame frame = frame_of(packet.datagram());
    if (packet.length != NIC_HEADER_BYTES) {
      ++expected_[NIC_BAD_LENGTH];
    } else if (message.group != rings.slot) {
      if (message.kind == NIC_BELL) ++expected_[NIC_NO_GROUP];
    } else if (message.kind != NIC_BELL) {
      ++expected_[NIC_UNKNOWN_KIND];
    } else {
      const nic_outcome outcome = engine_.start(kGroup, message.program, message.epoch);
      ++expected_[outcome.verdict == NIC_TAKEN ? uint32_t{NIC_BELLS} : uint32_t{outcome.verdict}];
      (void)publish(kGroup, outcome, false);
    }
    (void)send(bell.get(), frame.bytes.data(), frame.length, 0);
    ASSERT_EQ(difference(), "") << "by ring " << i;
  }
  programs_->forget_bell(rings);
  expect_nothing_else_has_changed();
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
