// SPDX-License-Identifier: BSD-3-Clause
// What events are about lies all over the memory of a large job, where each look takes as long as the work of an event.
// So it is fetched beforehand, in two goes: the step first, then what the step names. Nothing follows from it.
#include "simulation/engine/state.h"

namespace hocket::simulation {
namespace {

constexpr size_t kNear = 128;  // events: what a step names is fetched then

template <typename Value>
void prefetch(const std::vector<Value>& values, uint32_t number) {
  if (number < values.size()) __builtin_prefetch(&values[number]);
}

}  // namespace

void Engine::State::fetch(const Event& event, size_t distance) const {
  if (event.what == What::kRank) return prefetch(ranks_, event.number);
  const bool is_of_step = event.what == What::kReady || event.what == What::kSend || event.what == What::kArrive;
  if (!is_of_step) return;
  prefetch(steps_, event.number);
  prefetch(job_.steps, event.number);
  // The next stage begins behind it.
  constexpr uint32_t kAhead = 2;
  if (event.what == What::kReady) prefetch(job_.steps, event.number + kAhead);
  if (distance > kNear) return;
  const Step& step = job_.steps[event.number];
  if (event.what == What::kArrive) {
    prefetch(steps_, step.partner);
    prefetch(job_.steps, step.partner);
    prefetch(ranks_, step.other);
    return wire_.fetch_in(step.other);
  }
  prefetch(ranks_, step.rank);
  wire_.fetch_out(step.rank);
  for (uint32_t next = event.number + 1; next <= event.number + kAhead && next < job_.steps.size(); ++next)
    prefetch(steps_, job_.steps[next].partner);
}

}  // namespace hocket::simulation
