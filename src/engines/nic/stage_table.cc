// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/stage_table.h"

#include <string>
#include <vector>

#include "engines/nic/depths.h"
#include "engines/nic/table_writer.h"
#include "protocol/operands.h"

namespace hocket::engines::nic {
namespace {

using schedule::Collective;
using schedule::Plan;
using schedule::Step;
using schedule::StepKind;

// Of a program with a root: the message to a root that isn't member 0, or from it.
constexpr uint8_t kRootBit = 0;
constexpr uint8_t kRootSend = 0;

// What a program with a root has before the schedule's messages.
Taken taken_by_root(Collective collective, uint32_t member) {
  switch (collective) {
    case Collective::kReduce:
      return {static_cast<uint8_t>(member == kHub), 1};
    case Collective::kBroadcast:
      return {static_cast<uint8_t>(member != kHub), 1};
    default:
      return {};
  }
}

Room room_of(const Plan& plan) {
  const Taken taken = taken_by_root(plan.collective, plan.shape.rank);
  // The last bit says that the host has the result.
  const size_t last = plan.collective == Collective::kBarrier ? 0 : 1;
  Room room;
  room.sends -= taken.sends;
  room.arrivals -= taken.arrivals + last;
  room.stages -= taken.sends;
  return room;
}

// The schedule backwards, by messages without content.
std::vector<Step> mirrored(const std::vector<Step>& steps) {
  std::vector<Step> back;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    // The last of its stage is met first: what is here already is of another.
    if (step->ends_stage && !back.empty()) back.back().ends_stage = true;
    if (is_work(*step)) continue;
    back.emplace_back();
    back.back().kind = is_receive(*step) ? StepKind::kSend : StepKind::kReceive;
    back.back().peer = step->peer;
    back.back().ends_stage = false;
  }
  if (!back.empty()) back.back().ends_stage = true;
  return back;
}

Plan formed(Plan plan, const Form& form) {
  if (!form.synchronizes) return plan;
  const std::vector<Step> back = mirrored(plan.steps);
  const bool is_before = plan.collective == Collective::kBroadcast;
  plan.steps.insert(is_before ? plan.steps.begin() : plan.steps.end(), back.begin(), back.end());
  return plan;
}

Status is_held(const Plan& plan, const Form& form) {
  switch (plan.collective) {
    case Collective::kBarrier:
      return Status::ok();
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kAlltoall:
      break;
    default:
      return unfit("it is none of a barrier, broadcast, reduce, allreduce or alltoall");
  }
  if (form.mode == Mode::kDirect) return unfit("messages with content aren't acknowledged one by one");
  if (plan.shape.root != kHub) return unfit("it is written for root " + std::to_string(plan.shape.root) + ", not 0");
  if (plan.collective == Collective::kAlltoall && plan.shape.size > NIC_MOST_WORDS)
    return unfit("an operand has slices for " + std::to_string(NIC_MOST_WORDS) + " ranks at most");
  return Status::ok();
}

// A program before the schedule's messages, and the messages that depend on the root.
class Roots {
 public:
  Roots(const Plan& plan, nic_program& program, Contents& contents)
      : collective_(plan.collective), is_hub_(plan.shape.rank == kHub), program_(program), contents_(contents) {}

  // Gives what must have come before the schedule begins.
  uint64_t begin() {
    const Taken taken = taken_by_root(collective_, is_hub_ ? kHub : kHub + 1);
    if (taken.arrivals == 0) return NIC_STARTED;
    nic_arrival& arrival = program_.arrival[program_.arrivals++];
    arrival = {NIC_NOT_USED, 0, NIC_NO_OPERAND, NIC_WHOLE, 0};
    if (collective_ == Collective::kReduce) {
      program_.flags |= NIC_TO_ROOT;
      if (!is_hub_) arrival = {kHub, kRootSend, program_.operands++, NIC_WHOLE, 0};
      return NIC_STARTED;
    }
    program_.flags |= NIC_FROM_ROOT;
    if (!is_hub_) return NIC_STARTED;
    arrival = {NIC_ROOT, kRootSend, NIC_HOSTS_OPERAND, NIC_WHOLE, 0};
    return NIC_STARTED | uint64_t{1} << kRootBit;
  }

  // The message of member 0 to a root, or to member 0 from it.
  Status send(TableWriter& writer, uint64_t need) {
    if (taken_by_root(collective_, is_hub_ ? kHub : kHub + 1).sends == 0) return Status::ok();
    const bool is_to_root = collective_ == Collective::kReduce;
    Result<nic_content> content = is_to_root ? contents_.result() : contents_.operand_at(NIC_HOSTS_OPERAND);
    if (!content.is_ok()) return content.take_status();
    const uint16_t member = is_to_root ? NIC_ROOT : NIC_HUB;
    writer.add(is_to_root ? need : NIC_STARTED, {member, kRootBit, NIC_WHOLE, content.value()});
    return Status::ok();
  }

  // What the host gets.
  Status end() {
    if (collective_ == Collective::kBarrier) return Status::ok();
    const bool is_from_hub = collective_ == Collective::kReduce && !is_hub_;
    const nic_arrival& arrival = program_.arrival[kRootBit];
    Result<nic_content> content = is_from_hub ? contents_.operand_at(arrival.operand) : contents_.result();
    if (!content.is_ok()) return content.take_status();
    program_.result = {NIC_NOT_USED, 0, NIC_WHOLE, content.value()};
    program_.all |= NIC_PUBLISHED;
    if (is_from_hub) program_.all |= uint64_t{1} << kRootBit;
    return Status::ok();
  }

 private:
  Collective collective_;
  bool is_hub_;
  nic_program& program_;
  Contents& contents_;
};

// How deep each arrival is. The message of a root to member 0 comes before all others, that to a root behind them.
void write_depths(Collective collective, const Depths& depths, const Taken& taken, nic_program& program) {
  const uint32_t before = collective == Collective::kBroadcast ? 1 : 0;
  if (taken.arrivals != 0)
    program.arrival[kRootBit].depth = depth_of_arrival(collective == Collective::kReduce ? depths.deepest + 1 : before);
  for (size_t i = 0; i < depths.receives.size(); ++i)
    program.arrival[taken.arrivals + i].depth = depth_of_arrival(depths.receives[i] + before);
}

// `formed_plan_of`: plans as the form has them.
Result<nic_program> written(const Plan& plan, const Form& form, const PlanOf& formed_plan_of,
                            const std::function<Result<Depths>()>& depths) {
  nic_program program{};
  if (form.mode == Mode::kChain) program.flags = NIC_RELIABLE_WIRE;
  if (form.mode == Mode::kDirect) program.flags = NIC_ACKNOWLEDGED;
  const auto taken_by = [&](uint32_t member) { return taken_by_root(plan.collective, member); };
  Contents contents(plan, program);
  Roots roots(plan, program, contents);
  TableWriter writer(plan.shape.rank, formed_plan_of, taken_by, program, contents);
  const uint64_t before = roots.begin();
  HOCKET_TRY(writer.write(formed(plan, form), before, [&](uint64_t need) { return roots.send(writer, need); }));
  Result<Depths> found = depths();
  if (!found.is_ok()) return found.take_status();
  HOCKET_TRY(roots.end());
  write_depths(plan.collective, found.value(), taken_by(plan.shape.rank), program);
  if (form.on_arrival) HOCKET_TRY(contents.pool());
  return program;
}

}  // namespace

Status can_hold(const Plan& plan, const Form& form) {
  HOCKET_TRY(is_held(plan, form));
  HOCKET_TRY(fits(formed(plan, form), room_of(plan)));
  nic_program program{};
  Contents contents(plan, program);
  for (const Step& step : plan.steps) {
    nic_send send{};
    nic_arrival arrival{};
    HOCKET_TRY(is_work(step) ? contents.work(step)
                             : (is_receive(step) ? contents.receive(step, arrival) : contents.send(step, send)));
    if (step.kind == StepKind::kSend) program.send[program.sends++] = send;
  }
  Result<nic_content> result = contents.result();
  if (!result.is_ok()) return result.take_status();
  program.result.content = result.value();
  return form.on_arrival ? contents.pool() : Status::ok();
}

Result<nic_program> stage_table(uint32_t rank, const Form& form, const PlanOf& plan_of) {
  const Plan plan = plan_of(rank);
  HOCKET_TRY(can_hold(plan, form));
  Status unlike;
  const PlanOf formed_plan_of = [&](uint32_t peer) {
    Plan other = plan_of(peer);
    if (unlike.is_ok()) unlike = can_hold(other, form);
    return formed(std::move(other), form);
  };
  return written(plan, form, formed_plan_of, [&]() -> Result<Depths> {
    // Of those that it exchanges messages with.
    HOCKET_TRY(std::move(unlike));
    return depths_of(rank, plan.shape.size, formed_plan_of);
  });
}

Result<std::vector<nic_program>> stage_tables(uint32_t size, const Form& form, const PlanOf& plan_of) {
  for (uint32_t rank = 0; rank < size; ++rank) HOCKET_TRY(can_hold(plan_of(rank), form));
  const PlanOf formed_plan_of = [&](uint32_t rank) { return formed(plan_of(rank), form); };
  const std::vector<Depths> depths = depths_of_all(size, formed_plan_of);
  std::vector<nic_program> programs;
  programs.reserve(size);
  for (uint32_t rank = 0; rank < size; ++rank) {
    Result<nic_program> program =
        written(plan_of(rank), form, formed_plan_of, [&]() -> Result<Depths> { return depths[rank]; });
    if (!program.is_ok()) return program.take_status();
    programs.push_back(program.take());
  }
  return programs;
}

}  // namespace hocket::engines::nic
