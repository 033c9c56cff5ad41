// SPDX-License-Identifier: BSD-3-Clause
#include "core/communicator.h"

#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "c_api/begun.h"
#include "core/endpoint.h"
#include "core/last_words.h"

namespace hocket::interposer {
namespace {

struct Left {  // a hocket comm whose MPI communicator went without our being told in time
  hocket_comm_t* comm;
  uint64_t order;
};

struct List {
  std::mutex mutex;
  std::vector<Communicator*> all;
  std::vector<Left> left;
};

// Never destroyed: threads of the program may outlive static destruction.
List& list() {
  static auto* list = new List;
  return *list;
}

uint64_t random_order() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) value = reinterpret_cast<uintptr_t>(&value);
  return value;
}

struct Offer {
  uint64_t order;
  uint64_t able;
};

// All ranks hear whether each of them has a context, and rank 0's random number.
bool agree(Communicator& self, const Exchange& exchange, bool able) {
  const Offer mine{random_order(), able};
  std::vector<Offer> all(self.size);
  if (exchange.allgather(&mine, all.data(), sizeof mine, exchange.user) != 0) return false;
  self.order = all[0].order;
  return std::all_of(all.begin(), all.end(), [](const Offer& offer) { return offer.able != 0; });
}

// What fails once mostly fails for every communicator.
void tell_failed_set_up(int size) {
  static std::atomic<bool> told{false};  // relaxed: orders nothing
  const log::Level level = told.exchange(true, std::memory_order_relaxed) ? log::Level::kInfo : log::Level::kWarn;
  HOCKET_LOG_AT(level, "a communicator of %d ranks could not be set up and is left to the MPI: %s", size,
                hocket_error_text());
}

// A forced choice that can't be honoured is an error of every call; whatever else can't be had is left to the MPI.
void set_up(Communicator& self, const Exchange& exchange) {
  hocket_context_t* context = endpoint();
  if (!agree(self, exchange, context != nullptr)) return refuse(self, Outcome::kSetUpFailed);
  const hocket_bootstrap_t bootstrap{self.rank, self.size, exchange.allgather, exchange.user};
  const hocket_status_t status = hocket_comm_create(context, &bootstrap, &self.comm);
  if (status == HOCKET_OK) {
    self.phase = Phase::kReady;
    self.may_begin = c_api::may_run_by_engines(self.comm);
    return;
  }
  self.comm = nullptr;
  if (status == HOCKET_ERR_NOT_SUPPORTED) {
    HOCKET_LOG_INFO("a communicator of %d ranks is left to the MPI: %s", self.size, hocket_error_text());
    return refuse(self, Outcome::kNoTags);
  }
  if (status == HOCKET_ERR_INVALID_ARGUMENT) {
    if (self.rank == 0) {
      HOCKET_LOG_ERROR("a communicator of %d ranks: %s", self.size, hocket_error_text());
      let_last_words_out();
    }
    self.failure_told = true;
    // The error ends the job, as a rule: no rank raises it before it is written.
    agree(self, exchange, false);
    return refuse(self, Outcome::kFailed);
  }
  if (self.rank == 0) tell_failed_set_up(self.size);
  refuse(self, Outcome::kSetUpFailed);
}

}  // namespace

Communicator* open_communicator(int rank, int size) {
  auto* communicator = new Communicator;
  communicator->rank = rank;
  communicator->size = size;
  if (size == 1) communicator->phase = Phase::kAlone;
  const std::lock_guard lock(list().mutex);
  list().all.push_back(communicator);
  return communicator;
}

void refuse(Communicator& communicator, Outcome why) {
  communicator.phase = Phase::kRefused;
  communicator.refusal = why;
}

Outcome prepare(Communicator& communicator, int64_t setup_calls, const Exchange& exchange) {
  if (communicator.phase == Phase::kAlone) return Outcome::kSingleRank;
  if (communicator.phase == Phase::kCounting) {
    if (++communicator.calls < setup_calls) return Outcome::kNotSetUp;
    set_up(communicator, exchange);
  }
  return communicator.phase == Phase::kReady ? Outcome::kCarriedOut : communicator.refusal;
}

void close_communicator(Communicator& communicator) {
  if (communicator.comm != nullptr && hocket_comm_destroy(communicator.comm) != HOCKET_OK) {
    HOCKET_LOG_INFO("freeing a communicator: %s", hocket_error_text());
  }
  communicator.comm = nullptr;
  refuse(communicator, Outcome::kFreed);
}

void forget_communicator(Communicator* communicator) {
  if (communicator->begun.load(std::memory_order_acquire) != 0) return;  // close_all has it
  const std::lock_guard lock(list().mutex);
  std::erase(list().all, communicator);
  common_counters.add(communicator->counters);
  if (communicator->comm != nullptr) list().left.push_back({communicator->comm, communicator->order});
  delete communicator;
}

void close_all() {
  std::vector<Left> left;
  {
    const std::lock_guard lock(list().mutex);
    left.swap(list().left);
    for (Communicator* communicator : list().all) {
      if (communicator->comm != nullptr) left.push_back({communicator->comm, communicator->order});
      communicator->comm = nullptr;
      refuse(*communicator, Outcome::kFreed);
    }
  }
  std::sort(left.begin(), left.end(), [](const Left& a, const Left& b) { return a.order < b.order; });
  for (const Left& one : left) {
    if (hocket_comm_destroy(one.comm) != HOCKET_OK) HOCKET_LOG_INFO("closing a communicator: %s", hocket_error_text());
  }
}

CounterArray read_counters() {
  CounterArray sums{};
  const std::lock_guard lock(list().mutex);
  common_counters.read(sums);
  for (const Communicator* communicator : list().all) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += communicator->counters.values[i];
  }
  return sums;
}

}  // namespace hocket::interposer
