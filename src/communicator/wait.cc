// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/wait.h"

#include <algorithm>
#include <utility>

#include "platform/waiting/placement.h"

namespace hocket::communicator {
namespace {

std::vector<platform::Turn*> turns_of(const engines::shared_memory::NodeGroup& group) {
  std::vector<platform::Turn*> turns;
  for (uint32_t place = 0; place < group.size(); ++place) turns.push_back(&group.member(place).block->turn);
  return turns;
}

}  // namespace

Wait::Wait(Context& context, const Participants& participants, Tracks& tracks, RequestQueue& requests,
           FailureDetector& failure, platform::WaitPolicy policy)
    : context_(context),
      participants_(participants),
      tracks_(tracks),
      requests_(requests),
      failure_(failure),
      attention_(context.occasion()),
      turns_(turns_of(*participants.group), participants.group->rank()),
      without_peers_(policy),
      waiter_((policy.turns = &turns_, policy)) {
  without_peers_.has_hidden_peers = true;
  waiter_.prepare();
}

void Wait::progress() {
  const auto begin_ns = static_cast<int64_t>(now_ns());
  context_.progress();
  attention_.note(begin_ns, static_cast<int64_t>(now_ns()));
  waiter_.disregard();
}

bool Wait::sleep() {
  const int64_t most_ns = attention_.longest_sleep_ns();
  bool wakes_alone = false;
  engines::Carrier* carrier = requests_.running() == 0 ? tracks_.first().sleeps_at(wakes_alone) : nullptr;
  // Nothing wakes it for what else it waits for, and no ring does, so it polls at intervals.
  if (carrier != nullptr)
    return carrier->sleep(std::min(wakes_alone ? waiter_.sleep_ns() : waiter_.poll_interval_ns(),
                                   attention_.has_reasons() ? Attention::kPollPauseNs : most_ns));
  const int64_t ns = std::min(tracks_.must_poll() ? waiter_.poll_interval_ns() : waiter_.sleep_ns(), most_ns);
  const platform::AvoidPeers keeps_away(context_.oversubscribed() ? nullptr : &turns_);
  if (attention_.rings().board() == nullptr) return participants_.group->sleep(ns);
  const std::atomic<uint32_t>& parked = participants_.group->own_parking().parked;
  const bool is_rung = attention_.rings().sleep(ns, &parked);
  return is_rung || parked.load(std::memory_order_relaxed) == 0;
}

void Wait::leave_ringers_core() {
  if (!context_.oversubscribed() && !platform::move_away(turns_, -1)) platform::leave_core();
}

Status Wait::check_for_failure() {
  Status trouble = failure_.find_trouble();
  if (!trouble.is_ok()) return failure_.fail(std::move(trouble));
  Status late = failure_.look_for_late(waiter_.waited_ns());
  return late.is_ok() ? Status::ok() : failure_.fail(std::move(late));
}

}  // namespace hocket::communicator
