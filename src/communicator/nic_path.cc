// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/nic_path.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "algorithms/algorithm.h"
#include "base/environment.h"
#include "engines/nic/stage_table.h"

namespace hocket::communicator {

using algorithms::Algorithm;
using engines::nic::Group;
using engines::nic::GroupDescription;
using engines::nic::Mode;
using engines::nic::Port;
using engines::nic::Trigger;
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

}  // namespace

Result<NicPath::Offer> NicPath::offer(Context& context, bool is_first) {
  Offer offer;
  const Result<int> wish = environment::get_enum("HOCKET_NIC");
  if (!wish.is_ok()) return Status(wish.status().code(), wish.status().message());
  offer.wish = static_cast<Wish>(wish.value());
  if (is_first && getrandom(&offer.id, sizeof offer.id, 0) != sizeof offer.id)
    return Status::system("can't draw a number for a NIC group", errno);
  if (is_first && getrandom(&offer.key, sizeof offer.key, 0) != sizeof offer.key)
    return Status::system("can't draw a key for a NIC group", errno);
  if (offer.wish == Wish::kOff) {
    std::strncpy(offer.reason, "HOCKET_NIC=off", sizeof offer.reason - 1);
    return offer;
  }
  const std::scoped_lock lock(context.setup_mutex());
  const Result<Port*> port = context.nic_port();
  if (!port.is_ok()) {
    std::strncpy(offer.reason, port.status().message(), sizeof offer.reason - 1);
    return offer;
  }
  offer.ip = port.value()->address().ip;
  offer.port = port.value()->address().port;
  offer.is_agent = port.value()->engine() == "agent";
  return offer;
}

std::unique_ptr<NicPath> NicPath::find(const std::vector<Offer>& offers, const Nodes& nodes, uint32_t rank,
                                       std::string& why_not) {
  if (offers[0].wish == Wish::kOff) {
    why_not = "HOCKET_NIC=off";
    return nullptr;
  }
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const uint32_t leader = leader_of(nodes, node);
    if (offers[leader].ip != 0) continue;
    why_not = "rank " + std::to_string(leader) + ": " + offers[leader].reason;
    return nullptr;
  }
  const auto agent = std::find_if(offers.begin(), offers.end(), [](const Offer& offer) { return offer.is_agent; });
  if (agent != offers.end() && offers[0].wish == Wish::kAutomatic) {
    why_not = "the engine of rank " + std::to_string(agent - offers.begin()) +
              " is an agent, which is slower than messages as a rule; HOCKET_NIC=on uses it";
    return nullptr;
  }
  if (nodes.count() > NIC_MOST_MEMBERS) {
    why_not = std::to_string(nodes.count()) + " nodes, and a NIC group has " + std::to_string(NIC_MOST_MEMBERS) +
              " members at most";
    return nullptr;
  }
  return std::unique_ptr<NicPath>(new NicPath(offers, nodes, rank));
}

NicPath::NicPath(const std::vector<Offer>& offers, const Nodes& nodes, uint32_t rank)
    : nodes_(nodes), rank_(rank), id_(offers[0].id), key_(offers[0].key) {
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const Offer& offer = offers[leader_of(nodes, node)];
    members_.push_back({offer.ip, offer.port});
  }
}

std::string NicPath::hold_programs(const selection::Choice* chosen) {
  if (chosen != nullptr) {
    // First, since it may have a degree that isn't listed.
    const std::optional<Held> between = between_nodes(*chosen);
    if (!between)
      return "the barrier that is chosen (" + std::string(chosen->algorithm->name) +
             ") has messages of ranks that don't stand for their nodes; leader:across=... has none";
    hold(*between);
    if (held_.empty()) return "the barrier that is chosen doesn't fit into a NIC engine; " + why_not_;
  }
  for (const Algorithm* algorithm : algorithms::all())
    for (const uint32_t degree : degrees_of(*algorithm)) hold({algorithm, degree});
  if (!held_.empty()) return "";
  return "no barrier between " + std::to_string(nodes_.count()) + " nodes fits into a NIC engine; " + why_not_;
}

schedule::Plan NicPath::plan_of(const Held& held, uint32_t member) const {
  return algorithms::make_plan(*held.algorithm, {.size = nodes_.count(), .rank = member, .degree = held.degree});
}

void NicPath::hold(const Held& wanted) {
  const Algorithm* algorithm = wanted.algorithm;
  if (algorithm->collective != Collective::kBarrier || !algorithms::is_by_messages(*algorithm)) return;
  if (std::find(held_.begin(), held_.end(), wanted) != held_.end()) return;
  if (held_.size() == NIC_MOST_PROGRAMS) {
    set_why_not("a group has " + std::to_string(NIC_MOST_PROGRAMS) + " programs, which others have taken");
    return;
  }
  // All members' parts are looked at by all, so that all hold the same.
  Status fits;
  for (uint32_t member = 0; member < nodes_.count() && fits.is_ok(); ++member)
    fits = engines::nic::can_hold(plan_of(wanted, member));
  if (fits.is_ok()) {
    held_.push_back(wanted);
  } else {
    set_why_not(std::string(algorithm->name) + ": " + fits.message());
  }
}

Status NicPath::join(Context& context) {
  const uint32_t own = nodes_.node_of(rank_);
  if (leader_of(nodes_, own) != rank_) return Status::ok();
  GroupDescription description;
  description.key = key_;
  description.self = own;
  description.members = members_;
  for (const Held& held : held_) {
    Result<nic_program> program =
        engines::nic::stage_table(own, Mode::kCollective, [&](uint32_t member) { return plan_of(held, member); });
    if (!program.is_ok()) return program.take_status();
    description.programs.push_back(program.value());
  }
  std::vector<std::string> names;
  for (uint32_t node = 0; node < nodes_.count(); ++node)
    names.push_back("rank " + std::to_string(leader_of(nodes_, node)));
  const std::scoped_lock lock(context.setup_mutex());
  const Result<Port*> port = context.nic_port();
  if (!port.is_ok()) return {port.status().code(), port.status().message()};
  for (size_t track = 0; track < triggers_.size(); ++track) {
    description.id = id_ + track;
    Result<std::unique_ptr<Group>> group = port.value()->join(description);
    if (!group.is_ok()) return group.take_status();
    triggers_[track] = std::make_unique<Trigger>(group.take(), names);
  }
  return Status::ok();
}

// Who doesn't stand for its node relies on who does: that one finds its node's part of the communicator broken, or has
// ended, which the engine tells.
bool NicPath::tell_failure() {
  return std::all_of(triggers_.begin(), triggers_.end(),
                     [](const auto& trigger) { return trigger == nullptr || trigger->abandon(); });
}

uint32_t NicPath::culprit() const {
  for (const auto& trigger : triggers_) {
    const uint32_t member = trigger == nullptr ? ~uint32_t{0} : trigger->culprit();
    if (member < nodes_.count()) return leader_of(nodes_, member);
  }
  return ~uint32_t{0};
}

// What the choice does between nodes. Nothing where ranks exchange messages with other nodes that don't stand for their
// own.
std::optional<NicPath::Held> NicPath::between_nodes(const selection::Choice& choice) const {
  const Algorithm* algorithm = choice.algorithm;
  uint32_t degree = choice.degree;
  if (algorithms::is_composition(*algorithm)) {
    const auto parts = algorithm->parts;
    const auto across = std::find_if(parts.begin(), parts.end(), [](const algorithms::Part& part) {
      return part.family == algorithms::Family::kAcross;
    });
    if (across == parts.end()) return std::nullopt;
    const selection::PartChoice& part = choice.parts[across - parts.begin()];
    algorithm = part.algorithm;
    degree = part.degree;
  } else if (nodes_.most() > 1) {
    return std::nullopt;
  }
  if (algorithm == nullptr) return std::nullopt;
  if (degree == 0 && !algorithm->degrees.empty()) degree = algorithm->degrees.front();
  return Held{algorithm, degree};
}

std::optional<uint32_t> NicPath::program_of(const selection::Choice& choice) const {
  const std::optional<Held> wanted = between_nodes(choice);
  if (!wanted) return std::nullopt;
  const auto found = std::find(held_.begin(), held_.end(), *wanted);
  if (found == held_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - held_.begin());
}

void NicPath::offload(const selection::Choice& choice, engines::Program& program) const {
  const std::optional<uint32_t> index = program_of(choice);
  auto& steps = program.instructions;
  const auto goes_out = [](const engines::Instruction& step) { return step.by_wire; };
  const auto first = std::find_if(steps.begin(), steps.end(), goes_out);
  if (!index || first == steps.end()) return;
  const auto end = std::find_if_not(first, steps.end(), goes_out);
  engines::Instruction trigger;
  trigger.kind = schedule::StepKind::kTrigger;
  trigger.by_wire = true;
  trigger.value = *index;
  *first = trigger;
  steps.erase(first + 1, end);
}

std::string NicPath::explain(const selection::Choice& choice) const {
  const std::optional<uint32_t> index = program_of(choice);
  if (!index) {
    const std::string text =
        "not used: the messages between nodes of this choice aren't those of a program that is held";
    return why_not_.empty() ? text : text + " (" + why_not_ + ")";
  }
  std::string text = "in use: the engines of " + std::to_string(nodes_.count()) + " nodes carry out " +
                     std::string(held_[*index].algorithm->name);
  if (held_[*index].degree != 0) text += "/" + std::to_string(held_[*index].degree);
  return text + " between them";
}

}  // namespace hocket::communicator
