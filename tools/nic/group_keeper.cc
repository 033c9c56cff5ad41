// SPDX-License-Identifier: BSD-3-Clause
#include "nic/group_keeper.h"

#include <utility>

namespace hocket::nic {
namespace {

// While a group makes progress, nothing can be missing for long: it is polled this many times less often.
constexpr int64_t kCalm = 2;

}  // namespace

GroupKeeper::GroupKeeper(uint32_t groups, nic_backoff backoff, Send send, Free free)
    : backoff_(backoff), send_(std::move(send)), free_(std::move(free)), free_groups_(groups), groups_(groups) {}

int64_t GroupKeeper::find_free() const {
  for (size_t i = 0; i < groups_.size(); ++i) {
    const size_t number = (next_ + i) % groups_.size();
    if (groups_[number] == nullptr) return static_cast<int64_t>(number);
  }
  return -1;
}

void GroupKeeper::add(uint32_t number, const GroupMemory& memory, uint64_t silence_ns, uint32_t user) {
  auto kept = std::make_unique<Kept>();
  kept->memory = memory;
  kept->number = number;
  kept->user = user;
  kept->keeper = this;
  kept->members.resize(memory.group->size);
  kept->silence_ns = silence_ns == 0 ? backoff_.silence_ns : silence_ns;
  kept->watch.backoff = backoff_;
  kept->watch.backoff.silence_ns = kept->silence_ns;
  kept->watch.member = kept->members.data();
  kept->watch.signs_of_life = memory.signs_of_life;
  kept->watch.signs_of_life_stride = memory.signs_of_life_stride;
  kept->watch.emit = emit;
  kept->watch.user = kept.get();
  groups_[number] = std::move(kept);
  next_ = number + 1;
  --free_groups_;
}

void GroupKeeper::emit(void* user, const nic_message* message) {
  const Kept& kept = *static_cast<const Kept*>(user);
  if (message->kind == NIC_NACK || message->kind == NIC_PROBE) ++kept.keeper->asked_;
  if (nic_is_of_schedule(message) != 0) ++kept.keeper->repeated_;
  const GroupMemory& memory = kept.memory;
  nic_operand operand = {};
  if (nic_carry(memory.group, memory.state, memory.operands, message, nic_call_of(message), &operand) != 0)
    kept.keeper->send_(kept.number, *message, operand);
}

void GroupKeeper::leave(uint32_t number, uint64_t now_ns) {
  if (number >= groups_.size() || groups_[number] == nullptr) return;
  groups_[number]->free_at_ns = now_ns + groups_[number]->silence_ns;
}

void GroupKeeper::abandon(uint32_t number, uint64_t now_ns) {
  if (number >= groups_.size() || groups_[number] == nullptr || groups_[number]->free_at_ns != 0) return;
  Kept& kept = *groups_[number];
  if (nic_load(&kept.memory.state->broken) == 0) {
    nic_break(kept.memory.state, NIC_CAUSE_LEFT, kept.memory.group->self);
    nic_report_to_all(kept.memory.group, kept.memory.state, &kept.watch);
  }
  leave(number, now_ns);
}

// In how many nanoseconds to look again; -1: when an operation begins.
int64_t GroupKeeper::look_at(Kept& kept, uint64_t now_ns) {
  const GroupMemory& memory = kept.memory;
  const uint32_t found = nic_watch_group(memory.group, memory.state, &kept.watch, now_ns);
  found_operations_ += found;
  // Sequentially consistent, as the other additions to it; partner: NicGroup::done(), which sees the results before it.
  if (found != 0) (void)__atomic_fetch_add(&memory.page->done, found, __ATOMIC_SEQ_CST);
  const uint64_t broken = nic_load(&memory.state->broken);
  if (broken != 0) {
    // Relaxed: the word says all. Partner: NicGroup::is_broken().
    __atomic_store_n(&memory.page->broken, broken, __ATOMIC_RELAXED);
    return -1;
  }
  const uint64_t completed = nic_load(&memory.state->completed);
  const bool has_moved = std::exchange(kept.seen_completed, completed) != completed;
  if (has_moved) return static_cast<int64_t>(backoff_.ask_ns) * kCalm;
  const uint64_t wait_ns = nic_watch_wait(memory.group, memory.state, &kept.watch, now_ns);
  return wait_ns == ~uint64_t{0} ? -1 : static_cast<int64_t>(wait_ns);
}

bool GroupKeeper::is_under_way(const Kept& kept) {
  const nic_state& state = *kept.memory.state;
  return nic_load(&state.broken) == 0 && nic_load(&state.completed) < nic_load(&state.started);
}

GroupKeeper::Next GroupKeeper::look(uint64_t now_ns) {
  Next next;
  const auto in = [&](int64_t wait_ns) {
    if (next.wait_ns < 0 || wait_ns < next.wait_ns) next.wait_ns = wait_ns;
  };
  for (std::unique_ptr<Kept>& kept : groups_) {
    if (kept == nullptr) continue;
    // What the host has started is carried out though its process has gone: others wait for it.
    if (kept->free_at_ns != 0 && now_ns >= kept->free_at_ns && is_under_way(*kept))
      kept->free_at_ns = now_ns + kept->silence_ns;
    if (kept->free_at_ns != 0 && now_ns >= kept->free_at_ns) {
      free_(kept->number);
      kept.reset();
      ++free_groups_;
      continue;
    }
    if (kept->free_at_ns != 0) in(static_cast<int64_t>(kept->free_at_ns - now_ns));
    const int64_t wait_ns = look_at(*kept, now_ns);
    if (wait_ns < 0) continue;
    in(wait_ns);
    // While a late host is waited for, others may begin.
    if (wait_ns <= kCalm * static_cast<int64_t>(backoff_.ask_ns)) next.unless_started = false;
  }
  return next;
}

std::vector<GroupReport> GroupKeeper::report() const {
  std::vector<GroupReport> all;
  for (const std::unique_ptr<Kept>& kept : groups_) {
    if (kept == nullptr) continue;
    const nic_state& state = *kept->memory.state;
    const nic_group& group = *kept->memory.group;
    all.push_back({kept->number, group.id, kept->user, group.self, group.size, uint32_t{NIC_WINDOW} * group.operands,
                   nic_load(&state.started), nic_load(&state.completed), nic_load(&state.broken),
                   kept->free_at_ns != 0});
  }
  return all;
}

}  // namespace hocket::nic
