// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/nic_engine.h"

#include <algorithm>

#include "algorithms/triggered.h"
#include "engines/nic/call_size.h"
#include "engines/nic/operation_name.h"

namespace hocket::carriers {

using engines::nic::GroupCarrier;
using engines::nic::GroupDescription;
using engines::nic::Layout;
using schedule::Collective;
using schedule::Nodes;

namespace {

uint32_t leader_of(const Nodes& nodes, uint32_t node) { return nodes.ranks_of(node).front(); }

uint8_t operation_of(const EngineCall& call) {
  return engines::nic::operation_name(call.collective, call.operation, call.type);
}

Layout layout_of(Collective collective) {
  if (collective == Collective::kAllgather) return Layout::kRow;
  return collective == Collective::kAlltoall ? Layout::kExchange : Layout::kAsItIs;
}

}  // namespace

// --------------------------------------------------------------------------------------------

std::unique_ptr<NicEngine> NicEngine::find(NicType* type, const std::vector<NicOffer>& offers, const Nodes& nodes,
                                           uint32_t rank, std::string& why_not) {
  if (offers[0].wish == NicWish::kOff) {
    why_not = "HOCKET_NIC=off";
    return nullptr;
  }
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const uint32_t leader = leader_of(nodes, node);
    if (offers[leader].ip != 0) continue;
    why_not = "rank " + std::to_string(leader) + ": " + offers[leader].reason;
    return nullptr;
  }
  const auto agent = std::find_if(offers.begin(), offers.end(), [](const NicOffer& offer) { return offer.is_agent; });
  if (agent != offers.end() && offers[0].wish == NicWish::kAutomatic) {
    why_not = "the engine of rank " + std::to_string(agent - offers.begin()) +
              " is an agent, which is slower than messages as a rule; HOCKET_NIC=on uses it";
    return nullptr;
  }
  if (nodes.count() > NIC_MOST_MEMBERS) {
    why_not = std::to_string(nodes.count()) + " nodes, and a NIC group has " + std::to_string(NIC_MOST_MEMBERS) +
              " members at most";
    return nullptr;
  }
  return std::unique_ptr<NicEngine>(new NicEngine(type, offers, nodes, rank));
}

NicEngine::NicEngine(NicType* type, const std::vector<NicOffer>& offers, const Nodes& nodes, uint32_t rank)
    : type_(type),
      nodes_(nodes),
      rank_(rank),
      id_(offers[0].id),
      key_(offers[0].key),
      is_required_(offers[0].wish == NicWish::kOn),
      no_programs_(nodes, offers[0]),
      combines_on_arrival_(offers[0].combines_on_arrival),
      programs_(no_programs_) {
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const NicOffer& offer = offers[leader_of(nodes, node)];
    members_.push_back({offer.ip, offer.port});
  }
}

std::string NicEngine::hold_programs(const Choices& choices) { return programs_.fill(choices); }

// Groups know their programs from the beginning, so that there are other groups from now on.
Status NicEngine::prepare(const Choices& choices) {
  NicPrograms wanted = programs_;
  std::string against = wanted.extend(choices);
  if (!against.empty()) {
    // There may be room for it without what else is held.
    wanted = no_programs_;
    against = wanted.fill(choices);
  }
  if (!against.empty()) return is_required_ ? Status(Code::kInvalidArgument, std::move(against)) : Status::ok();
  if (wanted.are_same(programs_)) return Status::ok();
  ++generation_;
  prepared_ = std::move(wanted);
  return join_groups(*prepared_);
}

void NicEngine::adopt(bool is_used) {
  if (is_used && prepared_) {
    programs_ = std::move(*prepared_);
    take_groups();
  }
  prepared_.reset();
  for (auto& group : joined_) group.reset();
}

Status NicEngine::join() {
  HOCKET_TRY(join_groups(programs_));
  take_groups();
  return Status::ok();
}

Status NicEngine::join_groups(const NicPrograms& programs) {
  const uint32_t own = nodes_.node_of(rank_);
  if (leader_of(nodes_, own) != rank_) return Status::ok();
  GroupDescription description;
  description.key = key_;
  description.self = own;
  description.members = members_;
  HOCKET_TRY(programs.write(own, description));
  for (size_t track = 0; track < kTracks; ++track) {
    description.id = id_ + generation_ * kTracks + track;
    Result<std::unique_ptr<engines::nic::NicGroup>> group = type_->join(description);
    if (!group.is_ok()) return group.take_status();
    joined_[track] = group.take();
  }
  return Status::ok();
}

void NicEngine::take_groups() {
  std::vector<std::string> names;
  for (uint32_t node = 0; node < nodes_.count(); ++node)
    names.push_back("rank " + std::to_string(leader_of(nodes_, node)));
  for (size_t track = 0; track < kTracks; ++track) {
    if (joined_[track] == nullptr) continue;
    if (groups_[track] != nullptr) {
      groups_[track]->replace(std::move(joined_[track]));
    } else {
      groups_[track] = std::make_unique<GroupCarrier>(std::move(joined_[track]), names, nodes_.node_of(rank_));
    }
  }
}

bool NicEngine::carries(const engines::Instruction& step, const engines::Program&) const {
  return step.kind == schedule::StepKind::kTrigger;
}

// A rank that doesn't stand for its node relies on the one that does: it finds its node's part of the communicator
// broken, or has ended, which the engine tells.
bool NicEngine::report_failure() {
  return std::all_of(groups_.begin(), groups_.end(),
                     [](const auto& group) { return group == nullptr || group->abandon(); });
}

uint32_t NicEngine::culprit() const {
  for (const auto& group : groups_) {
    const uint32_t member = group == nullptr ? ~uint32_t{0} : group->culprit();
    if (member < nodes_.count()) return leader_of(nodes_, member);
  }
  return ~uint32_t{0};
}

bool NicEngine::may_carry(const EngineCall& call) const {
  if (!engines::nic::is_short(call.collective, call.bytes, nodes_)) return false;
  return call.collective == Collective::kBarrier || operation_of(call) != 0;
}

std::optional<schedule::Plan> NicEngine::plan(const selection::Choice& choice, const EngineCall& call,
                                              const schedule::Shape& wanted) const {
  const NicPrograms::Program* program = may_carry(call) ? programs_.find(choice) : nullptr;
  if (program == nullptr) return std::nullopt;
  schedule::Plan plan = algorithms::triggered_plan(*choice.algorithm, wanted);
  for (schedule::Step& step : plan.steps) {
    if (step.kind != schedule::StepKind::kTrigger) continue;
    step.trigger.program = program->number;
    step.trigger.operation = operation_of(call);
    step.trigger.layout = static_cast<uint8_t>(layout_of(call.collective));
    step.trigger.root = schedule::has_root(call.collective) ? nodes_.node_of(call.root) : 0;
  }
  return plan;
}

std::string NicEngine::explain(const selection::Choice& choice, const EngineCall& call) const {
  if (!may_carry(call))
    return "not used: engines carry out barriers, and of up to " + std::to_string(sizeof(nic_operand)) +
           " bytes in all broadcasts, reductions and allreductions (sum, min, max, and bitwise ones, of numbers of 4 "
           "and 8 bytes), and allgathers and alltoalls of nodes with equally many ranks";
  const NicPrograms::Program* program = programs_.find(choice);
  if (program == nullptr) {
    const std::string text =
        "not used: the messages between nodes of this choice aren't those of a program that is held";
    return programs_.why_not().empty() ? text : text + " (" + programs_.why_not() + ")";
  }
  std::string text = "in use: the engines of " + std::to_string(nodes_.count()) + " nodes carry out " +
                     std::string(program->held.algorithm->name);
  if (program->held.degree != 0) text += "/" + std::to_string(program->held.degree);
  text += " between them";
  if (combines_on_arrival_ && schedule::combines(program->held.algorithm->collective))
    text += program->on_arrival ? ", operands combined as they come"
                                : ", operands combined in its order, since they are sent on one after the other";
  return text;
}

}  // namespace hocket::carriers
