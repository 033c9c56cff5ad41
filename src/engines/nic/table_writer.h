// SPDX-License-Identifier: BSD-3-Clause
// Writes one rank's part of a schedule behind what its program has already: stages, messages and what they carry.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/status.h"
#include "engines/nic/contents.h"
#include "protocol/record.h"
#include "schedule/plan.h"

namespace hocket::engines::nic {

using PlanOf = std::function<schedule::Plan(uint32_t rank)>;

constexpr uint32_t kHub = 0;  // the member that asks, of a vote, and the one for whom a table with a root is written

// Of a program, for a schedule.
struct Room {
  size_t sends = NIC_MOST_SENDS;
  size_t arrivals = NIC_MOST_ARRIVALS;
  size_t stages = NIC_MOST_STAGES;
};

// How many places of a member's lists are taken by what is not the schedule's.
struct Taken {
  uint8_t sends = 0;
  uint8_t arrivals = 0;
};

inline bool is_receive(const schedule::Step& step) {
  return step.kind == schedule::StepKind::kReceive || step.kind == schedule::StepKind::kReceiveCombine;
}
inline bool is_work(const schedule::Step& step) {
  return step.kind == schedule::StepKind::kCopy || step.kind == schedule::StepKind::kCombine;
}

// Whether there is room for the plan's messages.
Status fits(const schedule::Plan& plan, const Room& room);

class TableWriter {
 public:
  // `program` has what comes before the schedule; `taken_by` tells so of all members. `contents` writes to `program`,
  // too.
  TableWriter(uint32_t rank, const PlanOf& plan_of, std::function<Taken(uint32_t)> taken_by, nic_program& program,
              Contents& contents)
      : rank_(rank), plan_of_(plan_of), taken_by_(std::move(taken_by)), program_(program), contents_(contents) {}

  // `before`: what must have come before the schedule begins. The program is complete when all of it has.
  // `at_first_send` is called before the first message goes out, with what must have come by then; if none does, in the
  // end.
  Status write(const schedule::Plan& plan, uint64_t before,
               const std::function<Status(uint64_t need)>& at_first_send = nullptr);
  // One message more, in a stage of what needs the same.
  void add(uint64_t need, const nic_send& send);

 private:
  // Where the messages between two ranks stand in the plan's list of sends and in that of receives.
  struct Peer {
    std::vector<uint8_t> sends;
    std::vector<uint8_t> receives;
    size_t next_send = 0;
    size_t next_receive = 0;
  };
  static Peer places_of(const schedule::Plan& plan, uint32_t peer);
  Result<uint8_t> place_at_peer(const schedule::Step& step);
  Status receive(const schedule::Step& step);
  Status send(const schedule::Step& step, uint64_t before);

  uint32_t rank_;
  const PlanOf& plan_of_;
  std::function<Taken(uint32_t)> taken_by_;
  nic_program& program_;
  Contents& contents_;
  std::map<uint32_t, Peer> peers_;
};

}  // namespace hocket::engines::nic
