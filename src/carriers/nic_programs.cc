// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/nic_programs.h"

#include <algorithm>
#include <utility>

#include "algorithms/algorithm.h"
#include "algorithms/composition.h"
#include "algorithms/facts.h"
#include "engines/nic/stage_table.h"

namespace hocket::carriers {

using algorithms::Algorithm;
using schedule::Collective;
using schedule::Nodes;

namespace {

// The degrees with which an algorithm may be chosen.
std::vector<uint32_t> degrees_of(const Algorithm& algorithm) {
  std::vector<uint32_t> degrees(algorithm.degrees.begin(), algorithm.degrees.end());
  degrees.insert(degrees.end(), algorithm.degrees_over_nodes.begin(), algorithm.degrees_over_nodes.end());
  if (degrees.empty()) degrees.push_back(0);
  return degrees;
}

// Of which engines carry out short ones.
constexpr Collective kCollectives[] = {Collective::kBarrier,   Collective::kBroadcast, Collective::kReduce,
                                       Collective::kAllreduce, Collective::kAllgather, Collective::kAlltoall};
// What engines hold beside what is chosen and barriers. A tree of degree 8 is flat up to 8 nodes.
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
// What hocket_force() may name later: two trees with a root.
constexpr uint32_t kRoomForMore = 4;
constexpr const char* kNoLeadersMessages =
    "messages of ranks that don't stand for their nodes; leader:across=... has none";

// How many bytes a call may have, at most.
uint64_t longest_of(const Nodes& nodes, Collective collective) {
  uint64_t blocks = 1;
  if (collective == Collective::kAllgather) blocks = nodes.ranks();
  if (collective == Collective::kAlltoall) blocks = uint64_t{nodes.most()} * nodes.most() * nodes.count();
  return std::max<uint64_t>(sizeof(nic_operand) / blocks, 1);
}

// What the choice does between nodes. Nothing where ranks exchange messages with other nodes that don't stand for their
// own.
std::optional<HeldProgram> between_nodes(const Nodes& nodes, const selection::Choice& choice) {
  const Algorithm* algorithm = choice.algorithm;
  uint32_t degree = choice.degree;
  if (algorithms::is_composition(*algorithm)) {
    const size_t across = algorithms::across_part(*algorithm);
    // Several ranks of a node take part in it, or none.
    if (across == algorithm->parts.size() || algorithm->name != "leader") return std::nullopt;
    // So they do with more leaders than one.
    if (algorithm->collective == Collective::kAlltoall && degree > 1) return std::nullopt;
    const selection::PartChoice& part = choice.parts[across];
    algorithm = part.algorithm;
    degree = part.degree;
  } else if (nodes.most() > 1) {
    return std::nullopt;
  }
  if (algorithm == nullptr) return std::nullopt;
  return HeldProgram{algorithm, algorithms::degree_meant(*algorithm, degree)};
}

}  // namespace

std::string NicPrograms::hold_barrier(const Choices& choices) {
  const std::vector<selection::Choice> barriers = choices.of(Collective::kBarrier, 0, kNicWire);
  if (barriers.empty()) return "";
  const std::optional<HeldProgram> between = between_nodes(*nodes_, barriers.front());
  if (!between)
    return "the barrier that is chosen (" + std::string(barriers.front().algorithm->name) + ") has " +
           kNoLeadersMessages;
  const std::string why = hold(*between);
  return why.empty() ? "" : "the barrier that is chosen doesn't fit into a NIC engine; " + why;
}

// "", or why not.
std::string NicPrograms::hold_chosen(Collective collective, const Choices& choices) {
  std::string against;
  for (const selection::Choice& choice : choices.of(collective, longest_of(*nodes_, collective), kNicWire)) {
    if (selection::multicasts(choice)) continue;
    const std::optional<HeldProgram> wanted = held_for(choice);
    std::string why = wanted ? hold(*wanted) : std::string("it has ") + kNoLeadersMessages;
    if (against.empty()) against = std::move(why);
  }
  return against;
}

std::string NicPrograms::extend(const Choices& choices) {
  for (const Collective collective : kCollectives) {
    const std::string forced = choices.forced(collective);
    const std::string why = hold_chosen(collective, choices);
    if (why.empty() || forced.empty()) continue;
    std::string text(schedule::name(collective));
    for (const std::string_view piece : {std::string_view(" is forced to be "), std::string_view(forced),
                                         std::string_view(", and "), std::string_view(why)})
      text += piece;
    return text += "; HOCKET_NIC=auto carries it out by messages";
  }
  return "";
}

void NicPrograms::hold_others() {
  for (const Content& content : kContents)
    (void)hold({algorithms::find(content.collective, content.algorithm), content.degree});
  for (const Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != Collective::kBarrier || !algorithms::is_by_messages(*algorithm)) continue;
    for (const uint32_t degree : degrees_of(*algorithm))
      if (next_program_ + kRoomForMore < NIC_MOST_PROGRAMS) (void)hold({algorithm, degree});
  }
}

std::string NicPrograms::fill(const Choices& choices) {
  // First, since it may have a degree that isn't listed.
  if (std::string why = hold_barrier(choices); !why.empty()) return why;
  if (std::string why = extend(choices); !why.empty() && is_required_) return why;
  hold_others();
  const bool has_barrier = std::any_of(programs_.begin(), programs_.end(), [](const Program& program) {
    return program.held.algorithm->collective == Collective::kBarrier;
  });
  if (has_barrier) return "";
  return "no barrier between " + std::to_string(nodes_->count()) + " nodes fits into a NIC engine; " + why_not_;
}

schedule::Plan NicPrograms::plan_of(const HeldProgram& held, uint32_t member) const {
  return algorithms::make_plan(*held.algorithm, {.size = nodes_->count(), .rank = member, .degree = held.degree});
}

bool NicPrograms::is_voted(const HeldProgram& held) const {
  return mode_ == NicMode::kBroadcast && held.algorithm->collective == Collective::kBarrier;
}

engines::nic::Form NicPrograms::form_of(const HeldProgram& held, bool synchronizes, bool on_arrival) const {
  using engines::nic::Mode;
  const bool is_barrier = held.algorithm->collective == Collective::kBarrier;
  Mode mode = mode_ == NicMode::kChain ? Mode::kChain : Mode::kCollective;
  if (mode_ == NicMode::kDirect && is_barrier) mode = Mode::kDirect;
  return {.mode = mode, .synchronizes = synchronizes, .on_arrival = on_arrival};
}

// All members' parts are looked at by all, so that all hold the same.
Status NicPrograms::can_hold(const HeldProgram& wanted, bool has_twin, bool on_arrival) const {
  if (is_voted(wanted)) {
    const auto plan = [&](uint32_t member) { return plan_of(wanted, member); };
    Result<nic_program> table = engines::nic::broadcast_table(0, nodes_->count(), plan);
    return table.is_ok() ? Status::ok() : table.take_status();
  }
  for (uint32_t member = 0; member < nodes_->count(); ++member) {
    const schedule::Plan plan = plan_of(wanted, member);
    HOCKET_TRY(engines::nic::can_hold(plan, form_of(wanted, false, on_arrival)));
    if (has_twin) HOCKET_TRY(engines::nic::can_hold(plan, form_of(wanted, true, on_arrival)));
  }
  return Status::ok();
}

std::string NicPrograms::hold(HeldProgram wanted) {
  wanted.degree = algorithms::degree_meant(*wanted.algorithm, wanted.degree);
  const auto is_same = [&](const Program& program) { return program.held == wanted; };
  if (std::find_if(programs_.begin(), programs_.end(), is_same) != programs_.end()) return "";
  const bool has_twin = schedule::has_root(wanted.algorithm->collective);
  const bool has_room = next_program_ + has_twin < NIC_MOST_PROGRAMS;
  const bool on_arrival = combines_on_arrival_ && can_hold(wanted, has_twin, true).is_ok();
  const Status fits = can_hold(wanted, has_twin, on_arrival);
  if (!has_room || !fits.is_ok()) {
    std::string why = std::string(wanted.algorithm->name) + ": " + fits.message();
    if (!has_room) why = "a group has " + std::to_string(NIC_MOST_PROGRAMS) + " programs, which others have taken";
    if (why_not_.empty()) why_not_ = why;
    return why;
  }
  programs_.push_back({wanted, static_cast<uint8_t>(next_program_), has_twin, on_arrival});
  next_program_ += has_twin ? 2 : 1;
  return "";
}

Status NicPrograms::write(uint32_t self, engines::nic::GroupDescription& description) const {
  for (const Program& program : programs_) {
    for (const bool synchronizes : {false, true}) {
      if (synchronizes && !program.has_twin) continue;
      const auto plan = [&](uint32_t member) { return plan_of(program.held, member); };
      Result<nic_program> table =
          is_voted(program.held)
              ? engines::nic::broadcast_table(self, nodes_->count(), plan)
              : engines::nic::stage_table(self, form_of(program.held, synchronizes, program.on_arrival), plan);
      if (!table.is_ok()) return table.take_status();
      description.programs.push_back(table.value());
      description.synchronizing.push_back(static_cast<uint8_t>(program.number + program.has_twin));
    }
  }
  return Status::ok();
}

std::optional<HeldProgram> NicPrograms::held_for(const selection::Choice& choice) const {
  std::optional<HeldProgram> wanted = between_nodes(*nodes_, choice);
  if (wanted && wanted->algorithm->collective == Collective::kAllgather &&
      wanted->algorithm->name == kGathersLikeAllreduce)
    wanted->algorithm = algorithms::find(Collective::kAllreduce, kGathersLikeAllreduce);
  return wanted;
}

const NicPrograms::Program* NicPrograms::find(const selection::Choice& choice) const {
  const std::optional<HeldProgram> wanted = held_for(choice);
  if (!wanted) return nullptr;
  const auto found =
      std::find_if(programs_.begin(), programs_.end(), [&](const Program& program) { return program.held == *wanted; });
  return found == programs_.end() ? nullptr : &*found;
}

}  // namespace hocket::carriers
