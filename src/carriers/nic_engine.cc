// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/nic_engine.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"
#include "engines/nic/operation_name.h"
#include "engines/nic/stage_table.h"

namespace hocket::carriers {

using algorithms::Algorithm;
using engines::nic::GroupCarrier;
using engines::nic::GroupDescription;
using engines::nic::Layout;
using engines::nic::NicPort;
using schedule::Collective;
using schedule::Nodes;

namespace {

uint32_t leader_of(const Nodes& nodes, uint32_t node) { return nodes.ranks_of(node).front(); }

// The degrees with which an algorithm may be chosen.
std::vector<uint32_t> degrees_of(const Algorithm& algorithm) {
  std::vector<uint32_t> degrees(algorithm.degrees.begin(), algorithm.degrees.end());
  degrees.insert(degrees.end(), algorithm.degrees_over_nodes.begin(), algorithm.degrees_over_nodes.end());
  if (degrees.empty()) degrees.push_back(0);
  return degrees;
}

// What is meant where a choice names no degree.
uint32_t degree_of(const Algorithm& algorithm, uint32_t chosen) {
  return chosen == 0 && !algorithm.degrees.empty() ? algorithm.degrees.front() : chosen;
}

size_t across_part(const Algorithm& composition) {
  const auto is_across = [](const algorithms::Part& part) { return part.family == algorithms::Family::kAcross; };
  return static_cast<size_t>(std::find_if(composition.parts.begin(), composition.parts.end(), is_across) -
                             composition.parts.begin());
}

// What engines hold beside barriers. A tree of degree 8 is flat up to 8 nodes.
struct Content {
  Collective collective;
  const char* algorithm;
  uint32_t degree;
};
constexpr Content kContents[] = {{Collective::kBroadcast, "tree_mm", 8},
                                 {Collective::kReduce, "tree_mm", 8},
                                 {Collective::kAllreduce, "tree_mm", 8},
                                 {Collective::kAllreduce, "recursive_doubling", 0},
                                 {Collective::kAlltoall, "linear", 0}};
// An allgather of short blocks is an allreduction of rows in which all but one's own block are zeros.
constexpr const char* kGathersLikeAllreduce = "tree_mm";

// In the place of algorithms between nodes. Ranks are counted from the root.
void trigger_barrier(schedule::Builder& builder) { builder.trigger({}, {}); }
void trigger_broadcast(schedule::Builder& builder) {
  const bool is_root = builder.rank() == 0;
  builder.trigger(is_root ? builder.output() : schedule::Slice{}, is_root ? schedule::Slice{} : builder.output());
}
void trigger_reduce(schedule::Builder& builder) {
  builder.trigger(builder.input(), builder.rank() == 0 ? builder.output() : schedule::Slice{});
}
void trigger_all(schedule::Builder& builder) { builder.trigger(builder.input(), builder.output()); }

void (*trigger_of(Collective collective))(schedule::Builder&) {
  switch (collective) {
    case Collective::kBroadcast:
      return trigger_broadcast;
    case Collective::kReduce:
      return trigger_reduce;
    case Collective::kBarrier:
      return trigger_barrier;
    default:
      return trigger_all;
  }
}

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
      combines_on_arrival_(offers[0].combines_on_arrival) {
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const NicOffer& offer = offers[leader_of(nodes, node)];
    members_.push_back({offer.ip, offer.port});
  }
}

std::string NicEngine::hold_programs(const selection::Choice* barrier) {
  if (barrier != nullptr) {
    // First, since it may have a degree that isn't listed.
    const std::optional<HeldProgram> between = between_nodes(*barrier);
    if (!between)
      return "the barrier that is chosen (" + std::string(barrier->algorithm->name) +
             ") has messages of ranks that don't stand for their nodes; leader:across=... has none";
    hold(*between);
    if (programs_.empty()) return "the barrier that is chosen doesn't fit into a NIC engine; " + why_not_;
  }
  // Then one of each kind that has content, and other barriers in what room is left.
  for (const Content& content : kContents)
    hold({algorithms::find(content.collective, content.algorithm), content.degree});
  for (const Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != Collective::kBarrier || !algorithms::is_by_messages(*algorithm)) continue;
    for (const uint32_t degree : degrees_of(*algorithm)) hold({algorithm, degree});
  }
  const bool has_barrier = std::any_of(programs_.begin(), programs_.end(), [](const Program& program) {
    return program.held.algorithm->collective == Collective::kBarrier;
  });
  if (has_barrier) return "";
  return "no barrier between " + std::to_string(nodes_.count()) + " nodes fits into a NIC engine; " + why_not_;
}

schedule::Plan NicEngine::plan_of(const HeldProgram& held, uint32_t member) const {
  return algorithms::make_plan(*held.algorithm, {.size = nodes_.count(), .rank = member, .degree = held.degree});
}

// All members' parts are looked at by all, so that all hold the same.
Status NicEngine::can_hold(const HeldProgram& wanted, bool has_twin, bool on_arrival) const {
  for (uint32_t member = 0; member < nodes_.count(); ++member) {
    const schedule::Plan plan = plan_of(wanted, member);
    HOCKET_TRY(engines::nic::can_hold(plan, {.on_arrival = on_arrival}));
    if (has_twin) HOCKET_TRY(engines::nic::can_hold(plan, {.synchronizes = true, .on_arrival = on_arrival}));
  }
  return Status::ok();
}

void NicEngine::hold(HeldProgram wanted) {
  wanted.degree = degree_of(*wanted.algorithm, wanted.degree);
  const auto is_same = [&](const Program& program) { return program.held == wanted; };
  if (std::find_if(programs_.begin(), programs_.end(), is_same) != programs_.end()) return;
  const bool has_twin = schedule::has_root(wanted.algorithm->collective);
  if (next_program_ + has_twin >= NIC_MOST_PROGRAMS) {
    set_why_not("a group has " + std::to_string(NIC_MOST_PROGRAMS) + " programs, which others have taken");
    return;
  }
  const bool on_arrival = combines_on_arrival_ && can_hold(wanted, has_twin, true).is_ok();
  const Status fits = can_hold(wanted, has_twin, on_arrival);
  if (fits.is_ok()) {
    programs_.push_back({wanted, static_cast<uint8_t>(next_program_), has_twin, on_arrival});
    next_program_ += has_twin ? 2 : 1;
  } else {
    set_why_not(std::string(wanted.algorithm->name) + ": " + fits.message());
  }
}

Status NicEngine::join() {
  const uint32_t own = nodes_.node_of(rank_);
  if (leader_of(nodes_, own) != rank_) return Status::ok();
  GroupDescription description;
  description.key = key_;
  description.self = own;
  description.members = members_;
  for (const Program& program : programs_) {
    for (const bool synchronizes : {false, true}) {
      if (synchronizes && !program.has_twin) continue;
      Result<nic_program> table =
          engines::nic::stage_table(own, {.synchronizes = synchronizes, .on_arrival = program.on_arrival},
                                    [&](uint32_t member) { return plan_of(program.held, member); });
      if (!table.is_ok()) return table.take_status();
      description.programs.push_back(table.value());
      description.synchronizing.push_back(static_cast<uint8_t>(program.number + program.has_twin));
    }
  }
  std::vector<std::string> names;
  for (uint32_t node = 0; node < nodes_.count(); ++node)
    names.push_back("rank " + std::to_string(leader_of(nodes_, node)));
  for (size_t track = 0; track < groups_.size(); ++track) {
    description.id = id_ + track;
    Result<std::unique_ptr<engines::nic::NicGroup>> group = type_->join(description);
    if (!group.is_ok()) return group.take_status();
    groups_[track] = std::make_unique<GroupCarrier>(group.take(), names, own);
  }
  return Status::ok();
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

// What the choice does between nodes. Nothing where ranks exchange messages with other nodes that don't stand for their
// own.
std::optional<NicEngine::HeldProgram> NicEngine::between_nodes(const selection::Choice& choice) const {
  const Algorithm* algorithm = choice.algorithm;
  uint32_t degree = choice.degree;
  if (algorithms::is_composition(*algorithm)) {
    const size_t across = across_part(*algorithm);
    // Several ranks of a node take part in it, or none.
    if (across == algorithm->parts.size() || algorithm->name != "leader") return std::nullopt;
    // So they do with more leaders than one.
    if (algorithm->collective == Collective::kAlltoall && degree > 1) return std::nullopt;
    const selection::PartChoice& part = choice.parts[across];
    algorithm = part.algorithm;
    degree = part.degree;
  } else if (nodes_.most() > 1) {
    return std::nullopt;
  }
  if (algorithm == nullptr) return std::nullopt;
  return HeldProgram{algorithm, degree_of(*algorithm, degree)};
}

const NicEngine::Program* NicEngine::program_of(const selection::Choice& choice) const {
  std::optional<HeldProgram> wanted = between_nodes(choice);
  if (!wanted) return nullptr;
  if (wanted->algorithm->collective == Collective::kAllgather && wanted->algorithm->name == kGathersLikeAllreduce)
    wanted->algorithm = algorithms::find(Collective::kAllreduce, kGathersLikeAllreduce);
  const auto found =
      std::find_if(programs_.begin(), programs_.end(), [&](const Program& program) { return program.held == *wanted; });
  return found == programs_.end() ? nullptr : &*found;
}

// Words that the call would have; all ones: there is no such call.
uint64_t NicEngine::words_of(const EngineCall& call) const {
  constexpr uint64_t kNone = ~uint64_t{0};
  using engines::nic::words_for;
  const bool are_even = nodes_.most() * nodes_.count() == nodes_.ranks();
  switch (call.collective) {
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
      return words_for(call.bytes);
    case Collective::kAllgather:
      return are_even ? words_for(call.bytes * nodes_.ranks()) : kNone;
    case Collective::kAlltoall:
      // What a node's ranks have for another's travels as one block.
      return are_even ? words_for(call.bytes * nodes_.most() * nodes_.most()) * nodes_.count() : kNone;
    default:
      return kNone;
  }
}

bool NicEngine::may_carry(const EngineCall& call) const {
  if (call.collective == Collective::kBarrier) return true;
  // Blocks may be long, and so are not multiplied before.
  if (operation_of(call) == 0 || call.bytes == 0 || call.bytes > sizeof(nic_operand)) return false;
  return words_of(call) <= NIC_MOST_WORDS;
}

std::optional<schedule::Plan> NicEngine::plan(const selection::Choice& choice, const EngineCall& call,
                                              const schedule::Shape& wanted) const {
  const Program* program = may_carry(call) ? program_of(choice) : nullptr;
  if (program == nullptr) return std::nullopt;
  Algorithm algorithm = *choice.algorithm;
  schedule::Shape shape = wanted;
  // Members of the group stand for their nodes.
  shape.first_ranks_lead = true;
  if (algorithms::is_composition(algorithm)) {
    shape.parts[across_part(algorithm)].build = trigger_of(call.collective);
  } else {
    algorithm.build = trigger_of(call.collective);
  }
  schedule::Plan plan = algorithms::make_plan(algorithm, shape);
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
  const Program* program = program_of(choice);
  if (program == nullptr) {
    const std::string text =
        "not used: the messages between nodes of this choice aren't those of a program that is held";
    return why_not_.empty() ? text : text + " (" + why_not_ + ")";
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
