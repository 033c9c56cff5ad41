// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/kernel_model.h"

#include <algorithm>

namespace hocket::platform::model {
namespace {

constexpr int64_t kTickNs = 4'000'000;
constexpr int64_t kLoadSliceNs = 3'000'000;
constexpr int64_t kHotNs = 500'000;  // a thread that ran so lately is not taken by an idle core
constexpr int64_t kBalanceNs = 100'000'000;
constexpr int64_t kShortestWakeNs = 5'000;
constexpr int64_t kLongestWakeNs = 60'000;
constexpr uint32_t kWakesAffine = 60;  // percent
constexpr uint32_t kInterrupts = 70;
constexpr uint32_t kTakes = 60;

}  // namespace

Kernel::Kernel(uint32_t cores, uint32_t threads, const std::vector<Load>& loads, int64_t slice_ns, bool places_well,
               Chance& chance)
    : loads_(loads),
      first_load_(threads),
      slice_ns_(slice_ns),
      places_well_(places_well),
      chance_(chance),
      balance_ns_(kBalanceNs),
      cores_(cores),
      threads_(threads + loads.size()) {
  for (size_t load = 0; load < loads.size(); ++load) {
    Thread& thread = threads_[first_load_ + load];
    thread.is_load = true;
    thread.left_ns = kNever;
    thread.timer_ns = loads[load].begin_ns;
  }
}

void Kernel::settle(Core& core) {
  if (core.running >= 0) {
    Thread& thread = threads_[static_cast<uint32_t>(core.running)];
    thread.left_ns -= now_ns_ - core.since_ns;
    thread.processor_ns += now_ns_ - core.since_ns;
    thread.ran_ns = now_ns_;
  }
  core.since_ns = now_ns_;
}

void Kernel::pick(uint32_t index) {
  Core& core = cores_[index];
  settle(core);
  if (core.queue.empty()) {
    core.running = -1;
    core.slice_end_ns = kNever;
    if (places_well_ || chance_.percent(kTakes)) take_from_others(index);
    return;
  }
  const uint32_t id = core.queue.front();
  core.queue.pop_front();
  core.running = static_cast<int>(id);
  threads_[id].at = Thread::At::kRunning;
  threads_[id].ran_ns = now_ns_;
  // Slices end at ticks, which are drawn.
  const int64_t slice_ns = threads_[id].is_load ? kLoadSliceNs : slice_ns_;
  core.slice_end_ns = core.queue.empty() ? kNever : now_ns_ + chance_.between(slice_ns / 2, slice_ns + slice_ns / 2);
}

void Kernel::enqueue(uint32_t id, uint32_t index) {
  Core& core = cores_[index];
  Thread& thread = threads_[id];
  thread.at = Thread::At::kQueued;
  thread.core = index;
  thread.timer_ns = kNever;
  if (core.running < 0) {
    core.queue.push_back(id);
    pick(index);
    return;
  }
  const auto running = static_cast<uint32_t>(core.running);
  if (threads_[running].is_load && !thread.is_load && chance_.percent(kInterrupts)) {
    settle(core);
    threads_[running].at = Thread::At::kQueued;
    core.queue.push_front(running);
    core.queue.push_front(id);
    pick(index);
    return;
  }
  core.queue.push_back(id);
  if (core.slice_end_ns == kNever)
    core.slice_end_ns = now_ns_ + chance_.between(0, threads_[running].is_load ? kLoadSliceNs : slice_ns_);
}

// Takes a thread from its core, running or queued.
void Kernel::leave(uint32_t id) {
  Core& core = cores_[threads_[id].core];
  if (core.running == static_cast<int>(id)) {
    settle(core);
    core.running = -1;
    pick(threads_[id].core);
  } else {
    std::erase(core.queue, id);
  }
}

void Kernel::sleep(uint32_t id, int64_t timer_ns) {
  Thread& thread = threads_[id];
  thread.at = Thread::At::kAsleep;
  thread.timer_ns = timer_ns;
  leave(id);
}

void Kernel::end(uint32_t id) {
  threads_[id].at = Thread::At::kNowhere;
  threads_[id].timer_ns = kNever;
  leave(id);
}

void Kernel::yield(uint32_t id) { end_slice(threads_[id].core); }

void Kernel::end_slice(uint32_t index) {
  Core& core = cores_[index];
  settle(core);
  const auto id = static_cast<uint32_t>(core.running);
  if (core.queue.empty()) {
    core.slice_end_ns = kNever;
    return;
  }
  threads_[id].at = Thread::At::kQueued;
  core.queue.push_back(id);
  pick(index);
}

void Kernel::move(uint32_t id, uint32_t core) {
  if (core == threads_[id].core) return;
  threads_[id].at = Thread::At::kNowhere;
  leave(id);
  enqueue(id, core);
}

uint32_t Kernel::best_core(uint32_t id) const {
  const auto weight = [&](const Core& core) { return core.queue.size() + (core.running >= 0 ? 1 : 0); };
  uint32_t best = threads_[id].core;
  for (uint32_t core = 0; core < cores_.size(); ++core)
    if (weight(cores_[core]) < weight(cores_[best])) best = core;
  return best;
}

void Kernel::wake(uint32_t id, uint32_t waker_core) {
  Thread& thread = threads_[id];
  if (thread.at != Thread::At::kAsleep) return;
  if (places_well_) {
    enqueue(id, best_core(id));
    return;
  }
  thread.at = Thread::At::kWaking;
  thread.wakes_on = chance_.percent(kWakesAffine) ? waker_core : thread.core;
  thread.timer_ns = now_ns_ + chance_.between(kShortestWakeNs, kLongestWakeNs);
}

void Kernel::shorten(uint32_t id, int64_t left_ns) {
  Thread& thread = threads_[id];
  if (thread.at == Thread::At::kRunning) settle(cores_[thread.core]);
  thread.left_ns = std::min(thread.left_ns, left_ns);
}

void Kernel::take_from_others(uint32_t index) {
  for (Core& core : cores_) {
    for (const uint32_t id : core.queue) {
      if (now_ns_ - threads_[id].ran_ns < kHotNs && !places_well_) continue;
      std::erase(core.queue, id);
      enqueue(id, index);
      return;
    }
  }
}

void Kernel::balance() {
  balance_ns_ = now_ns_ + chance_.between(kBalanceNs / 2, kBalanceNs + kBalanceNs / 2);
  for (uint32_t idle = 0; idle < cores_.size(); ++idle) {
    for (Core& core : cores_) {
      if (core.queue.size() < cores_[idle].queue.size() + (cores_[idle].running >= 0 ? 2 : 1)) continue;
      const uint32_t id = core.queue.front();
      core.queue.pop_front();
      enqueue(id, idle);
      return;
    }
  }
}

// Loads begin and end by their timers.
void Kernel::change_loads() {
  for (size_t load = 0; load < loads_.size(); ++load) {
    const auto id = static_cast<uint32_t>(first_load_ + load);
    Thread& thread = threads_[id];
    if (thread.at == Thread::At::kNowhere && thread.timer_ns <= now_ns_) {
      thread.timer_ns = kNever;
      ++running_loads_;
      enqueue(id, best_core(id));
    } else if (thread.at != Thread::At::kNowhere && loads_[load].end_ns <= now_ns_) {
      --running_loads_;
      end(id);
    }
  }
}

Kernel::Event Kernel::next(int64_t limit_ns) {
  while (now_ns_ < limit_ns) {
    int64_t at_ns = kNever;
    Event event;
    enum class Kind : uint8_t { kNone, kStep, kSlice, kTimer } kind = Kind::kNone;
    for (uint32_t index = 0; index < cores_.size(); ++index) {
      const Core& core = cores_[index];
      if (core.running < 0) continue;
      const auto id = static_cast<uint32_t>(core.running);
      const int64_t end_ns = threads_[id].is_load ? kNever : core.since_ns + threads_[id].left_ns;
      if (end_ns < at_ns) at_ns = end_ns, kind = Kind::kStep, event = {What::kStep, id};
      if (core.slice_end_ns < at_ns) at_ns = core.slice_end_ns, kind = Kind::kSlice, event.thread = index;
    }
    for (uint32_t id = 0; id < first_load_; ++id)
      if (threads_[id].timer_ns < at_ns) at_ns = threads_[id].timer_ns, kind = Kind::kTimer, event = {What::kTimer, id};
    int64_t other_ns = balance_ns_;
    for (size_t load = 0; load < loads_.size(); ++load) {
      const Thread& thread = threads_[first_load_ + load];
      other_ns = std::min(other_ns, thread.at == Thread::At::kNowhere ? thread.timer_ns : loads_[load].end_ns);
    }
    if (std::min(other_ns, at_ns) >= limit_ns) return {};
    if (other_ns <= at_ns) {
      now_ns_ = std::max(now_ns_, other_ns);
      change_loads();
      if (balance_ns_ <= now_ns_) balance();
      continue;
    }
    now_ns_ = std::max(now_ns_, at_ns);
    if (kind == Kind::kStep) {
      settle(cores_[threads_[event.thread].core]);
      return event;
    }
    if (kind == Kind::kSlice) {
      end_slice(event.thread);
      continue;
    }
    Thread& thread = threads_[event.thread];
    const bool is_woken = thread.at == Thread::At::kWaking;
    enqueue(event.thread, is_woken ? thread.wakes_on : thread.core);
    if (!is_woken) return event;
  }
  return {};
}

}  // namespace hocket::platform::model
