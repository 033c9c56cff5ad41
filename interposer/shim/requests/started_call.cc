// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/started_call.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "c_api/internal/call.h"
#include "core/try_lock.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

using State = StartedCall::State;

// The calls by their requests' handles, open-addressed; full to a half at most. A larger one takes the place of one
// that gets full, which stays for who looks into it at the moment.
struct HandleTable {
  explicit HandleTable(size_t size) : places(size) {}
  std::vector<std::atomic<StartedCall*>> places;
  size_t used = 0;
};

struct Pool {
  TryLock lock;
  std::vector<std::unique_ptr<StartedCall>> all;
  std::vector<StartedCall*> spare;
  std::vector<std::unique_ptr<HandleTable>> tables;
  std::atomic<HandleTable*> table{nullptr};  // stored with release, loaded with acquire
  std::atomic<uint32_t> freed{0};            // under way, and the program has let them go
};

// Never destroyed: threads of the program may outlive static destruction.
Pool& pool() {
  static auto* pool = new Pool;
  return *pool;
}

size_t place_of(MPI_Request request, size_t size) {
  return static_cast<size_t>((handle_number(request) * 0x9e3779b97f4a7c15U) >> 32) & (size - 1);
}

void put(HandleTable& table, StartedCall& call) {
  const size_t size = table.places.size();
  size_t at = place_of(call.handle, size);
  while (table.places[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & (size - 1);
  table.places[at].store(&call, std::memory_order_release);
  ++table.used;
}

constexpr size_t kLeastPlaces = 64;

void make_findable(Pool& self, StartedCall& call) {
  HandleTable* table = self.table.load(std::memory_order_relaxed);
  if (table == nullptr || 2 * (table->used + 1) > table->places.size()) {
    const size_t size = table == nullptr ? kLeastPlaces : 2 * table->places.size();
    self.tables.push_back(std::make_unique<HandleTable>(size));
    HandleTable* const larger = self.tables.back().get();
    for (const std::unique_ptr<StartedCall>& one : self.all) put(*larger, *one);
    self.table.store(larger, std::memory_order_release);
    table = larger;
  }
  put(*table, call);
  const uint64_t number = handle_number(call.handle);
  if (number < internal::least_handle.load(std::memory_order_relaxed))
    internal::least_handle.store(number, std::memory_order_relaxed);
  if (number > internal::greatest_handle.load(std::memory_order_relaxed))
    internal::greatest_handle.store(number, std::memory_order_relaxed);
}

// With a request of its own.
StartedCall* make_call(Pool& self) {
  auto made = std::make_unique<StartedCall>();
  const int error =
      next_pmpi().Recv_init(nullptr, 0, handles.byte, rank_on_hidden_comm(), 0, hidden_comm(), &made->handle);
  if (error != MPI_SUCCESS) return nullptr;
  make_findable(self, *made);
  self.all.push_back(std::move(made));
  return self.all.back().get();
}

void note_failure(StartedCall& call, hocket_status_t status) {
  Communicator& communicator = *call.communicator;
  call.has_failed = true;
  if (std::exchange(communicator.failure_reported, true)) return;
  HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(call.collective), communicator.rank, communicator.size,
                   hocket_status_name(status), hocket_error_text());
}

// Of the calls on a communicator, or on any, those that the program has freed or, if `all`, all that are over. False:
// some are left.
bool settle_some(const Communicator* communicator, bool all) {
  struct Over {
    StartedCall* call;
    bool is_freed;  // and this thread gives it back
  };
  Pool& self = pool();
  std::vector<Over> over;
  bool is_any = false;
  {
    const std::lock_guard lock(self.lock);
    for (const std::unique_ptr<StartedCall>& one : self.all) {
      if (!one->has(State::kUnderWay) || (communicator != nullptr && one->communicator != communicator)) continue;
      if (!all && !one->is_freed.load(std::memory_order_acquire)) continue;
      is_any = true;
      // Of several threads that see it one only.
      if (is_over(*one)) over.push_back({one.get(), one->is_freed.exchange(false, std::memory_order_acquire)});
    }
  }
  for (const auto& [call, is_freed] : over) {
    settle(*call);
    if (!is_freed) continue;
    self.freed.fetch_sub(1, std::memory_order_relaxed);
    const bool is_persistent = call->is_persistent;
    (void)release(*call);
    if (is_persistent) free_persistent(*call);
  }
  return !is_any;
}

}  // namespace

StartedCall* internal::find(MPI_Request request) {
  const HandleTable* const table = pool().table.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  const size_t size = table->places.size();
  for (size_t at = place_of(request, size);; at = (at + 1) & (size - 1)) {
    StartedCall* const call = table->places[at].load(std::memory_order_acquire);
    if (call == nullptr || call->handle == request) return call;
  }
}

void count_outcome(const StartedCall& call, Outcome outcome) {
  if (!awaited_progress.is_shared_among_threads()) return call.communicator->counters.add(call.collective, outcome);
  static TryLock lock;
  const std::lock_guard one_at_a_time(lock);
  call.communicator->counters.add(call.collective, outcome);
}

StartedCall* take_started() {
  Pool& self = pool();
  const std::lock_guard lock(self.lock);
  if (self.spare.empty()) [[unlikely]]
    return make_call(self);
  StartedCall* const taken = self.spare.back();
  self.spare.pop_back();
  return taken;
}

void give_back(StartedCall& call) {
  call.copies.reset();
  call.set(State::kSpare);
  call.is_persistent = call.has_failed = false;
  call.is_freed.store(false, std::memory_order_relaxed);
  call.home = nullptr;
  call.mpi_error = MPI_SUCCESS;
  call.request = nullptr;
  Pool& self = pool();
  const std::lock_guard lock(self.lock);
  self.spare.push_back(&call);
}

void free_requests() {
  Pool& self = pool();
  const std::lock_guard lock(self.lock);
  for (const std::unique_ptr<StartedCall>& one : self.all) {
    if (one->is_persistent && one->request != nullptr) c_api::drop_planned(one->request);
    next_pmpi().Request_free(&one->handle);
  }
  self.table.store(nullptr, std::memory_order_release);
  self.tables.clear();
  self.spare.clear();
  self.all.clear();
  internal::active.store(0, std::memory_order_relaxed);
  internal::least_handle.store(UINT64_MAX, std::memory_order_relaxed);
  internal::greatest_handle.store(0, std::memory_order_relaxed);
}

void settle(StartedCall& call) {
  if (!call.has(State::kUnderWay)) return;
  Communicator& communicator = *call.communicator;
  const bool is_shared = awaited_progress.is_shared_among_threads();
  call.set(State::kSettled);
  const hocket_status_t status = c_api::take_result(call.request);
  if (communicator.is_closed.load(std::memory_order_relaxed)) call.comm = world_comm();
  count_outcome(call, status == HOCKET_OK ? Outcome::kCarriedOut : Outcome::kFailed);
  if (status != HOCKET_OK) {
    note_failure(call, status);
  } else if (call.copies != nullptr) [[unlikely]] {
    const int error = call.copies->unpack(call.comm);
    if (call.mpi_error == MPI_SUCCESS) call.mpi_error = error;
  }
  lower_pending(communicator, is_shared);
}

void free_persistent(StartedCall& call) {
  Communicator& communicator = *call.communicator;
  if (call.home != nullptr) {
    c_api::drop_planned(call.request);
    give_back_track(call);
  }
  give_back(call);
  // Release: nothing here uses the communicator any more; pairs with the acquire of who closes it.
  communicator.persistent.calls.fetch_sub(1, std::memory_order_release);
}

void let_go(StartedCall& call) {
  // Release: whoever sees it settles the call, and gives it back.
  call.is_freed.store(true, std::memory_order_release);
  pool().freed.fetch_add(1, std::memory_order_relaxed);
}

int release(StartedCall& call) {
  const int error = call.has_failed ? MPI_ERR_OTHER : call.mpi_error;
  if (call.is_persistent) {
    call.set(State::kInactive);
    call.has_failed = false;
    call.mpi_error = MPI_SUCCESS;
  } else {
    give_back(call);
  }
  return error;
}

void advance_started() {
  advance_under_way();
  if (pool().freed.load(std::memory_order_relaxed) != 0) [[unlikely]]
    (void)settle_some(nullptr, false);
}

void drain_started(const Communicator* communicator) {
  if (!has_active_calls()) return;
  advance_until([&] {
    advance_under_way();
    return settle_some(communicator, true);
  });
}

}  // namespace hocket::interposer
