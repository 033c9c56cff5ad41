// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/communicator.h"

#include <sched.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "engines/nic/operation_name.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::kLanes;
using engines::shared_memory::Lane;
using engines::shared_memory::RankBlock;

Communicator::~Communicator() {
  context_.communicator_gone();
  if (!is_quiet()) {
    // Peers that have not noticed yet may still write here; the memory stays theirs until the context goes.
    for (auto& track : tracks_) {
      if (track != nullptr) track->lane().abandon();
    }
    return;
  }
  for (auto& track : tracks_) track.reset();
  multicast_.reset();
  nic_.reset();
  if (own_tag_) context_.tags()->give_back(*own_tag_);
  if (block_ != nullptr) context_.region().free(block_);
}

// Without what vector versions tell.
CallShape Communicator::shape_of(const Arguments& arguments) const {
  CallShape shape;
  shape.collective = arguments.collective;
  shape.keep_order = !arguments.combiner.commutative;
  shape.in_place = is_in_place(arguments, rank_);
  shape.root = arguments.root;
  shape.count = arguments.count;
  shape.element_bytes = arguments.combiner.element_bytes;
  if (planner_->uses_nic()) [[unlikely]]
    shape.operation = engines::nic::operation_name(arguments.collective, arguments.combiner);
  return shape;
}

Status Communicator::prepare(const Arguments& arguments, Call& call, const Prepared*& prepared,
                             std::shared_ptr<const Prepared>* keep) {
  if (broken_) [[unlikely]]
    return Status(Code::kBroken, broken_reason_);
  CallShape shape = shape_of(arguments);
  if (schedule::is_vector(arguments.collective)) [[unlikely]] {
    call.read_blocks(arguments, size_, keep != nullptr);
    const bool agreed = schedule::lengths_are_agreed(arguments.collective);
    shape.count = agreed ? call.blocks().longest() : 0;
    shape.row = agreed ? call.blocks().total() : 0;
  }
  prepared = planner_->recent(shape);
  if (prepared != nullptr && keep == nullptr) return Status::ok();
  Result<std::shared_ptr<const Prepared>> made = planner_->prepare(shape);
  if (!made.is_ok()) return made.take_status();
  prepared = made.value().get();
  if (keep != nullptr) *keep = made.take();
  return Status::ok();
}

// Peers that are in the call already would wait for ever for a rank that fails alone.
void Communicator::break_after_exception(const char* what) {
  (void)fail(Status(Code::kBroken, "rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                                       " could not go on with a collective: " + what));
}

void Communicator::abort(const std::string& reason) {
  (void)fail(Status(Code::kBroken, "rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                                       " has given the communicator up: " + reason));
}

Status Communicator::run(const Arguments& arguments) {
  if (checks_arguments_) [[unlikely]]
    HOCKET_TRY(check_agreement(arguments));
  const Prepared* prepared = nullptr;
  HOCKET_TRY(prepare(arguments, blocking_, prepared, nullptr));
  blocking_.start(arguments, *prepared);
  return complete(blocking_, *tracks_[0]);
}

Status Communicator::complete(Call& call, Track& track) {
  Status failure;
  waiter_->arrive();
  const auto is_done = [&] {
    track.poll();
    return call.advance(track, failure) == Progress::kDone;
  };
  if (!is_done()) {
    HOCKET_TRY(wait_until(is_done, [&] { return outstanding_ == 0 ? call.awaits(track) : RankBlock::kAnything; }));
  }
  return failure.is_ok() ? Status::ok() : fail(std::move(failure));
}

// Looks again and again, in the manner of the waiting policy, until is_done() says so or a peer is found dead.
template <typename Look, typename Awaits>
Status Communicator::wait_until(const Look& is_done, const Awaits& awaits) {
  platform::Waiter& waiter = *waiter_;
  waiter.start();
  next_check_ns_ = kFailureCheckNs;
  bool attends = false;
  for (uint32_t looks = 1;; ++looks) {
    if (is_done()) return Status::ok();
    const bool attended = std::exchange(attends, attention_.is_called_for());
    if (attends && !attended) [[unlikely]]
      attention_.start(static_cast<int64_t>(now_ns()));
    if (attends && attention_.keeps_core()) {
      progress();
      HOCKET_TRY(advance_others());
      // No time is told here; so many looks take some milliseconds.
      if (looks % kLooksPerFailureCheck != 0) continue;
      if (Status trouble = find_trouble(); !trouble.is_ok()) return fail(std::move(trouble));
      continue;
    }
    // Only track 0 is asked: it has the call that blocks here; requests, on the others, yield as ever.
    platform::WaitAction action = waiter.pause(tracks_[0]->lane().peer_is_writing());
    if (action == platform::WaitAction::kSleep && attends && !attention_.may_sleep(static_cast<int64_t>(now_ns()))) {
      sched_yield();
      action = platform::WaitAction::kYield;
    }
    if (action == platform::WaitAction::kSleep) {
      group_->announce_sleep(awaits());
      const bool done = is_done();
      bool woken = false;
      if (!done) woken = sleep(attends);
      group_->withdraw_sleep();
      if (done) return Status::ok();
      waiter.woken(woken);
      attention_.has_slept();
      progress();
    } else if (attends || looks % platform::Waiter::kLooksPerProgress == 0) {
      progress();
    } else {
      HOCKET_TRY(advance_others());
      continue;
    }
    HOCKET_TRY(advance_others());
    if (waiter.waited_ns() >= next_check_ns_) {
      next_check_ns_ = waiter.waited_ns() + kFailureCheckNs;
      if (Status trouble = find_trouble(); !trouble.is_ok()) return fail(std::move(trouble));
    }
  }
}

// Of the library underneath.
void Communicator::progress() {
  const auto begin_ns = static_cast<int64_t>(now_ns());
  context_.progress();
  attention_.note(begin_ns, static_cast<int64_t>(now_ns()));
  waiter_->disregard();
}

// Whether somebody has woken it, or what it waits for has come.
bool Communicator::sleep(bool attends) {
  const int64_t most_ns = attends ? Attention::kNapNs : INT64_MAX;
  if (engines::nic::Trigger* nic = outstanding_ == 0 ? tracks_[0]->wakes() : nullptr; nic != nullptr)
    return nic->sleep(std::min(waiter_->sleep_ns(), most_ns));
  // What else it waits for nobody wakes it for, so it naps.
  if (MulticastSteps* multicast = outstanding_ == 0 ? tracks_[0]->wakes_by_multicast() : nullptr; multicast != nullptr)
    return multicast->sleep(std::min(waiter_->nap_ns(), most_ns));
  // Nobody wakes it for a message from another node.
  return group_->sleep(std::min(must_poll() ? waiter_->nap_ns() : waiter_->sleep_ns(), most_ns));
}

Status Communicator::wait(Request* request) {
  const auto is_done = [&] {
    if (!request->done) advance_requests();
    return request->done;
  };
  if (!is_done()) {
    const Status waited = wait_until(is_done, [] { return RankBlock::kAnything; });
    if (!waited.is_ok()) advance_requests();  // the communicator is broken: every request ends with the reason
  }
  return retire(request);
}

// --- failure ---------------------------------------------------------------------------------------------------------

Status Communicator::fail(Status status) {
  for (auto& track : tracks_) {
    if (track != nullptr) track->cancel();
  }
  if (!broken_) {
    broken_ = true;
    if (status.code() == Code::kMismatch)
      status = agree_on_mismatch(std::move(status));
    else if (group_->broken() == 0)
      group_->report_broken(rank_);
    // First, since an MPI may not survive that its peers have ended.
    HOCKET_LOG_ERROR("rank %u of %u: %s", rank_, size_, status.message());
    if (nodes_ != nullptr && !others_know_) tell_other_nodes(status);
    broken_reason_ = status.message();
  }
  return status;
}

// The first that was told, whatever else is found: those who have left because of it must not be taken for its cause.
Status Communicator::what_broke() const {
  const uint32_t broken = group_->broken();
  if (broken == RankBlock::kMismatch) return {Code::kMismatch, group_->mismatch()};
  const uint32_t rank = broken - 1;
  std::string process;
  const bool is_here = nodes_ == nullptr || nodes_->together(rank, rank_);
  const uint32_t place = nodes_ == nullptr ? rank : nodes_->place_of(rank);
  if (!is_here)
    process = " (on another node)";
  else if (peers_[place] != nullptr)
    process = " (process " + std::to_string(peers_[place]->address().process) + ")";
  return {Code::kPeerFailed,
          "rank " + std::to_string(rank) + process + " has ended or failed while others wait for it in a collective"};
}

Status Communicator::find_failure() {
  if (group_->broken() != 0) {
    Status told = what_broke();
    // So have the others been; but engines are told of a failure by who stands for the node.
    others_know_ = nic_ == nullptr || told.code() == Code::kMismatch;
    return told;
  }
  for (uint32_t place = 0; place < ranks_here(); ++place) {
    if (peers_[place] == nullptr || peers_[place]->is_alive()) continue;
    group_->report_broken(rank_at(place));
    return what_broke();
  }
  if (nodes_ == nullptr) return Status::ok();
  for (auto& track : tracks_)
    if (track != nullptr) HOCKET_TRY(track->check());
  uint32_t elsewhere = size_;
  HOCKET_TRY(hear_other_nodes(elsewhere));
  if (elsewhere == size_) return Status::ok();
  others_know_ = true;
  group_->report_broken(elsewhere);
  return what_broke();
}

Result<std::unique_ptr<Track>> Communicator::make_track(uint32_t index) {
  Result<std::unique_ptr<Lane>> lane = Lane::create(*group_, index);
  if (!lane.is_ok()) return lane.take_status();
  std::unique_ptr<engines::wire::Channel> channel;
  if (nodes_ != nullptr) {
    const uint32_t marks = context_.tags()->marks();
    const engines::wire::TagRange tags{tag_ + index * marks, marks};
    channel = std::make_unique<engines::wire::Channel>(*context_.wire(), tags, rank_, addresses_);
  }
  auto track = std::make_unique<Track>(lane.take(), std::move(channel));
  equip(*track, index);
  return track;
}

void Communicator::equip(Track& track, uint32_t index) const {
  if (nic_ != nullptr) track.use(nic_->trigger(index));
  if (multicast_ != nullptr && multicast_->shared() != nullptr) track.use(*multicast_->shared(), index);
}

// Nobody wakes a rank when a message comes from another node.
bool Communicator::must_poll() const {
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [](const auto& track) { return track != nullptr && track->must_poll(); });
}

Status Communicator::force(schedule::Collective collective, std::string_view spec) {
  if (spec.empty()) {
    planner_->force(collective, std::nullopt);
    return Status::ok();
  }
  Result<selection::Spec> parsed = selection::parse_spec(collective, spec);
  if (!parsed.is_ok()) return parsed.take_status();
  planner_->force(collective, parsed.take());
  return Status::ok();
}

}  // namespace hocket::communicator
