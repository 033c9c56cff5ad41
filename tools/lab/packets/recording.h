// SPDX-License-Identifier: BSD-3-Clause
// What was told of packets and doorbells (bpf/lab_port.h), as lines of JSON, one a packet or a doorbell, in the order
// in which they were sent. docs/lab.md describes them.
//
// A packet is told of when its node has sent it, when it is on the last link to a node, and when it comes from there
// later, or once more. These belong together if the words are the same; of packets with the same words, which are
// repetitions, they are the first one's that lacks them. How long that is waited for says settle().
//
// Thread safety: one thread. Units: nanoseconds of the monotonic clock; in lines, since the recording began.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bpf/lab_port.h"
#include "lab/netlink.h"
#include "protocol/packet.h"

namespace hocket::lab {

class Recording {
 public:
  // `addresses`: of the nodes. `write` gets lines with their ends.
  Recording(const std::vector<MacAddress>& addresses, uint64_t began_ns, std::function<void(std::string_view)> write);

  // In the order of their times.
  void take(const lab_event& event);
  // Writes what was sent before that time; of such nothing more is expected.
  void settle(uint64_t before_ns);
  uint64_t packets() const { return packets_; }
  uint64_t doorbells() const { return doorbells_; }

 private:
  using Words = std::array<__u64, LAB_ENGINE_WORDS>;
  struct Hash {
    size_t operator()(const Words& words) const;
  };
  // On its last link.
  struct Way {
    int node = 0;
    uint32_t hits = 0;
    uint64_t time_ns = 0;
    unsigned arrivals = 0;
    std::array<uint64_t, 2> arrives_ns = {};

    unsigned expected() const;
  };
  struct Entry {
    lab_event event = {};
    nic_message message = {};
    std::vector<Way> ways;
  };
  // Of a node and a group whose packets it was seen to send or get.
  struct Membership {
    uint16_t member = 0;
    uint64_t first_epoch = 0;
    uint64_t last_epoch = 0;
    bool is_over = false;
  };
  // The group whose doorbells bear this number in a node.
  struct Slot {
    uint64_t group = 0;
    uint64_t epoch = 0;
  };

  Entry& add(const lab_event& event);
  void take_on_last_link(const lab_event& event);
  void take_again(const lab_event& event);
  void see(int node, uint64_t group, uint16_t member, const nic_message& message);
  std::optional<uint64_t> group_of(int node, const nic_message& doorbell);
  void write_packet(const Entry& entry);
  void write_doorbell(const Entry& entry);
  void forget(const Entry& entry);
  uint64_t since_began(uint64_t time_ns) const { return time_ns - began_ns_; }

  std::map<MacAddress, int> nodes_;
  uint64_t began_ns_;
  std::function<void(std::string_view)> write_;
  std::deque<Entry> entries_;
  std::unordered_map<Words, std::vector<Entry*>, Hash> on_the_way_;
  std::map<std::pair<int, uint64_t>, Membership> memberships_;
  std::map<std::pair<int, uint64_t>, Slot> slots_;
  uint64_t packets_ = 0;
  uint64_t doorbells_ = 0;
};

}  // namespace hocket::lab
