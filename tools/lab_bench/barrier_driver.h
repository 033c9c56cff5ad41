// SPDX-License-Identifier: BSD-3-Clause
// One rank's barrier, one rank a node, by one of the ways that are compared. All run the same schedules.
//
// Thread safety: one thread; each rank has its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engines/nic/port.h"
#include "engines/nic/stage_table.h"
#include "schedule/plan.h"

namespace hocket::lab_bench {

// How a rank waits: as long as it likes, or until a packet wakes it.
enum class Waiting : uint8_t { kSpin, kSleep };

// What ranks tell each other before they begin.
struct Card {
  uint32_t ip = 0;    // big-endian
  uint16_t port = 0;  // the same
  uint8_t mac[6] = {};
};

struct Place {
  uint32_t rank = 0;
  uint32_t size = 1;
  std::string interface;
  uint64_t job = 0;  // the same for all ranks, and for no other run
  Waiting waiting = Waiting::kSpin;
  std::function<schedule::Plan(uint32_t)> plan_of;
};

class BarrierDriver {
 public:
  virtual ~BarrierDriver() = default;
  // Before the ranks know each other; says where this one is reached.
  virtual Result<Card> open() = 0;
  // `cards`: of all ranks.
  virtual Status connect(const std::vector<Card>& cards) = 0;
  virtual Status barrier() = 0;
};

// By the NIC engine of the interface, which gets the part of the rank that `program_of` makes.
using ProgramOf = Result<nic_program> (*)(const Place& place);
std::unique_ptr<BarrierDriver> make_nic_driver(const Place& place, ProgramOf program_of);
// By the calling processor, over UDP or over raw packets of its own.
std::unique_ptr<BarrierDriver> make_udp_driver(const Place& place);
std::unique_ptr<BarrierDriver> make_packet_driver(const Place& place);

}  // namespace hocket::lab_bench
