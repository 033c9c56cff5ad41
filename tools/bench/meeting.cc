// SPDX-License-Identifier: BSD-3-Clause
#include "bench/meeting.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>

namespace hocket::bench {
namespace {

constexpr uint32_t kLooksPerProgress = 64;
constexpr uint32_t kLooksWhenOversubscribed = 8;
// Many that look often would take the cores from those that are measured meanwhile.
constexpr uint32_t kFirstPauseUs = 200;
constexpr uint32_t kLongestPauseUs = 20'000;

void check(int answer) {
  if (answer < 0) throw std::runtime_error("the MPI failed while ranks met between calls");
}

}  // namespace

Meeting::Meeting(int rank, std::span<const uint64_t> machines, const hocket_wire_t& wire, const Gather& gather)
    : wire_(wire) {
  std::vector<uint64_t> labels(machines.begin(), machines.end());
  area_ = SharedArea::open(rank, labels, sizeof(Counters) + alignof(Counters), gather);
  if (area_ == nullptr) std::iota(labels.begin(), labels.end(), 0u);
  own_machine_ = labels[static_cast<size_t>(rank)];
  ranks_here_ = 0;
  for (size_t other = 0; other < labels.size(); ++other) {
    const bool is_first = std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(other),
                                    labels[other]) == labels.begin() + static_cast<std::ptrdiff_t>(other);
    const bool is_here = labels[other] == own_machine_;
    if (is_here) ++ranks_here_;
    if (!is_first) continue;
    if (is_here) own_place_ = static_cast<uint32_t>(leaders_.size());
    leaders_.push_back(static_cast<uint32_t>(other));
  }
  is_leader_ = leaders_[own_place_] == static_cast<uint32_t>(rank);
  oversubscribed_ = find_oversubscribed(labels, gather);
  if (area_ == nullptr) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(area_->memory());
  const uintptr_t aligned = (begin + alignof(Counters) - 1) & ~static_cast<uintptr_t>(alignof(Counters) - 1);
  counters_ = reinterpret_cast<Counters*>(aligned);
  if (is_leader_) new (counters_) Counters;
  char nothing = 0;
  std::vector<char> all(labels.size());
  gather(&nothing, all.data(), 1);  // no rank comes before it is there
}

// Each rank may be bound to a core of its own.
bool Meeting::find_oversubscribed(std::span<const uint64_t> machines, const Gather& gather) const {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  std::vector<cpu_set_t> all(machines.size());
  gather(&own, all.data(), sizeof own);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  int ranks = 0;
  for (size_t rank = 0; rank < machines.size(); ++rank) {
    if (machines[rank] != own_machine_) continue;
    CPU_OR(&cores, &cores, &all[rank]);
    ++ranks;
  }
  return ranks > CPU_COUNT(&cores);
}

void Meeting::look(Waiting waiting) {
  if (waiting == Waiting::kAsleep) {
    const timespec pause = {0, static_cast<long>(pause_us_) * 1000};
    nanosleep(&pause, nullptr);
    pause_us_ = std::min(pause_us_ * 2, kLongestPauseUs);
  } else if (oversubscribed_) {
    sched_yield();
  }
  // A peer may need this rank to move what is under way before it comes.
  uint32_t from = 0;
  if (++looks_ % (oversubscribed_ ? kLooksWhenOversubscribed : kLooksPerProgress) == 0 || waiting == Waiting::kAsleep)
    check(wire_.take_notice(kFirstTag - 1, &from, wire_.user));
}

void Meeting::pass(uint32_t to, uint32_t from, uint32_t tag, Waiting waiting) {
  uint64_t requests[2] = {0, 0};
  size_t received[2] = {0, 0};
  check(wire_.receive(from, tag, nullptr, 0, &requests[0], wire_.user));
  check(wire_.send(to, tag, nullptr, 0, &requests[1], wire_.user));
  while (requests[0] != 0 || requests[1] != 0) {
    // Those that are done may not be asked for again.
    if (requests[0] == 0) std::swap(requests[0], requests[1]);
    check(wire_.test(requests[1] != 0 ? 2 : 1, requests, received, wire_.user));
    if (requests[0] != 0 || requests[1] != 0) look(waiting);
  }
}

void Meeting::exchange(Waiting waiting) {
  const auto count = static_cast<uint32_t>(leaders_.size());
  uint32_t tag = kFirstTag;
  for (uint32_t distance = 1; distance < count; distance *= 2, ++tag)
    pass(leaders_[(own_place_ + distance) % count], leaders_[(own_place_ + count - distance) % count], tag, waiting);
}

void Meeting::meet(Waiting waiting) {
  pause_us_ = kFirstPauseUs;
  const auto here = [&] { look(waiting); };
  if (counters_ != nullptr && ranks_here_ > 1) counters_->come.meet(ranks_here_, here);
  if (leaders_.size() == 1) return;
  if (is_leader_) exchange(waiting);
  if (counters_ != nullptr && ranks_here_ > 1) counters_->go.meet(ranks_here_, here);
}

}  // namespace hocket::bench
