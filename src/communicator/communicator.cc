// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/communicator.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::kLanes;
using engines::shared_memory::Lane;

namespace {

// How often a rank that waits looks whether its peers are alive, and how soon first.
constexpr int64_t kFailureCheckNs = 100'000'000;
// Looks between two calls of the progress callback while spinning or yielding.
constexpr uint32_t kLooksPerProgress = 64;

}  // namespace

Communicator::~Communicator() {
  for (auto& lane : lanes_) lane.reset();
  if (block_ != nullptr) context_.region().free(block_);
}

Status Communicator::prepare(const Arguments& arguments, const Prepared*& prepared,
                             std::shared_ptr<const Prepared>* keep) {
  if (broken_) [[unlikely]]
    return Status(Code::kBroken, broken_reason_);
  CallShape shape;
  shape.collective = arguments.collective;
  shape.keep_order = !arguments.combiner.commutative;
  shape.root = arguments.root;
  shape.count = arguments.count;
  shape.element_bytes = arguments.combiner.element_bytes;
  prepared = planner_->recent(shape);
  if (prepared != nullptr && keep == nullptr) return Status::ok();
  Result<std::shared_ptr<const Prepared>> made = planner_->prepare(shape);
  if (!made.is_ok()) return made.take_status();
  prepared = made.value().get();
  if (keep != nullptr) *keep = made.take();
  return Status::ok();
}

Status Communicator::run(const Arguments& arguments) {
  if (context_.checks_arguments()) [[unlikely]]
    HOCKET_TRY(check_agreement(arguments));
  const Prepared* prepared = nullptr;
  HOCKET_TRY(prepare(arguments, prepared, nullptr));
  blocking_.start(arguments, *prepared);
  return complete(blocking_, *lanes_[0]);
}

Status Communicator::complete(Call& call, Lane& lane) {
  Status failure;
  const auto is_done = [&] {
    Result<Progress> progress = call.advance(lane);
    if (progress.is_ok()) [[likely]]
      return progress.value() == Progress::kDone;
    failure = progress.take_status();
    return true;
  };
  if (!is_done()) HOCKET_TRY(wait_until(is_done));
  return failure.is_ok() ? Status::ok() : fail(std::move(failure));
}

// Looks again and again, in the manner of the waiting policy, until is_done() says so or a peer is found dead.
template <typename Look>
Status Communicator::wait_until(const Look& is_done) {
  platform::Waiter& waiter = *waiter_;
  waiter.start();
  next_check_ns_ = kFailureCheckNs;
  for (uint32_t looks = 1;; ++looks) {
    if (is_done()) return Status::ok();
    const platform::WaitAction action = waiter.pause();
    if (action == platform::WaitAction::kSleep) {
      group_->announce_sleep();
      const bool done = is_done();
      bool woken = false;
      if (!done) woken = group_->sleep(waiter.sleep_ns());
      group_->withdraw_sleep();
      if (done) return Status::ok();
      waiter.woken(woken);
      context_.progress();
    } else if (looks % kLooksPerProgress == 0) {
      context_.progress();
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
  if (context_.checks_arguments()) HOCKET_TRY(check_agreement(arguments));
  const Prepared* prepared = nullptr;
  std::shared_ptr<const Prepared> keep;
  HOCKET_TRY(prepare(arguments, prepared, &keep));
  const uint32_t index = 1 + static_cast<uint32_t>(started_ % (kLanes - 1));
  if (lanes_[index] == nullptr) {
    Result<std::unique_ptr<Lane>> lane = Lane::create(*group_, index);
    if (!lane.is_ok()) return lane.take_status();
    lanes_[index] = lane.take();
  }
  ++started_;
  auto request = std::make_unique<Request>();
  request->communicator = this;
  request->lane = index;
  request->call.start(arguments, *prepared, std::move(keep));
  queues_[index].push_back(request.get());
  ++outstanding_;
  advance_requests();
  return request.release();
}

void Communicator::advance_requests() {
  for (uint32_t index = 1; index < kLanes; ++index) {
    auto& queue = queues_[index];
    while (!queue.empty()) {
      Request& request = *queue.front();
      Result<Progress> progress =
          broken_ ? Result<Progress>(Status(Code::kBroken, broken_reason_)) : request.call.advance(*lanes_[index]);
      if (progress.is_ok() && progress.value() == Progress::kPending) break;
      if (!progress.is_ok()) request.status = broken_ ? progress.take_status() : fail(progress.take_status());
      request.done = true;
      queue.pop_front();
      --outstanding_;
    }
  }
}

bool Communicator::test(Request* request, Status& status) {
  if (!request->done) {
    advance_requests();
    // A test loop without a wait: the MPI underneath and a dead peer must be noticed all the same.
    context_.progress();
    if (!request->done) return false;
  }
  const std::unique_ptr<Request> owned(request);
  status = std::move(owned->status);
  return true;
}

Status Communicator::wait(Request* request) {
  const Status waited = wait_until([&] {
    if (!request->done) advance_requests();
    return request->done;
  });
  if (!waited.is_ok()) advance_requests();  // the communicator is broken: every request ends with the reason
  const std::unique_ptr<Request> owned(request);
  return std::move(owned->status);
}

// --- failure and the end ---------------------------------------------------------------------------------------------

Status Communicator::fail(Status status) {
  if (!broken_) {
    broken_ = true;
    broken_reason_ = status.message();
    HOCKET_LOG_ERROR("rank %u of %u: %s", rank_, size_, status.message());
    if (group_->broken() == 0) group_->report_broken(rank_);
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
// memory but this counter", the second "nor the counter".
Status Communicator::close() {
  if (size_ == 1 || broken_) return Status::ok();
  Arguments barrier;
  HOCKET_TRY(run(barrier));
  auto& left = group_->member(0).block->left;
  int64_t pause_ns = 10'000;
  constexpr int64_t kLongestPauseNs = 1'000'000;
  const auto await = [&](uint32_t count) -> Status {
    const uint64_t begin = now_ns();
    // Acquire: pairs with the other ranks' fetch_add below.
    while (left.load(std::memory_order_acquire) < count) {
      context_.progress();
      const timespec pause{0, pause_ns};
      nanosleep(&pause, nullptr);
      pause_ns = std::min(pause_ns * 2, kLongestPauseNs);
      if (static_cast<int64_t>(now_ns() - begin) > kFailureCheckNs && group_->broken() == 0) {
        for (const auto& peer : peers_) {
          if (peer != nullptr && !peer->is_alive()) return Status::ok();  // nobody is left to disturb
        }
      }
    }
    return Status::ok();
  };
  left.fetch_add(1, std::memory_order_acq_rel);
  HOCKET_TRY(await(size_));
  left.fetch_add(1, std::memory_order_acq_rel);
  return rank_ == 0 ? await(2 * size_) : Status::ok();
}

}  // namespace hocket::communicator
