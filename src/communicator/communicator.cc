// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/communicator.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::kLanes;
using engines::shared_memory::Lane;
using engines::shared_memory::RankBlock;

namespace {

// How often a rank that waits looks whether its peers are alive, and how soon first.
constexpr int64_t kFailureCheckNs = 100'000'000;
// Looks between two calls of the progress callback while spinning or yielding.
constexpr uint32_t kLooksPerProgress = 64;

}  // namespace

Communicator::~Communicator() {
  context_.communicator_gone();
  if (!is_quiet_) {
    // Peers that have not noticed yet may still write here; the memory stays theirs until the context goes.
    for (auto& lane : lanes_) {
      if (lane != nullptr) lane->abandon();
    }
    return;
  }
  for (auto& lane : lanes_) lane.reset();
  if (block_ != nullptr) context_.region().free(block_);
}

Status Communicator::prepare(const Arguments& arguments, Call& call, const Prepared*& prepared,
                             std::shared_ptr<const Prepared>* keep) {
  if (broken_) [[unlikely]]
    return Status(Code::kBroken, broken_reason_);
  CallShape shape;
  shape.collective = arguments.collective;
  shape.keep_order = !arguments.combiner.commutative;
  shape.in_place = is_in_place(arguments, rank_);
  shape.root = arguments.root;
  shape.count = arguments.count;
  shape.element_bytes = arguments.combiner.element_bytes;
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
  return complete(blocking_, *lanes_[0]);
}

Status Communicator::complete(Call& call, Lane& lane) {
  Status failure;
  waiter_->arrive();
  const auto is_done = [&] { return call.advance(lane, failure) == Progress::kDone; };
  if (!is_done()) {
    HOCKET_TRY(wait_until(is_done, [&] { return outstanding_ == 0 ? call.awaits(lane) : RankBlock::kAnything; }));
  }
  return failure.is_ok() ? Status::ok() : fail(std::move(failure));
}

// Looks again and again, in the manner of the waiting policy, until is_done() says so or a peer is found dead.
template <typename Look, typename Awaits>
Status Communicator::wait_until(const Look& is_done, const Awaits& awaits) {
  platform::Waiter& waiter = *waiter_;
  waiter.start();
  next_check_ns_ = kFailureCheckNs;
  for (uint32_t looks = 1;; ++looks) {
    if (is_done()) return Status::ok();
    // Only lane 0 is asked: it has the call that blocks here; requests, on the other lanes, yield as ever.
    const platform::WaitAction action = waiter.pause(lanes_[0]->peer_is_writing());
    if (action == platform::WaitAction::kSleep) {
      group_->announce_sleep(awaits());
      const bool done = is_done();
      bool woken = false;
      if (!done) woken = group_->sleep(waiter.sleep_ns());
      group_->withdraw_sleep();
      if (done) return Status::ok();
      waiter.woken(woken);
      context_.progress();
      waiter.disregard();
    } else if (looks % kLooksPerProgress == 0) {
      context_.progress();
      waiter.disregard();
    } else {
      if (outstanding_ != 0) advance_requests();
      continue;
    }
    if (outstanding_ != 0) advance_requests();
    if (waiter.waited_ns() >= next_check_ns_) {
      next_check_ns_ = waiter.waited_ns() + kFailureCheckNs;
      if (Status failure = find_failure(); !failure.is_ok()) return fail(std::move(failure));
    }
  }
}

// --- non-blocking --------------------------------------------------------------------------------------------------

Result<Request*> Communicator::start(const Arguments& arguments) {
  if (checks_arguments_) HOCKET_TRY(check_agreement(arguments));
  auto request = std::make_unique<Request>();
  const Prepared* prepared = nullptr;
  std::shared_ptr<const Prepared> keep;
  HOCKET_TRY(prepare(arguments, request->call, prepared, &keep));
  const uint32_t index = 1 + static_cast<uint32_t>(started_ % (kLanes - 1));
  if (lanes_[index] == nullptr) {
    Result<std::unique_ptr<Lane>> lane = Lane::create(*group_, index);
    if (!lane.is_ok()) return fail(lane.take_status());
    lanes_[index] = lane.take();
  }
  ++started_;
  request->communicator = this;
  request->lane = index;
  request->arguments = arguments;
  request->call.start(request->arguments, *prepared, std::move(keep));
  queues_[index].push_back(request.get());
  Request* const started = request.release();  // the queue's from here on, whatever happens
  ++outstanding_;
  ++unfinished_;
  advance_requests();
  return started;
}

void Communicator::advance_requests() {
  for (uint32_t index = 1; index < kLanes; ++index) {
    auto& queue = queues_[index];
    while (!queue.empty()) {
      Request& request = *queue.front();
      Status failure;
      if (broken_) {
        request.status = Status(Code::kBroken, broken_reason_);
      } else if (request.call.advance(*lanes_[index], failure) == Progress::kPending) {
        break;
      } else if (!failure.is_ok()) {
        request.status = fail(std::move(failure));
      }
      request.done = true;
      queue.pop_front();
      --outstanding_;
    }
  }
}

bool Communicator::test(Request* request, Status& status) {
  if (!request->done) {
    advance_requests();
    // A loop of tests without a wait: the library underneath must move and a dead peer be noticed all the same.
    context_.progress();
    if (!request->done && !broken_) look_for_failure_now_and_then();
    if (!request->done) return false;
  }
  status = retire(request);
  return true;
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

Status Communicator::retire(Request* request) {
  const std::unique_ptr<Request> owned(request);
  --unfinished_;
  return std::move(owned->status);
}

void Communicator::look_for_failure_now_and_then() {
  const auto now = static_cast<int64_t>(now_ns());
  if (now < next_look_ns_) return;
  if (next_look_ns_ != 0) {
    if (Status failure = find_failure(); !failure.is_ok()) {
      (void)fail(std::move(failure));
      advance_requests();
    }
  }
  next_look_ns_ = now + kFailureCheckNs;
}

// --- failure and the end ---------------------------------------------------------------------------------------------

Status Communicator::fail(Status status) {
  if (!broken_) {
    broken_ = true;
    if (group_->broken() == 0) group_->report_broken(rank_);
    HOCKET_LOG_ERROR("rank %u of %u: %s", rank_, size_, status.message());
    broken_reason_ = status.message();
  }
  return status;
}

Status Communicator::find_failure() {
  // Who found the first failure has told; those who left because of it must not be taken for its cause.
  const auto failed = [this](uint32_t rank) {
    std::string process;
    if (peers_[rank] != nullptr) process = " (process " + std::to_string(peers_[rank]->address().process) + ")";
    return Status(Code::kPeerFailed, "rank " + std::to_string(rank) + process +
                                         " has ended or failed while others wait for it in a collective");
  };
  if (const uint32_t broken = group_->broken(); broken != 0) return failed(broken - 1);
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (peers_[rank] == nullptr || peers_[rank]->is_alive()) continue;
    group_->report_broken(rank);
    return failed(group_->broken() - 1);
  }
  return Status::ok();
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

// A rank may free its memory only when no peer will touch it again, not even to look whether it sleeps. After a barrier
// the collectives are over; then all count themselves out on rank 0, twice: the first time says "I touch nobody's
// memory but this counter", the second "nor the counter". Where that can't be completed, the memory is left alone.
Status Communicator::close() {
  if (unfinished_ != 0) {
    return Status(Code::kInvalidArgument, "the communicator has " + std::to_string(unfinished_) +
                                              " requests that have not been tested or waited for to their end");
  }
  is_quiet_ = size_ == 1;
  if (size_ == 1 || broken_) return Status::ok();
  if (Status status = run(Arguments{}); !status.is_ok()) return Status::ok();  // broken: has been told
  auto& left = group_->member(0).block->left;
  // Release: all that this rank has done to others' memory. Pairs with the acquire in await_left().
  left.fetch_add(1, std::memory_order_acq_rel);
  if (!await_left(size_)) return Status::ok();
  left.fetch_add(1, std::memory_order_acq_rel);
  is_quiet_ = rank_ != 0 || await_left(2 * size_);
  return Status::ok();
}

// False when somebody will never come.
bool Communicator::await_left(uint32_t count) {
  constexpr int64_t kShortestPauseNs = 10'000;
  constexpr int64_t kLongestPauseNs = 1'000'000;
  const auto& left = group_->member(0).block->left;
  int64_t pause_ns = kShortestPauseNs;
  int64_t next_check_ns = static_cast<int64_t>(now_ns()) + kFailureCheckNs;
  // Acquire: pairs with the ranks' fetch_add in close().
  while (left.load(std::memory_order_acquire) < count) {
    context_.progress();
    const timespec pause{0, pause_ns};
    nanosleep(&pause, nullptr);
    pause_ns = std::min(pause_ns * 2, kLongestPauseNs);
    if (static_cast<int64_t>(now_ns()) < next_check_ns) continue;
    next_check_ns = static_cast<int64_t>(now_ns()) + kFailureCheckNs;
    // A peer that has counted itself out may have gone since; only what is counted after that look tells.
    const bool failed = !find_failure().is_ok();
    if (failed && left.load(std::memory_order_acquire) < count) return false;
  }
  return true;
}

}  // namespace hocket::communicator
