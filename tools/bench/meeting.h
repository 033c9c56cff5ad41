// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of an MPI wait for each other between calls that are measured, by means that belong to neither side.
//
// On one machine they meet at a counter in memory that all map, also if they are on several nodes (of the lab, or by
// HOCKET_NODE). With several machines, each has a counter; when all of its ranks have come, its first rank exchanges
// messages without bytes with those of the others (a dissemination) and then lets its own ranks go. So ranks of one
// machine go as evenly as a counter lets them, and machines differ by the way of a message or two.
// Where the ranks of a machine can't share memory, each counts as a machine.
//
// Thread safety: none. Collective.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/meeting_point.h"
#include "bench/shared_area.h"
#include "hocket/hocket.h"

namespace hocket::bench {

class Meeting {
 public:
  // machines[rank]: the same for ranks of one machine. `wire`: used for nothing else while ranks meet, of the same
  // ranks; tags from kFirstTag-1 on are the meeting's own.
  Meeting(int rank, std::span<const uint64_t> machines, const hocket_wire_t& wire, const Gather& gather);
  static constexpr uint32_t kFirstTag = 100;

  enum class Waiting : uint8_t {
    kReady,   // looks all the time, or yields where ranks share cores
    kAsleep,  // mostly sleeps: leaves the cores to others that are at work
  };
  void meet(Waiting waiting);
  // With a counter each.
  uint32_t machines() const { return static_cast<uint32_t>(leaders_.size()); }

 private:
  struct Counters {
    MeetingPoint come;
    MeetingPoint go;
  };
  void look(Waiting waiting);
  void exchange(Waiting waiting);
  void pass(uint32_t to, uint32_t from, uint32_t tag, Waiting waiting);
  bool find_oversubscribed(std::span<const uint64_t> machines, const Gather& gather) const;

  const hocket_wire_t& wire_;
  uint64_t own_machine_;
  std::unique_ptr<SharedArea> area_;
  Counters* counters_ = nullptr;   // nullptr: alone on the machine
  std::vector<uint32_t> leaders_;  // the first rank of each machine
  uint32_t own_place_ = 0;         // of the machine, among leaders_
  uint32_t ranks_here_ = 1;
  bool is_leader_ = true;
  bool oversubscribed_ = false;
  uint32_t looks_ = 0;
  uint32_t pause_us_ = 0;  // the next one
};

}  // namespace hocket::bench
