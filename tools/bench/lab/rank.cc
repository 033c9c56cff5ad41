// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/rank.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/clock.h"

namespace hocket::lab_bench {
namespace {

// From when all have met until they go on: each has to wake up and to fall asleep again.
constexpr uint64_t kReleaseNs = 100'000;
constexpr uint64_t kReleaseOfRankNs = 10'000;

// Jiffies that the machine's processors have not been idle.
uint64_t busy_ticks() {
  std::ifstream file("/proc/stat");
  std::string name;
  uint64_t user = 0;
  uint64_t nice = 0;
  uint64_t system = 0;
  uint64_t idle = 0;
  uint64_t wait = 0;
  uint64_t interrupt = 0;
  uint64_t soft_interrupt = 0;
  file >> name >> user >> nice >> system >> idle >> wait >> interrupt >> soft_interrupt;
  return user + nice + system + interrupt + soft_interrupt;
}

void compute(uint64_t for_ns) {
  const uint64_t end = now_ns() + for_ns;
  while (now_ns() < end) continue;
}

// For that long on a core, whatever else has it in between.
void burn(uint64_t for_ns) {
  for (const int64_t end = processor_time_ns() + static_cast<int64_t>(for_ns); processor_time_ns() < end;) continue;
}

void sleep_until(uint64_t ns) {
  const timespec time = {static_cast<time_t>(ns / kNanosecondsPerSecond),
                         static_cast<long>(ns % kNanosecondsPerSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) continue;
}

}  // namespace

void pin(uint32_t rank, uint32_t cores) {
  if (cores == 0) cores = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(rank % cores, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

Rank::Rank(Board& board, uint32_t rank, Driver& driver, ReadTraffic traffic)
    : board_(board),
      task_(board.task),
      rank_(rank),
      driver_(driver),
      traffic_(std::move(traffic)),
      dice_(task_.seed * kMostRanks + rank) {
  prctl(PR_SET_TIMERSLACK, 1);  // a rank that sleeps for microseconds means it
}

Status Rank::live() {
  Result<Card> card = driver_.open();
  if (!card.is_ok()) return card.take_status();
  board_.cards[rank_] = card.value();
  if (!meet()) return Status::ok();
  HOCKET_TRY(driver_.connect({board_.cards, board_.cards + task_.ranks}));
  if (!meet()) return Status::ok();
  HOCKET_TRY(make_calls(task_.warm_ups, false));
  HOCKET_TRY(read_meters(0));
  if (!meet()) return Status::ok();
  board_.begin_ns[rank_] = now_ns();
  HOCKET_TRY(make_calls(task_.rounds, true));
  board_.end_ns[rank_] = now_ns();
  HOCKET_TRY(read_meters(1));
  // No rank goes while others may need its answers.
  (void)meet();
  return Status::ok();
}

bool Rank::meet() {
  const uint32_t all = ++meetings_ * task_.ranks;
  board_.come.fetch_add(1);
  while (board_.come.load() < all) {
    if (board_.is_broken()) return false;
    sched_yield();
  }
  return !board_.is_broken();
}

Status Rank::read_meters(int which) const {
  if (rank_ != 0) return Status::ok();
  const Result<Traffic> traffic = traffic_();
  if (!traffic.is_ok()) return {traffic.status().code(), traffic.status().message()};
  board_.traffic[which] = traffic.value();
  board_.ticks[which] = busy_ticks();
  return Status::ok();
}

Status Rank::make_calls(uint32_t count, bool is_warm) {
  for (uint32_t round = 0; round < count && !board_.is_broken(); ++round) {
    ++calls_;
    operand_ = operand_of(task_.work, rank_, calls_);
    switch (task_.timing) {
      case Timing::kLatency:
        HOCKET_TRY(from_the_last(round, is_warm));
        break;
      case Timing::kHostTime:
        HOCKET_TRY(within_the_call(round, is_warm));
        break;
      case Timing::kOverlap:
        HOCKET_TRY(with_computation(round, is_warm));
        break;
      default:
        HOCKET_TRY(one_after_another(round, is_warm));
    }
  }
  if (task_.work.bytes == 0) return Status::ok();
  board_.given.wait_for(calls_ * task_.ranks, board_.has_failed);
  return check_message(calls_);
}

Status Rank::begin() { return driver_.begin(task_.work.gives(rank_) ? &operand_ : nullptr); }

Status Rank::finish() { return driver_.finish(result_); }

Status Rank::one_after_another(uint32_t round, bool is_warm) {
  if (task_.compute_us > 0 && is_warm)
    compute(static_cast<uint64_t>(std::uniform_real_distribution<double>(0, task_.compute_us * kNsPerUs)(dice_)));
  if (task_.is_checked) board_.started[rank_].store(calls_);
  const uint64_t begin_ns = rank_ == 0 ? now_ns() : 0;
  HOCKET_TRY(begin());
  HOCKET_TRY(finish());
  if (rank_ == 0 && is_warm) board_.time(0, round) = now_ns() - begin_ns;
  return task_.is_checked ? check_barrier() : Status::ok();
}

Status Rank::check_barrier() const {
  for (uint32_t other = 0; other < task_.ranks; ++other) {
    if (board_.started[other].load() < calls_)
      return {Code::kMismatch, "barrier " + std::to_string(calls_) + " was over before rank " + std::to_string(other) +
                                   " had come to it"};
  }
  return Status::ok();
}

Status Rank::check_result() const {
  const std::string wrong = task_.work.gets(rank_) ? difference(task_, calls_, result_) : "";
  return wrong.empty() ? Status::ok() : Status(Code::kMismatch, wrong);
}

// Long ones are looked at when no rank is in a call whose time counts.
Status Rank::check_message(uint64_t call) const {
  const std::string wrong = task_.work.bytes == 0 || call == 0 ? "" : driver_.difference(call);
  return wrong.empty() ? Status::ok() : Status(Code::kMismatch, wrong);
}

Status Rank::from_the_last(uint32_t round, bool is_warm) {
  const bool is_reduce = task_.work.collective == schedule::Collective::kReduce;
  const uint32_t given = (calls_ - 1) * (is_reduce ? 1 : task_.ranks);
  if (rank_ == task_.initiator) {
    board_.given.wait_for(given, board_.has_failed);
    HOCKET_TRY(check_message(calls_ - 1));
    if (task_.work.bytes != 0) driver_.prepare(calls_);
    board_.admitted.set(calls_);
    settle();
    const uint64_t now = now_ns();
    if (is_warm) board_.beginning(round) = now;
  } else {
    board_.admitted.wait_for(calls_, board_.has_failed);
    HOCKET_TRY(check_message(calls_ - 1));
    if (task_.work.bytes != 0) driver_.prepare(calls_);
    board_.entered.fetch_add(1);
  }
  if (board_.is_broken()) return Status::ok();
  HOCKET_TRY(begin());
  if (!task_.work.gets(rank_)) return Status::ok();
  HOCKET_TRY(finish());
  if (is_warm) board_.time(rank_, round) = now_ns();
  HOCKET_TRY(check_result());
  board_.given.add(is_reduce ? 1 : task_.ranks);
  return Status::ok();
}

// All others have come to the call, and what they send has come to others.
void Rank::settle() const {
  const uint32_t all = calls_ * (task_.ranks - 1);
  while (static_cast<int32_t>(board_.entered.load() - all) < 0 && !board_.is_broken()) sched_yield();
  // Asleep: the scheduler would later hold a long yield against the rank, for as long and at each interruption.
  sleep_until(now_ns() + static_cast<uint64_t>(task_.settle_us * kNsPerUs));
}

// The last one to come says when.
void Rank::go_on_together() {
  if (board_.arrived.fetch_add(1) + 1 == calls_ * task_.ranks) {
    board_.release_ns = now_ns() + kReleaseNs + kReleaseOfRankNs * task_.ranks;
    board_.released.set(calls_);
  } else {
    board_.released.wait_for(calls_, board_.has_failed);
  }
}

Status Rank::within_the_call(uint32_t round, bool is_warm) {
  if (task_.work.bytes != 0) driver_.prepare(calls_);
  go_on_together();
  std::uniform_real_distribution<double> skews(0, task_.skew_us * kNsPerUs);
  sleep_until(board_.release_ns + static_cast<uint64_t>(skews(dice_)));
  if (board_.is_broken()) return Status::ok();
  if (task_.is_checked) board_.started[rank_].store(calls_);
  const uint64_t begin_ns = now_ns();
  HOCKET_TRY(begin());
  if (!task_.fetches_later) HOCKET_TRY(finish());
  const uint64_t end_ns = now_ns();
  if (is_warm) board_.time(rank_, round) = end_ns - begin_ns;
  if (task_.fetches_later) HOCKET_TRY(finish());
  if (task_.is_checked) return check_barrier();
  if (task_.work.bytes == 0) return check_result();
  board_.given.add();
  board_.given.wait_for(calls_ * task_.ranks, board_.has_failed);
  return board_.is_broken() ? Status::ok() : check_message(calls_);
}

Status Rank::with_computation(uint32_t round, bool is_warm) {
  const auto part = static_cast<OverlapPart>(round % kOverlapParts);
  go_on_together();
  sleep_until(board_.release_ns);
  if (board_.is_broken()) return Status::ok();
  const bool calls = part != OverlapPart::kComputation;
  const uint64_t begin_ns = now_ns();
  if (calls) HOCKET_TRY(begin());
  if (part != OverlapPart::kCall) {
    const auto for_ns = static_cast<uint64_t>(task_.compute_us * kNsPerUs);
    task_.burns ? burn(for_ns) : sleep_until(now_ns() + for_ns);
  }
  if (calls) HOCKET_TRY(finish());
  if (is_warm) board_.time(rank_, round) = now_ns() - begin_ns;
  return calls ? check_result() : Status::ok();
}

}  // namespace hocket::lab_bench
