// SPDX-License-Identifier: BSD-3-Clause
// One rank's calls of a collective, one rank a node, by one of the ways that are compared. All but an MPI's run the
// same schedules.
//
// Thread safety: one thread; each rank has its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/lab/task.h"
#include "engines/nic/port.h"
#include "engines/nic/stage_table.h"
#include "schedule/plan.h"

namespace hocket::lab_bench {

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
  Work work;
  std::function<schedule::Plan(uint32_t)> plan_of;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // Before the ranks know each other; says where this one is reached.
  virtual Result<Card> open() = 0;
  // `cards`: of all ranks.
  virtual Status connect(const std::vector<Card>& cards) = 0;
  // Of bytes: fills what this rank gives in that call, before its time counts.
  virtual void prepare(uint64_t /*call*/) {}
  // What is wrong with what this rank got in that call, which was the last one; "": nothing.
  virtual std::string difference(uint64_t /*call*/) { return ""; }
  // Begins the next call, and returns as soon as it can go on without this rank: the host's own ways carry it out
  // whole. `operand`: nullptr where this rank gives none. No rank begins a call before all that get something of the
  // one before have it.
  virtual Status begin(const nic_operand* operand) = 0;
  // Until what this rank gets is there, if it gets something. Of an MPI's calls in halves by all ranks, since it goes
  // on only while it is called.
  virtual Status finish(nic_operand& result) = 0;
};

// By the NIC engine of the interface, which gets the part of the rank that `programs_of` makes.
struct Programs {
  nic_program plain;
  std::vector<nic_program> synchronizing;  // what takes its place every so often; none: itself
};
using ProgramsOf = Result<Programs> (*)(const Place& place);
std::unique_ptr<Driver> make_nic_driver(const Place& place, ProgramsOf programs_of);
// By the calling processor, over UDP or over raw packets of its own.
std::unique_ptr<Driver> make_udp_driver(const Place& place);
std::unique_ptr<Driver> make_packet_driver(const Place& place);

}  // namespace hocket::lab_bench
