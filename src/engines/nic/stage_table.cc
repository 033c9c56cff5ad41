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

// Of a program, for a schedule.
struct Room {
  size_t sends = NIC_MOST_SENDS;
  size_t arrivals = NIC_MOST_ARRIVALS;
  size_t stages = NIC_MOST_STAGES;
};

Status fits(const Plan& plan, const Room& room) {
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
  const std::string whose = "rank " + std::to_string(plan.shape.rank) + " has ";
  if (sends > room.sends)
    return unfit(whose + std::to_string(sends) + " messages to send, the most are " + std::to_string(room.sends));
  if (receives > room.arrivals)
    return unfit(whose + std::to_string(receives) + " to receive, the most are " + std::to_string(room.arrivals));
  if (stages > room.stages)
    return unfit(whose + std::to_string(stages) + " stages, the most are " + std::to_string(room.stages));
  return Status::ok();
}

}  // namespace

Status can_hold(const Plan& plan) { return fits(plan, {}); }

namespace {

// How many places of a member's lists are taken by what comes before the schedule.
struct Taken {
  uint8_t sends = 0;
  uint8_t arrivals = 0;
};

class Writer {
 public:
  // `program` has what comes before the schedule; `taken_by` tells so of all members.
  Writer(
      uint32_t rank, const std::function<Plan(uint32_t)>& plan_of, nic_program program = {},
      std::function<Taken(uint32_t)> taken_by = [](uint32_t) { return Taken(); })
      : rank_(rank), plan_of_(plan_of), taken_by_(std::move(taken_by)), program_(program) {}

  // `before`: what must have come before the schedule begins. Gives a program that is complete when all of it has.
  Result<nic_program> write(const Plan& plan, uint64_t before) {
    HOCKET_TRY(can_hold(plan));
    uint64_t received = before;
    for (const Step& step : plan.steps) {
      Result<uint8_t> place = place_at_peer(step);
      if (!place.is_ok()) return place.take_status();
      if (step.kind == StepKind::kReceive) {
        received |= uint64_t{1} << program_.arrivals;
        program_.arrival[program_.arrivals++] = {static_cast<uint16_t>(step.peer), place.value(), 0};
      } else {
        add_send(before, step.peer, place.value());
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
    const Taken taken = taken_by_(step.peer);
    const size_t place = list[next++] + (is_send ? taken.arrivals : taken.sends);
    return static_cast<uint8_t>(place);
  }

  void add_send(uint64_t need, uint32_t peer, uint8_t bit) {
    if (program_.stages == 0 || program_.need[program_.stages - 1] != need) program_.need[program_.stages++] = need;
    const auto stage = static_cast<uint8_t>(program_.stages - 1);
    program_.send[program_.sends++] = {static_cast<uint16_t>(peer), bit, stage};
    program_.end_send[stage] = program_.sends;
  }

  struct Peer {
    Places places;
    size_t next_send = 0;
    size_t next_receive = 0;
  };
  uint32_t rank_;
  const std::function<Plan(uint32_t)>& plan_of_;
  std::function<Taken(uint32_t)> taken_by_;
  std::map<uint32_t, Peer> peers_;
  nic_program program_;
};

}  // namespace

Result<nic_program> stage_table(uint32_t rank, Mode mode, const std::function<Plan(uint32_t)>& plan_of) {
  nic_program empty{};
  if (mode == Mode::kChain) empty.flags = NIC_RELIABLE_WIRE;
  if (mode == Mode::kAcknowledged) empty.flags = NIC_ACKNOWLEDGED;
  return Writer(rank, plan_of, empty).write(plan_of(rank), NIC_STARTED);
}

namespace {

constexpr uint32_t kHub = 0;
enum : uint8_t { kQuestion, kResult, kBroadcasts };  // the hub's sends, and others' arrivals
constexpr uint8_t kAnswer = 0;                       // others' send

void put_stage(nic_program& program, uint64_t need, nic_send send) {
  send.stage = program.stages;
  program.send[program.sends++] = send;
  program.need[program.stages] = need;
  program.end_send[program.stages++] = program.sends;
}

// The vote before the schedule.
nic_program vote_of(uint32_t rank, uint32_t size) {
  nic_program program{};
  program.flags = NIC_VOTES;
  if (rank == kHub) {
    for (uint32_t other = 1; other < size; ++other)
      program.arrival[program.arrivals++] = {static_cast<uint16_t>(other), kAnswer, 0};
    program.question = NIC_MOST_ARRIVALS;
    program.all = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1);
    put_stage(program, NIC_STARTED, {NIC_ALL, kQuestion, 0});
    put_stage(program, program.all, {NIC_ALL, kResult, 0});
    return program;
  }
  for (const uint8_t number : {kQuestion, kResult}) program.arrival[program.arrivals++] = {kHub, number, 0};
  program.question = kQuestion;
  program.all = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1);
  put_stage(program, uint64_t{1} << kQuestion, {kHub, static_cast<uint8_t>(rank - 1), 0});
  return program;
}

}  // namespace

Result<nic_program> broadcast_table(uint32_t rank, uint32_t size, const std::function<Plan(uint32_t)>& plan_of) {
  // The last bit says whether there was a veto.
  constexpr Room kAll = {NIC_MOST_SENDS, NIC_MOST_ARRIVALS - 1, NIC_MOST_STAGES};
  if (size - 1 > kAll.arrivals)
    return unfit("rank 0 would hear from " + std::to_string(size - 1) + " ranks, the most are " +
                 std::to_string(kAll.arrivals));
  const auto taken_by = [size](uint32_t member) {
    return member == kHub ? Taken{kBroadcasts, static_cast<uint8_t>(size - 1)} : Taken{1, kBroadcasts};
  };
  // All ranks are looked at by all, so that it is refused on all or on none.
  for (uint32_t member = 0; member < size; ++member) {
    const Taken taken = taken_by(member);
    const size_t stages = member == kHub ? kBroadcasts : 1;
    HOCKET_TRY(fits(plan_of(member), {kAll.sends - taken.sends, kAll.arrivals - taken.arrivals, kAll.stages - stages}));
  }
  const nic_program vote = vote_of(rank, size);
  Result<nic_program> written = Writer(rank, plan_of, vote, taken_by).write(plan_of(rank), vote.all | NIC_VETOED);
  if (!written.is_ok()) return written;
  nic_program program = written.take();
  program.instead = program.all;
  program.all = vote.all;
  return program;
}

}  // namespace hocket::engines::nic
