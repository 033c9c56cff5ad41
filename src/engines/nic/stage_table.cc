// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/stage_table.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/record.h"

namespace hocket::engines::nic {
namespace {

using schedule::Plan;
using schedule::Step;
using schedule::StepKind;

Status unfit(const std::string& why) {
  return {Code::kNotSupported, "the NIC engine can't hold this schedule: " + why};
}

// Where the messages between `rank` and `peer` stand in the plan's list of sends and in that of receives.
struct Places {
  std::vector<uint8_t> sends;
  std::vector<uint8_t> receives;
};

Places places_of(const Plan& plan, uint32_t peer) {
  Places places;
  uint8_t sends = 0;
  uint8_t receives = 0;
  for (const Step& step : plan.steps) {
    const bool is_send = step.kind == StepKind::kSend;
    if (step.peer == peer) (is_send ? places.sends : places.receives).push_back(is_send ? sends : receives);
    ++(is_send ? sends : receives);
  }
  return places;
}

}  // namespace

Status can_hold(const Plan& plan) {
  size_t stages = 0;
  bool is_stage_counted = false;
  size_t sends = 0;
  size_t receives = 0;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::kSend && step.kind != StepKind::kReceive)
      return unfit("it has other steps than sends and receives");
    if (!step.source.is_empty() || !step.destination.is_empty()) return unfit("its messages have content");
    ++(step.kind == StepKind::kSend ? sends : receives);
    if (step.kind == StepKind::kSend && !std::exchange(is_stage_counted, true)) ++stages;
    if (step.ends_stage) is_stage_counted = false;
  }
  const std::string whose = " rank " + std::to_string(plan.shape.rank) + " has ";
  if (sends > NIC_MOST_SENDS)
    return unfit(whose + std::to_string(sends) + " messages to send, the most are " + std::to_string(NIC_MOST_SENDS));
  if (receives > NIC_MOST_ARRIVALS)
    return unfit(whose + std::to_string(receives) + " to receive, the most are " + std::to_string(NIC_MOST_ARRIVALS));
  if (stages > NIC_MOST_STAGES)
    return unfit(whose + std::to_string(stages) + " stages, the most are " + std::to_string(NIC_MOST_STAGES));
  return Status::ok();
}

namespace {

class Writer {
 public:
  Writer(uint32_t rank, const std::function<Plan(uint32_t)>& plan_of) : rank_(rank), plan_of_(plan_of) {}

  Result<nic_program> write(const Plan& plan, Mode mode) {
    HOCKET_TRY(can_hold(plan));
    if (mode == Mode::kChain) program_.flags = NIC_RELIABLE_WIRE;
    if (mode == Mode::kAcknowledged) program_.flags = NIC_ACKNOWLEDGED;
    uint64_t before = NIC_STARTED;  // the stage
    uint64_t received = before;
    for (const Step& step : plan.steps) {
      Result<uint8_t> place = place_at_peer(step);
      if (!place.is_ok()) return place.take_status();
      if (step.kind == StepKind::kReceive) {
        received |= uint64_t{1} << program_.arrivals;
        program_.arrival[program_.arrivals++] = {static_cast<uint16_t>(step.peer), place.value(), 0};
      } else {
        HOCKET_TRY(add_send(before, step.peer, place.value()));
      }
      if (step.ends_stage) before = received;
    }
    program_.all = received;
    return program_;
  }

 private:
  // The number of the step's message in its peer's list: messages of a pair are matched in their order.
  Result<uint8_t> place_at_peer(const Step& step) {
    auto known = peers_.find(step.peer);
    if (known == peers_.end()) {
      const Plan plan = plan_of_(step.peer);
      HOCKET_TRY(can_hold(plan));
      known = peers_.emplace(step.peer, Peer{places_of(plan, rank_)}).first;
    }
    Peer& peer = known->second;
    const bool is_send = step.kind == StepKind::kSend;
    const std::vector<uint8_t>& list = is_send ? peer.places.receives : peer.places.sends;
    size_t& next = is_send ? peer.next_receive : peer.next_send;
    if (next == list.size())
      return unfit("ranks " + std::to_string(rank_) + " and " + std::to_string(step.peer) +
                   " don't expect the same messages");
    return list[next++];
  }

  Status add_send(uint64_t need, uint32_t peer, uint8_t bit) {
    if (program_.stages == 0 || program_.need[program_.stages - 1] != need) {
      program_.need[program_.stages++] = need;
    }
    const auto stage = static_cast<uint8_t>(program_.stages - 1);
    program_.send[program_.sends++] = {static_cast<uint16_t>(peer), bit, stage};
    program_.end_send[stage] = program_.sends;
    return Status::ok();
  }

  struct Peer {
    Places places;
    size_t next_send = 0;
    size_t next_receive = 0;
  };
  uint32_t rank_;
  const std::function<Plan(uint32_t)>& plan_of_;
  std::map<uint32_t, Peer> peers_;
  nic_program program_{};
};

}  // namespace

Result<nic_program> stage_table(uint32_t rank, Mode mode, const std::function<Plan(uint32_t)>& plan_of) {
  return Writer(rank, plan_of).write(plan_of(rank), mode);
}

}  // namespace hocket::engines::nic
