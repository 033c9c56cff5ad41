// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/engines.h"

#include <algorithm>

#include "carriers/multicast_engine.h"
#include "carriers/nic_type.h"

namespace hocket::carriers {

EngineTypes all_engines() {
  EngineTypes types;
#define HOCKET_ENGINE(type) types.push_back(std::make_unique<type>());
#include "carriers/engines.def"
#undef HOCKET_ENGINE
  return types;
}

template <typename Test>
bool Engines::any(const Test& test) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.engine != nullptr && test(*entry.engine); });
}

void Engines::assign(engines::Program& program) const {
  for (engines::Instruction& step : program.instructions) {
    if (step.carrier != engines::kLeavesNode) continue;
    uint8_t number = 1;
    for (const Entry& entry : entries_) {
      if (entry.engine == nullptr || !entry.engine->takes_part()) continue;
      if (entry.engine->carries(step, program)) break;
      ++number;
    }
    step.carrier = number;
  }
}

const Engine* Engines::candidate(const EngineCall& call) const {
  for (const Entry& entry : entries_)
    if (entry.engine != nullptr && entry.engine->may_carry(call)) return entry.engine.get();
  return nullptr;
}

std::optional<Engines::EnginePlan> Engines::plan(const selection::Choice& choice, const EngineCall& call,
                                                 const schedule::Shape& shape) const {
  for (const Entry& entry : entries_) {
    if (entry.engine == nullptr) continue;
    std::optional<schedule::Plan> plan = entry.engine->plan(choice, call, shape);
    if (plan) return EnginePlan{std::move(*plan), entry.engine->runs_by_itself()};
  }
  return std::nullopt;
}

Status Engines::prepare(const Choices& choices) {
  for (const Entry& entry : entries_)
    if (entry.engine != nullptr) HOCKET_TRY(entry.engine->prepare(choices));
  return Status::ok();
}

void Engines::adopt(bool is_used) {
  for (const Entry& entry : entries_)
    if (entry.engine != nullptr) entry.engine->adopt(is_used);
}

bool Engines::may_run_by_itself() const {
  return any([](const Engine& engine) { return engine.runs_by_itself(); });
}

bool Engines::have_rules() const {
  return any([](const Engine& engine) { return *engine.wire() != 0; });
}

std::string Engines::why_no_multicast() const {
  for (const Entry& entry : entries_)
    if (entry.type->provides_multicast()) return entry.engine != nullptr ? std::string() : entry.why_not;
  return "no engine provides multicast";
}

std::string Engines::explain(const selection::Choice* choice, const EngineCall& call) const {
  std::string text;
  for (const Entry& entry : entries_) {
    if (entry.engine == nullptr)
      text += std::string(entry.type->name()) + ": not used: " + entry.why_not + "\n";
    else if (choice != nullptr)
      text += std::string(entry.type->name()) + ": " + entry.engine->explain(*choice, call) + "\n";
  }
  return text;
}

std::vector<engines::Carrier*> Engines::carriers(uint32_t track, engines::wire::Channel& channel) {
  std::vector<engines::Carrier*> made;
  for (Entry& entry : entries_)
    if (entry.engine != nullptr && entry.engine->takes_part()) made.push_back(&entry.engine->carrier(track, channel));
  return made;
}

bool Engines::reports_failures() const {
  return any([](const Engine& engine) { return engine.reports_failures(); });
}

bool Engines::report_failure() {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.engine != nullptr && (entry.engine->culprit() != Engine::kNoRank || entry.engine->report_failure());
  });
}

}  // namespace hocket::carriers
