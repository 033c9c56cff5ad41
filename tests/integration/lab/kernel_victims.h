// SPDX-License-Identifier: BSD-3-Clause
// The NIC engine's programs in the kernel with groups in some of their slots, and beside them the same groups in user
// space: for tests that compare the two. In a network namespace with a pair of interfaces: kInterface, and the next.
#pragma once

#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hostile_frames.h"
#include "nic/kernel_programs.h"

namespace hocket::test {

inline constexpr int kInterface = 10;
inline constexpr uint64_t kSeed = 20;
inline constexpr uint32_t kGroups = VictimEngine::kGroups;
inline constexpr unsigned char kRed = 0xa5;
inline const uint32_t kOwnIp = htonl(0x0a000001);

// The checksum of a header between the two, of a packet that carries nothing.
inline uint16_t check_of(uint32_t ip) {
  iphdr header{};
  header.version = 4;
  header.ihl = 5;
  header.tot_len = htons(NIC_FRAME_BYTES - NIC_ETHERNET_BYTES);
  header.frag_off = htons(0x4000);
  header.ttl = NIC_TTL;
  header.protocol = IPPROTO_UDP;
  header.saddr = kOwnIp;
  header.daddr = ip;
  uint16_t halves[sizeof header / 2];
  std::memcpy(halves, &header, sizeof header);
  uint32_t sum = std::accumulate(std::begin(halves), std::end(halves), uint32_t{0});
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~((sum & 0xffff) + (sum >> 16)));
}

// The programs with groups in some of their slots, and beside them the same groups in user space.
class KernelVictims : public testing::Test {
 protected:
  static constexpr uint32_t slot_of(uint32_t group) { return 2 * group + 1; }
  static constexpr uint32_t first_member_of(uint32_t group) { return 100 * group + 50; }
  static constexpr uint32_t kOperandsOf = 1000;  // room
  static constexpr uint32_t first_operand_of(uint32_t group) { return kOperandsOf * group + 300; }
  static constexpr uint32_t kOperands = kOperandsOf * (kGroups + 1);
  static uint32_t ip_of(uint32_t member) { return htonl(0x0a000100 + member); }

  void SetUp() override {
    nic::Interface interface;
    interface.index = kInterface;
    auto loaded = nic::KernelPrograms::load(interface, NIC_DEFAULT_PORT, nic::Hook::kTc);
    ASSERT_TRUE(loaded.is_ok()) << loaded.status().message();
    programs_ = loaded.take();
    std::memset(&programs_->state(0), kRed, (2 * kGroups + 1) * sizeof(nic_state));
    std::memset(&programs_->member(0), kRed, 100 * (kGroups + 1) * sizeof(nic_member));
    std::memset(&programs_->operand(0), kRed, kOperands * sizeof(nic_operand));
    for (uint32_t group = 0; group < kGroups; ++group) ASSERT_TRUE(join(group).is_ok());
    wire_ = platform::Descriptor(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(bind_to(wire_, kInterface + 1, ETH_P_IP));
  }

  static bool bind_to(const platform::Descriptor& descriptor, int interface, uint16_t protocol) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = interface;
    address.sll_protocol = htons(protocol);
    return bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  Status join(uint32_t group) {
    const Victim& victim = engine_.groups()[group];
    nic_slot slot{};
    slot.group = victim.group;
    slot.first_member = first_member_of(group);
    slot.first_operand = first_operand_of(group);
    slot.interface = kInterface;
    slot.port = htons(NIC_DEFAULT_PORT);
    slot.ip = kOwnIp;
    // One group's host never sleeps, one's can't be woken.
    slot.wakeup_port = group == 2 ? 0 : htons(5);
    // And behind them one for messages to all.
    for (uint32_t number = 0; number <= victim.group.size; ++number) {
      nic_member& member = programs_->member(slot.first_member + number);
      member = {};
      member.ip = ip_of(number);
      member.port = slot.port;
      member.ip_check = check_of(ip_of(number));
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
  bool publish(uint32_t group, const nic_message& cause, const nic_outcome& outcome) {
    nic_page& page = expected_pages_[group];
    page.done += outcome.completed;
    const uint64_t result = cause.epoch % NIC_IN_FLIGHT;
    if (outcome.publishes != 0) page.result[result] = engine_.groups()[group].results[result];
    expected_[NIC_OPERATIONS] += outcome.completed;
    if (outcome.waits != 0) ++expected_[NIC_KEPT];
    const uint64_t broken = engine_.groups()[group].state.broken;
    const bool may_end =
        outcome.verdict == NIC_DISAGREEMENT || (cause.kind == NIC_ABORT && outcome.verdict == NIC_TAKEN);
    if (may_end && broken != 0) page.broken = broken;
    const uint32_t sends = outcome.end_send - outcome.first_send;
    expected_[outcome.repeats != 0 ? NIC_RESENT : NIC_SENT] += sends;
    if (outcome.reply != 0) ++expected_[NIC_REPLIED];
    return outcome.completed != 0 || (may_end && broken != 0);
  }

  // Where something goes, and what.
  struct Sent {
    uint32_t ip;
    Frame datagram;
  };

  // All that the outcome wants sent. `is_last`: whether the last of them is there, of messages that may be for nobody.
  std::vector<Sent> sent_of(uint32_t group, const nic_message& cause, const nic_outcome& outcome, bool& is_last) const {
    const Victim& victim = engine_.groups()[group];
    std::vector<Sent> all;
    const auto add = [&](const nic_message& m, const nic_operand& operand) {
      const uint32_t member = m.target == NIC_ALL ? victim.group.size : m.target;
      all.push_back({ip_of(member), datagram_of(victim.group, m, operand)});
      is_last = true;
    };
    is_last = false;
    for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
      nic_message m;
      nic_operand operand{};
      is_last = false;
      if (nic_following(&victim.group, &cause, &outcome, number, &m) == 0) continue;
      EXPECT_NE(nic_carry(&victim.group, &victim.state, victim.memory(), &m, outcome.call, &operand), 0);
      add(m, operand);
    }
    if (outcome.reply != 0) add(nic_replied(&victim.group, &victim.state, outcome.reply, &cause), {});
    return all;
  }

  // What the program shall do with a packet, and with its bytes.
  int expect_action(const Taken& taken, Frame& frame) {
    if (taken.counter != kPassed) ++expected_[taken.counter];
    if (taken.counter == NIC_BAD_TAG) return TC_ACT_SHOT;
    if (taken.group == kNoGroup) return TC_ACT_UNSPEC;
    const nic_message& message = taken.message;
    const nic_group& group = engine_.groups()[taken.group].group;
    bool is_last = false;
    expected_wire_ = sent_of(taken.group, message, taken.outcome, is_last);
    const bool is_known = publish(taken.group, message, taken.outcome);
    Frame datagram;
    if (is_known && taken.group != 0 && taken.group != 2) {
      ++expected_[NIC_WOKEN];
      nic_message news = message;
      news.carried = 0;
      datagram = datagram_of(group, news, {});
    } else {
      if (!is_last) return TC_ACT_SHOT;
      expected_to_ = expected_wire_.back().ip;
      datagram = std::move(expected_wire_.back().datagram);
      expected_wire_.pop_back();
    }
    frame.resize(NIC_BEFORE_HEADER + datagram.size());
    std::copy(datagram.begin(), datagram.end(), frame.begin() + NIC_BEFORE_HEADER);
    return is_known && taken.group != 0 && taken.group != 2 ? TC_ACT_OK : TC_ACT_REDIRECT;
  }

  // Both get the packet; what is different afterwards.
  std::string feed(const HostilePacket& packet, bool is_spoilt) {
    Frame frame = frame_of(packet.datagram());
    Taken taken;
    if (is_spoilt && words_of_length(packet.length) >= 0) {
      taken.counter = spoil(frame, packets_);
    } else {
      taken = engine_.take(packet.datagram());
      if (packet.expected != kAnyCounter && packet.expected != taken.counter) return "unexpected verdict";
    }
    Frame after = frame;
    expected_wire_.clear();
    const int action = expect_action(taken, after);
    const Result<int> done = programs_->try_arriving(frame);
    if (!done.is_ok()) return done.status().message();
    if (done.value() != action) return "action " + std::to_string(done.value()) + " not " + std::to_string(action);
    if (action == TC_ACT_REDIRECT) {
      ++redirected_[taken.message.carried != 0][frame.size() > NIC_FRAME_BYTES];
      if (const std::string flaw = flaw_of_headers(frame, kOwnIp, expected_to_); !flaw.empty()) return flaw;
    }
    // What is dropped has been something else meanwhile; the wake-up socket's port is the programs' own affair.
    const size_t from = action == TC_ACT_UNSPEC ? 0 : NIC_BEFORE_HEADER;
    if (action != TC_ACT_SHOT &&
        (frame.size() != after.size() ||
         (frame.size() > from && std::memcmp(&frame[from], &after[from], frame.size() - from) != 0)))
      return "the packet's bytes";
    if (const std::string flaw = difference_of_wire(); !flaw.empty()) return flaw;
    if (taken.group != kNoGroup && !are_places_same(taken.group, taken.message.epoch)) return "an operand";
    return difference();
  }

  // What has gone out by the interface, and came to the other end.
  std::string difference_of_wire() const {
    Frame frame(2048);
    for (const Sent& sent : expected_wire_) {
      pollfd poll{wire_.get(), POLLIN, 0};
      if (::poll(&poll, 1, 1000) != 1) return "a packet that doesn't go out";
      frame.resize(2048);
      frame.resize(static_cast<size_t>(recv(wire_.get(), frame.data(), frame.size(), MSG_DONTWAIT)));
      if (const std::string flaw = flaw_of_headers(frame, kOwnIp, sent.ip); !flaw.empty()) return flaw;
      if (!std::equal(frame.begin() + NIC_BEFORE_HEADER, frame.end(), sent.datagram.begin(), sent.datagram.end()))
        return "the bytes of what goes out";
    }
    return recv(wire_.get(), frame.data(), frame.size(), MSG_DONTWAIT) < 0 ? "" : "a packet too many goes out";
  }

  bool are_places_same(uint32_t group, uint64_t epoch) {
    const std::span<nic_operand> places = engine_.groups()[group].places(epoch);
    const uint32_t first = first_operand_of(group) + static_cast<uint32_t>(nic_index_of(epoch) * places.size());
    return places.empty() || std::memcmp(&programs_->operand(first), places.data(), places.size_bytes()) == 0;
  }

  std::string difference() const {
    for (uint32_t group = 0; group < kGroups; ++group) {
      const Victim& victim = engine_.groups()[group];
      nic_state expected = victim.state;
      // When an answer was heard is the clock's affair.
      if (expected.heard_ns != 0 && programs_->state(slot_of(group)).heard_ns != 0)
        expected.heard_ns = programs_->state(slot_of(group)).heard_ns;
      if (std::memcmp(&programs_->state(slot_of(group)), &expected, sizeof(nic_state)) != 0)
        return "the state of group " + std::to_string(group);
      if (std::memcmp(pages_[group], &expected_pages_[group], sizeof(nic_page)) != 0)
        return "the page of group " + std::to_string(group);
      for (uint32_t number = 0; number < victim.group.size; ++number)
        if (programs_->member(first_member_of(group) + number).signs_of_life != victim.signs_of_life[number])
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
    std::vector<nic_operand> operands(kOperands);
    std::memset(operands.data(), kRed, kOperands * sizeof(nic_operand));
    for (uint32_t group = 0; group < kGroups; ++group) {
      const std::vector<nic_operand>& own = engine_.groups()[group].operands;
      std::copy(own.begin() + Victim::kBeside, own.end() - Victim::kBeside, &operands[first_operand_of(group)]);
    }
    EXPECT_EQ(std::memcmp(&programs_->operand(0), operands.data(), kOperands * sizeof(nic_operand)), 0);
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

  // The same in user space alone; then the kernel's memory is made the same.
  void start(uint32_t group) {
    const nic_message doorbell = packets_.doorbell(group);
    const nic_outcome outcome = engine_.start(group, doorbell, packets_.operand());
    const uint64_t result = doorbell.epoch % NIC_IN_FLIGHT;
    if (outcome.publishes != 0)
      pages_[group]->result[result] = expected_pages_[group].result[result] = engine_.groups()[group].results[result];
    copy(group);
  }
  void renew(uint32_t group) {
    engine_.renew(group);
    copy(group);
    pages_[group]->broken = expected_pages_[group].broken = 0;
  }
  void copy(uint32_t group) {
    const Victim& victim = engine_.groups()[group];
    programs_->state(slot_of(group)) = victim.state;
    std::copy(victim.operands.begin() + Victim::kBeside, victim.operands.end() - Victim::kBeside,
              &programs_->operand(first_operand_of(group)));
  }

  // Of a socket that may ring for the slot: mostly what its host could ring; what is different afterwards.
  std::string ring(const platform::Descriptor& doorbell, const nic_doorbell& rings, uint32_t group) {
    HostilePacket packet = packets_.below(8) == 0 ? packets_.noise() : packets_.misbehaving(group);
    nic_message message = message_of(packet);
    nic_operand operand = packets_.operand();
    if (packets_.below(8) != 0) {
      message = packets_.below(2) == 0 ? packets_.doorbell(group) : packets_.wild_doorbell(group);
      std::memcpy(&packet.bytes[NIC_HEADER_BYTES], &operand, sizeof operand);
      packet.length = NIC_HEADER_BYTES + sizeof(uint64_t) * message.carried;
      message.group = packets_.below(8) != 0 ? rings.slot : slot_of(packets_.below(2) == 0 ? group + 1 : 0);
      if (packets_.below(16) == 0) message.kind = static_cast<uint8_t>(packets_.below(NIC_DOORBELL));
      if (packets_.below(16) == 0) packet.length += 1 + packets_.below(7);
    }
    std::memcpy(&operand, &packet.bytes[NIC_HEADER_BYTES], sizeof operand);
    put(message, packet);
    Frame frame = frame_of(packet.datagram());
    // By headers that were made for a ring that carries nothing.
    const uint16_t shortest = htons(sizeof(udphdr) + NIC_HEADER_BYTES);
    if (packets_.below(2) == 0)
      std::memcpy(&frame[NIC_BEFORE_HEADER - NIC_UDP_BYTES + offsetof(udphdr, len)], &shortest, 2);
    expected_wire_.clear();
    bool passes = false;
    if (words_of_length(packet.length) < 0) {
      ++expected_[NIC_BAD_LENGTH];
      passes = true;
    } else if (message.group != rings.slot) {
      passes = message.kind != NIC_DOORBELL;
      if (!passes) ++expected_[NIC_NO_GROUP];
    } else if (message.kind != NIC_DOORBELL) {
      ++expected_[NIC_UNKNOWN_KIND];
    } else {
      bool is_last = false;
      const nic_outcome outcome = engine_.start(group, message, operand);
      expected_wire_ = sent_of(group, message, outcome, is_last);
      ++expected_[outcome.verdict == NIC_TAKEN ? uint32_t{NIC_DOORBELLS} : uint32_t{outcome.verdict}];
      (void)publish(group, message, outcome);
    }
    (void)send(doorbell.get(), frame.data(), frame.size(), 0);
    if (passes) {
      pollfd poll{wire_.get(), POLLIN, 0};
      Frame passed(frame.size() + 1);
      if (::poll(&poll, 1, 1000) != 1) return "a packet that doesn't go out";
      passed.resize(static_cast<size_t>(recv(wire_.get(), passed.data(), passed.size(), MSG_DONTWAIT)));
      if (passed != frame) return "a packet that isn't the same";
    }
    if (const std::string flaw = difference_of_wire(); !flaw.empty()) return flaw;
    if (!are_places_same(group, message.epoch)) return "an operand";
    return difference();
  }

  VictimEngine engine_{kSeed};
  HostilePackets packets_{engine_, kSeed + 1};
  std::unique_ptr<nic::KernelPrograms> programs_;
  std::array<nic_page*, kGroups> pages_ = {};
  std::array<nic_page, kGroups> expected_pages_ = {};
  nic::Counters expected_ = {};
  platform::Descriptor wire_;
  std::vector<Sent> expected_wire_;
  uint32_t expected_to_ = 0;        // where the packet itself goes
  uint64_t redirected_[2][2] = {};  // by whether they had content, and whether what goes out has
};

}  // namespace hocket::test
