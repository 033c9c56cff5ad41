// SPDX-License-Identifier: BSD-3-Clause
// What time does to NIC engines: when they look for what is late.
#include <algorithm>
#include <utility>

#include "simulation/nic/engines.h"

namespace hocket::simulation {
namespace {

constexpr uint64_t kPerNanosecond = 1000;
// The protocol's clock at the beginning: a time that no real clock gives, 0, means something to it.
constexpr uint64_t kBeginNs = 10'000'000'000;
// While operations get done, nothing can be missing for long: a look is this many times later than a question.
constexpr uint64_t kCalm = 2;

uint64_t ns_of(double us) { return static_cast<uint64_t>(from_us(us)) / kPerNanosecond; }

}  // namespace

uint64_t NicEngines::now_ns() const { return kBeginNs + surroundings_.now() / kPerNanosecond; }

// Counts of signs of life are kept of those members only that have given some: it is few of them that a member hears
// from, and all others' are zero.
void NicEngines::Member::note_sign_of_life(uint32_t source) {
  if (state.broken != 0) return;
  const auto found =
      std::find_if(signs.begin(), signs.end(), [&](const SignsOfLife& one) { return one.member == source; });
  if (found != signs.end()) {
    ++found->signs;
  } else {
    signs.push_back({source, 1, {}});
  }
}

void NicEngines::look_at(uint32_t member, Time time) {
  Member& own = members_[member];
  if (time > surroundings_.now()) time = std::max(time, own.last_look + from_us(options_.tick_us));
  if (own.next_look <= time) return;
  own.next_look = time;
  surroundings_.call_at(time, kNicLook + member);
}

// Whether there is nothing that could be late: all is complete, and all that was owed has been acknowledged.
bool NicEngines::is_quiet(uint32_t member) const {
  const nic_state& state = members_[member].state;
  if (state.broken != 0) return true;
  if (state.completed != state.started) return false;
  for (uint64_t epoch = nic_oldest_sent(state.started); epoch <= state.started; ++epoch) {
    const uint64_t word = nic_look(&state.record[nic_index_of(epoch)], epoch);
    if (nic_unacknowledged(&group_of(member), &state, epoch, word) != 0) return false;
  }
  return true;
}

void NicEngines::look(uint32_t member) {
  Member& own = members_[member];
  const Time now = surroundings_.now();
  // Otherwise a sooner one was wanted since.
  if (own.next_look != now) return;
  own.next_look = kNever;
  own.last_look = now;
  ++counts_.looks;
  const bool has_moved = std::exchange(own.seen_completed, own.state.completed) != own.state.completed;
  if (is_quiet(member)) return;
  if (own.watch == nullptr) {
    own.watch = std::make_unique<nic_watch>();
    own.watch->backoff = {ns_of(options_.ask_us), ns_of(options_.most_us), ns_of(options_.silence_us)};
    own.watch->emit = emit;
  }
  watch(member, *own.watch);
  const uint64_t wait_ns = nic_watch_wait(&group_of(member), &own.state, own.watch.get(), now_ns());
  if (wait_ns == ~uint64_t{0}) return;
  const Time soonest = has_moved ? kCalm * from_us(options_.ask_us) : wait_ns * kPerNanosecond;
  look_at(member, now + std::max<Time>(soonest, kPerNanosecond));
}

namespace {

struct Looker {
  NicEngines* engines;
  uint32_t member;
};

}  // namespace

void NicEngines::watch(uint32_t member, nic_watch& watch) {
  Member& own = members_[member];
  const nic_group& group = group_of(member);
  Looker looker = {this, member};
  watch.user = &looker;
  watch.member = watched_.data();
  watch.signs_of_life = signs_.data();
  watch.signs_of_life_stride = sizeof(uint32_t);
  for (const SignsOfLife& signs : own.signs) {
    watched_[signs.member] = signs.watched;
    signs_[signs.member] = signs.signs;
  }
  // An engine knows from the first when its host began what.
  for (uint64_t epoch = own.state.completed + 1; epoch <= own.state.started; ++epoch)
    if (watch.record[nic_index_of(epoch)].epoch != epoch)
      nic_watch_operation(&group, &own.state, &watch, epoch, own.started_ns[epoch % NIC_IN_FLIGHT]);
  (void)nic_watch_group(&group, &own.state, &watch, now_ns());
  for (SignsOfLife& signs : own.signs) {
    signs.watched = std::exchange(watched_[signs.member], {});
    signs_[signs.member] = 0;
  }
  watch.user = nullptr;
}

void NicEngines::emit(void* user, const nic_message* message) {
  const Looker& looker = *static_cast<const Looker*>(user);
  NicEngines& engines = *looker.engines;
  if (nic_is_of_schedule(message) != 0) ++engines.counts_.repeated;
  (void)engines.send(looker.member, *message, nic_call_of(message), false, engines.surroundings_.now());
}

}  // namespace hocket::simulation
