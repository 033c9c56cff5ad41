// SPDX-License-Identifier: BSD-3-Clause
#include "core/communicator.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "c_api/internal/call.h"
#include "c_api/internal/leaving.h"
#include "c_api/internal/pending.h"
#include "c_api/internal/set_up.h"
#include "core/devices/device_memory.h"
#include "core/ended_takeovers.h"
#include "core/endpoint.h"
#include "core/first_round.h"
#include "core/last_words.h"
#include "core/mpi_wait.h"
#include "core/progress/under_way.h"

namespace hocket::interposer {
namespace {

struct List {
  std::mutex mutex;
  std::vector<Communicator*> all;
  std::deque<hocket_comm_t*> leaving;  // what peers may still use
  hocket_comm_t* kept = nullptr;       // to the end
};

// Never destroyed: threads of the program may outlive static destruction.
List& list() {
  static auto* list = new List;
  return *list;
}

// Looked at by each call that closes a communicator: more than it adds, so that the list gets short again, and few, as
// peers may keep it long.
constexpr size_t kLooksPerClose = 4;

// Of those that others are done with nothing is left. The list is not locked meanwhile, as the wire may be asked: the
// MPI calls forget_communicator() with locks of its own.
void collect(size_t looks) {
  List& self = list();
  for (; looks != 0; --looks) {
    hocket_comm_t* comm = nullptr;
    {
      const std::lock_guard lock(self.mutex);
      if (self.leaving.empty()) return;
      comm = self.leaving.front();
      self.leaving.pop_front();
    }
    if (!c_api::has_left(comm)) {
      const std::lock_guard lock(self.mutex);
      self.leaving.push_back(comm);
    } else if (hocket_comm_destroy(comm) != HOCKET_OK) {
      HOCKET_LOG_INFO("closing a communicator: %s", hocket_error_text());
    }
  }
}

bool is_kept(hocket_comm_t* comm) {
  const std::lock_guard lock(list().mutex);
  return comm == list().kept;
}

// From a Communicator or a PersistentHome, which another thread may just be moving, though its calls are over.
template <typename One>
hocket_comm_t* take_comm(One& one) {
  const std::lock_guard lock(one.lock);
  return std::exchange(one.comm, nullptr);
}

// The list is locked.
void leave_comm(List& self, hocket_comm_t* comm) {
  if (c_api::leave(comm) == HOCKET_OK)
    self.leaving.push_back(comm);
  else
    HOCKET_LOG_INFO("closing a communicator: %s", hocket_error_text());
}

// The same.
template <typename One>
void leave_one(List& self, One& one) {
  hocket_comm_t* const comm = take_comm(one);
  if (comm != nullptr && comm != self.kept) leave_comm(self, comm);
}

// For good. True: all ranks have taken over, and the communicator is there.
bool end_takeover(Communicator& communicator) {
  std::unique_ptr<c_api::Takeover>& takeover = communicator.counting.takeover;
  if (takeover == nullptr) return false;
  const bool has_taken_over = takeover->leave();
  if (has_taken_over) communicator.comm = c_api::take(*takeover);
  keep_takeover(std::move(takeover));
  return has_taken_over;
}

void leave(List& self, Communicator& communicator) {
  (void)end_takeover(communicator);
  leave_one(self, communicator);
  for_each_home(communicator, [&](PersistentHome& home) { leave_one(self, home); });
}

// Whether calls are under way on it, or may be started again. Acquire: pairs with the release of the thread that lowers
// the numbers last (Communicator::pending).
bool is_in_use(const Communicator& communicator) {
  return communicator.pending.load(std::memory_order_acquire) != 0 ||
         communicator.persistent.calls.load(std::memory_order_acquire) != 0;
}

// The list is locked. Those whose non-blocking calls were not over when the MPI freed them.
void forget_gone(List& self) {
  std::erase_if(self.all, [&](Communicator* one) {
    if (!one->is_gone || is_in_use(*one)) return false;
    stop_watching(*one);
    common_counters.add(one->counters);
    leave(self, *one);
    delete one;
    return true;
  });
}

// A rank without a context: its peers learn of it.
void decline(Communicator& self, FirstRound& round) {
  const std::vector<std::byte> nothing(c_api::first_message_bytes());
  std::vector<std::byte> all(nothing.size() * self.size);
  (void)FirstRound::allgather(nothing.data(), all.data(), nothing.size(), &round);
}

// What fails once mostly fails for every communicator.
log::Level level_after(std::atomic<bool>& reported) {  // relaxed: orders nothing
  return reported.exchange(true, std::memory_order_relaxed) ? log::Level::kInfo : log::Level::kWarn;
}

void report_failed_set_up(int size) {
  static std::atomic<bool> reported{false};
  HOCKET_LOG_AT(level_after(reported), "a communicator of %d ranks could not be set up and is left to the MPI: %s",
                size, hocket_error_text());
}

// Which memory a rank passes is known on that rank alone, and an MPI may not be able to take a device's: where there
// may be devices, nothing is left to it unasked.
std::unique_ptr<const c_api::ByMpi> left_to_mpi(const hocket_comm_t* comm, bool may_have_devices) {
  c_api::ByMpi found = c_api::left_to_mpi(comm, may_have_devices);
  return found.any() ? std::make_unique<const c_api::ByMpi>(std::move(found)) : nullptr;
}

// `may_move`: all ranks may move calls, those of engines, too: beyond what engines take at a time they wait here, and
// are then to be started.
Begins who_begins(const hocket_comm_t* comm, bool may_move) {
  if (!may_move) return Begins::kNowhere;
  if (c_api::may_run_by_engines(comm)) return Begins::kByEngines;
  return c_api::may_run_in_memory(comm) ? Begins::kByRanks : Begins::kNowhere;
}

void become_ready(Communicator& self, bool may_have_devices, bool may_move) {
  const bool is_on_trial = self.trial.agreed == device::DeviceOffer::kEither;
  self.phase = is_on_trial ? Phase::kOnTrial : Phase::kReady;
  self.begins = is_on_trial ? Begins::kNowhere : who_begins(self.comm, may_move);
  self.by_mpi = {left_to_mpi(self.comm, may_have_devices), left_to_mpi(self.comm, true)};
}

// A forced choice that can't be honoured is an error of every call; whatever else can't be had is left to the MPI.
void set_up(Communicator& self, const Exchange& exchange) {
  // Messages between nodes go by ranks of one job.
  hocket_context_t* context = self.counting.is_of_several_jobs && has_wire() ? nullptr : endpoint();
  FirstRound round(self, exchange, context != nullptr);
  self.trial.agreed = device::DeviceOffer::kStage;
  hocket_status_t status = HOCKET_ERR_SYSTEM;
  if (context == nullptr) {
    decline(self, round);
  } else {
    const hocket_bootstrap_t bootstrap{self.rank, self.size, FirstRound::allgather, &round};
    status = hocket_comm_create(context, &bootstrap, &self.comm);
  }
  if (status == HOCKET_OK) return become_ready(self, round.may_have_devices(), round.may_move());
  self.comm = nullptr;
  if (self.trial.agreed == device::DeviceOffer::kPassThrough) return refuse(self, Outcome::kDeviceMemory);
  if (self.counting.is_of_several_jobs && round.is_declined() && self.rank == 0) {
    static std::atomic<bool> reported{false};
    HOCKET_LOG_AT(level_after(reported), "a communicator of %d ranks of several jobs is left to the MPI: %s", self.size,
                  round.do_settings_differ() ? "their settings differ"
                                             : "one of the jobs spans nodes, or a rank could not prepare itself");
  }
  if (round.is_declined()) return refuse(self, Outcome::kSetUpFailed);
  if (status == HOCKET_ERR_NOT_SUPPORTED && has_wire()) {
    HOCKET_LOG_INFO("a communicator of %d ranks is left to the MPI: %s", self.size, hocket_error_text());
    return refuse(self, Outcome::kNoTags);
  }
  if (status == HOCKET_ERR_INVALID_ARGUMENT) {
    if (self.rank == 0) {
      HOCKET_LOG_ERROR("a communicator of %d ranks: %s", self.size, hocket_error_text());
      let_last_words_out();
    }
    self.failure_reported = true;
    // The error ends the job, as a rule: no rank raises it before it is written.
    const uint8_t mine = 0;
    std::vector<uint8_t> all(self.size);
    (void)exchange.allgather(&mine, all.data(), sizeof mine, exchange.user);
    return refuse(self, Outcome::kFailed);
  }
  if (self.rank == 0) report_failed_set_up(self.size);
  refuse(self, Outcome::kSetUpFailed);
}

// Where all ranks have taken over; of those, only ranks without devices have started it.
bool take_over(Communicator& self) {
  if (!end_takeover(self)) return false;
  self.trial.agreed = device::DeviceOffer::kStage;
  become_ready(self, false, may_move_calls());
  HOCKET_LOG_DEBUG("a communicator of %d ranks takes over", self.size);
  return true;
}

// A call that waits for nobody: whether the communicator carries it out.
bool take_next(Communicator& self, const Exchange& exchange) {
  Counting& counting = self.counting;
  if (counting.is_takeover_ruled_out) return false;
  if (counting.takeover == nullptr) {
    collect_takeovers(kLooksPerClose);
    if (exchange.begin_takeover != nullptr)
      counting.takeover = exchange.begin_takeover(exchange.calls_before_takeover, exchange.user);
    counting.is_takeover_ruled_out = counting.takeover == nullptr;
    if (counting.is_takeover_ruled_out) return false;
  }
  return counting.takeover->take_next() && take_over(self);
}

// A call in which all wait for each other.
void become_ready_in_waiting(Communicator& self, const Exchange& exchange) {
  if (self.counting.takeover != nullptr) (void)self.counting.takeover->settle();
  if (!take_over(self)) set_up(self, exchange);
}

}  // namespace

Communicator::~Communicator() {
  for (auto& place : persistent.homes) {
    PersistentHome* const home = place.load(std::memory_order_relaxed);
    if (home != nullptr) (void)hocket_neighbourhood_destroy(home->neighbourhood);
    delete home;
  }
  if (neighbourhood != nullptr) (void)hocket_neighbourhood_destroy(neighbourhood->handle);
  platform::forget_communicator(noted);
}

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

Outcome prepare(Communicator& communicator, int64_t setup_calls, bool waits_for_all, const Exchange& exchange) {
  if (communicator.phase == Phase::kAlone) return Outcome::kSingleRank;
  if (communicator.phase == Phase::kCounting) {
    if (!waits_for_all && count_on_the_way(communicator, setup_calls, exchange.calls_before_takeover))
      return Outcome::kNotSetUp;
    if (++communicator.counting.calls < setup_calls) return Outcome::kNotSetUp;
    if (waits_for_all)
      become_ready_in_waiting(communicator, exchange);
    else if (!take_next(communicator, exchange))
      return Outcome::kNotSetUp;
  }
  if (communicator.phase == Phase::kOnTrial) {
    if (!communicator.trial.has_failed(communicator.comm, waits_for_all)) return Outcome::kCarriedOut;
    refuse(communicator, Outcome::kDeviceMemory);
  }
  return communicator.phase == Phase::kRefused ? communicator.refusal : Outcome::kCarriedOut;
}

void keep_to_the_end(hocket_comm_t* comm) {
  const std::lock_guard lock(list().mutex);
  list().kept = comm;
}

void close_communicator(Communicator& communicator) {
  {
    const std::lock_guard lock(list().mutex);
    forget_gone(list());
    // Calls that are under way need it: it leaves when they are over.
    if (!is_in_use(communicator)) leave(list(), communicator);
    refuse(communicator, Outcome::kFreed);
  }
  collect(kLooksPerClose);
  collect_takeovers(kLooksPerClose);
}

void close_with_peers(Communicator& communicator) {
  const auto close = [](auto& one) {
    hocket_comm_t* const comm = take_comm(one);
    if (comm != nullptr && !is_kept(comm) && hocket_comm_destroy(comm) != HOCKET_OK)
      HOCKET_LOG_INFO("freeing a communicator: %s", hocket_error_text());
  };
  (void)end_takeover(communicator);
  close(communicator);
  if (communicator.persistent.calls.load(std::memory_order_acquire) == 0)
    for_each_home(communicator, [&](PersistentHome& home) { close(home); });
  refuse(communicator, Outcome::kFreed);
}

void forget_communicator(Communicator* communicator) {
  const std::lock_guard lock(list().mutex);
  communicator->is_gone = true;
  forget_gone(list());
}

void close_all(void (*progress_mpi)()) {
  {
    const std::lock_guard lock(list().mutex);
    forget_gone(list());
    for (Communicator* communicator : list().all) (void)end_takeover(*communicator);
    drop_takeovers();
    for (Communicator* communicator : list().all) {
      leave(list(), *communicator);
      refuse(*communicator, Outcome::kFreed);
    }
    hocket_comm_t* const kept = std::exchange(list().kept, nullptr);
    if (kept != nullptr) leave_comm(list(), kept);
  }
  ScopedPause wait;
  for (size_t left = list().leaving.size(); left != 0; left = list().leaving.size()) {
    collect(left);
    progress_mpi();
    wait.pause();
  }
}

CounterArray read_counters() {
  CounterArray sums{};
  const std::lock_guard lock(list().mutex);
  common_counters.read(sums);
  for (const Communicator* communicator : list().all) communicator->counters.add_to(sums);
  return sums;
}

}  // namespace hocket::interposer
