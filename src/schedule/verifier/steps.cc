// SPDX-License-Identifier: BSD-3-Clause
// What can be said of a rank's steps without the other ranks.
#include <algorithm>

#include "schedule/describe.h"
#include "schedule/verifier/world.h"

namespace hocket::schedule {
namespace {

bool has_source(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kReceiveCombine || kind == StepKind::kPublish ||
         kind == StepKind::kPut || kind == StepKind::kCombineFrom || kind == StepKind::kCopy ||
         kind == StepKind::kCombine || kind == StepKind::kMulticast;
}
bool has_destination(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kReceiveCombine || kind == StepKind::kExpose ||
         kind == StepKind::kGet || kind == StepKind::kCombineFrom || kind == StepKind::kCopy ||
         kind == StepKind::kCombine || kind == StepKind::kExpect || kind == StepKind::kFirstOf;
}
bool has_both(StepKind kind) { return has_source(kind) && has_destination(kind); }

std::string check_numbers(const Plan& plan, const Step& step) {
  const bool shared = is_counter(step.kind) && step.peer == kShared;
  const bool has_peer = is_two_sided(step.kind) || is_one_sided(step.kind) || is_counter(step.kind);
  if (has_peer && !shared && step.peer >= plan.shape.size) return "names a rank that doesn't exist";
  if (is_two_sided(step.kind) && step.peer == plan.shape.rank) return "exchanges messages with itself";
  if (has_peer && !shared && !is_two_sided(step.kind) && plan.shape.nodes != nullptr &&
      !plan.shape.nodes->together(plan.shape.rank, step.peer)) {
    return "reaches into the memory of a rank on another node";
  }
  if (step.kind == StepKind::kWaitUntil && !shared && step.peer != plan.shape.rank) {
    return "waits on a peer's own counter";
  }
  if (is_publication(step.kind) || is_one_sided(step.kind)) {
    if (step.slot >= plan.slots || plan.slots > kMaxSlots) return "names a slot that the plan says it doesn't use";
    if (step.version == 0) return "names version 0; versions count from 1";
  }
  if (is_counter(step.kind) && step.slot >= kMaxCounters) return "names a counter that doesn't exist";
  if ((is_publication(step.kind) || is_one_sided(step.kind) || is_counter(step.kind)) && !plan.uses_slots_or_counters) {
    return "is in a plan that says it uses neither slots nor counters";
  }
  if (step.kind == StepKind::kExpect) {
    if (step.second_peer >= plan.shape.size) return "names a rank that doesn't exist";
    if (step.second_peer == plan.shape.rank) return "waits for itself";
  }
  if (step.kind == StepKind::kFirstOf) {
    if (step.peer >= plan.shape.size || step.second_peer >= plan.shape.size) return "names a rank that doesn't exist";
    if (step.peer == plan.shape.rank || step.second_peer == plan.shape.rank) return "waits for itself";
  }
  if (step.kind == StepKind::kTrigger) return "is for communicators, not for algorithms";
  // As a part of a composition such a root may have published it.
  const bool is_source = plan.collective == Collective::kBroadcast && plan.shape.rank == plan.shape.root;
  if (is_source && has_destination(step.kind) && step.destination.buffer == Buffer::kOutput) {
    return "writes to what the root broadcasts";
  }
  return "";
}

std::string resolve_step(const Layout& layout, const Step& step, Operands& operands) {
  std::string problem;
  if (has_source(step.kind)) problem = layout.locate(step.source, operands.source);
  if (problem.empty() && has_destination(step.kind)) {
    if (step.destination.buffer == Buffer::kInput) return "writes to the caller's input";
    problem = layout.locate(step.destination, operands.destination);
  }
  if (!problem.empty()) return problem;
  if (has_both(step.kind)) {
    if (operands.source.length != operands.destination.length) return "has operands of unequal lengths";
    if (overlap(operands.source, operands.destination) && !same(operands.source, operands.destination)) {
      return "has a source that overlaps the destination without being the same";
    }
  }
  if (step.kind == StepKind::kCombine && overlap(operands.source, operands.destination)) {
    return "combines memory with itself";
  }
  if (!is_one_sided(step.kind) || step.target.buffer == Buffer::kNone) return "";
  const Slice& target = step.target;
  if (target.of == 0 || target.first > target.last || target.origin > target.first) {
    return "has a target that makes no sense";
  }
  const Range range = resolve(target, layout.extents());
  operands.whole_target = false;
  operands.target = {range.offset, range.length};
  return "";
}

// A rank's memory as a step of it touches it.
struct Touch {
  Span span;
  bool writes;
  uint32_t step;
};

bool is_publication_of(const Step& step, const Step& other) {
  return is_publication(step.kind) && is_publication(other.kind) && step.slot == other.slot;
}

}  // namespace

void resolve_steps(World& world, uint32_t rank, std::vector<Operands>& operands) {
  const Plan& plan = world.plans[rank];
  operands.assign(plan.steps.size(), {});
  uint32_t published[kMaxSlots] = {};
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    std::string problem = check_numbers(plan, step);
    if (problem.empty()) {
      problem = resolve_step(world.layouts[rank], step, operands[i]);
    }
    if (problem.empty() && is_publication(step.kind) && step.version != ++published[step.slot]) {
      problem = "should be version " + std::to_string(published[step.slot]) + " of its slot";
    }
    if (!problem.empty()) world.complain({rank, i}, problem);
  }
  if (!plan.steps.empty() && !plan.steps.back().ends_stage) {
    world.complain("rank " + std::to_string(rank) + "'s last stage has no end");
  }
}

void check_stage(World& world, uint32_t rank, uint32_t begin, uint32_t end, const std::vector<Operands>& operands) {
  if (end - begin < 2) return;
  const std::vector<Step>& steps = world.plans[rank].steps;
  std::vector<Touch> touches;
  for (uint32_t i = begin; i < end; ++i) {
    const StepKind kind = steps[i].kind;
    if (has_source(kind) && operands[i].source.length != 0) touches.push_back({operands[i].source, false, i});
    const bool in_place = kind == StepKind::kCopy && same(operands[i].source, operands[i].destination);
    if (has_destination(kind) && operands[i].destination.length != 0 && !in_place) {
      touches.push_back({operands[i].destination, true, i});
    }
    for (uint32_t j = begin; is_publication(kind) && j < i; ++j) {
      if (is_publication_of(steps[i], steps[j])) {
        world.complain({rank, i}, "publishes the same slot as " + world.mention({rank, j}) + " in the same stage");
      }
    }
  }
  for (size_t a = 0; a < touches.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const Touch& x = touches[a];
      const Touch& y = touches[b];
      if ((!x.writes && !y.writes) || x.step == y.step || !overlap(x.span, y.span)) continue;
      world.complain({rank, x.step}, std::string(x.writes ? "writes " : "reads ") +
                                         world.place(rank, std::max(x.span.begin, y.span.begin)) + ", which " +
                                         world.mention({rank, y.step}) + (y.writes ? " writes" : " reads") +
                                         " in the same stage");
    }
  }
}

}  // namespace hocket::schedule
