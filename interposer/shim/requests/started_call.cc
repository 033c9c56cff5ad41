// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/started_call.h"

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "core/endpoint.h"
#include "core/try_lock.h"
#include "shim/job/job.h"
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
  uint64_t bits = 0;
  static_assert(sizeof request <= sizeof bits);
  std::memcpy(&bits, &request, sizeof request);
  return static_cast<size_t>((bits * 0x9e3779b97f4a7c15U) >> 32) & (size - 1);
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
}

// With a request of its own.
StartedCall* make_call(Pool& self) {
  auto made = std::make_unique<StartedCall>();
  const int error =
      next_pmpi().Recv_init(nullptr, 0, handles.byte, MPI_PROC_NULL, 0, hidden_comm(), &made->handle);
  if (error != MPI_SUCCESS) return nullptr;
  make_findable(self, *made);
  self.all.push_back(std::move(made));
  return self.all.back().get();
}

void note_failure(StartedCall& call, hocket_status_t status) {
  Communicator& communicator = *call.communicator;
  call.has_failed = true;
  communicator.counters.add(call.collective, Outcome::kFailed);
  if (std::exchange(communicator.failure_reported, true)) return;
  HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(call.collective), communicator.rank, communicator.size,
                   hocket_status_name(status), hocket_error_text());
}

// The communicator's, of the calls that the program has freed or, if `all`, of all that are over. False: some are left.
bool settle_some(Communicator& communicator, bool all) {
  for (;;) {
    StartedCall* found = nullptr;
    bool is_any = false;
    {
      const std::lock_guard lock(communicator.started_lock);
      for (StartedCall* one = communicator.started; one != nullptr && found == nullptr; one = one->next) {
        if (!all && !one->is_freed) continue;
        is_any = true;
        if (is_over(*one)) found = one;
      }
    }
    if (found == nullptr) return !is_any;
    settle(*found);
    if (!found->is_freed) continue;
    pool().freed.fetch_sub(1, std::memory_order_relaxed);
    (void)release(*found);
  }
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

StartedCall* take_started() {
  Pool& self = pool();
  StartedCall* taken = nullptr;
  {
    const std::lock_guard lock(self.lock);
    if (!self.spare.empty()) [[likely]] {
      taken = self.spare.back();
      self.spare.pop_back();
    } else {
      taken = make_call(self);
    }
  }
  if (taken != nullptr) internal::held.fetch_add(1, std::memory_order_relaxed);
  return taken;
}

void give_back(StartedCall& call) {
  call.copies.reset();
  call.state = State::kSpare;
  call.is_persistent = call.is_freed = call.has_failed = false;
  call.home = nullptr;
  call.mpi_error = MPI_SUCCESS;
  call.request = nullptr;
  internal::held.fetch_sub(1, std::memory_order_relaxed);
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
  internal::held.store(0, std::memory_order_relaxed);
}

void internal::enlist(StartedCall& call) {
  const std::lock_guard lock(call.communicator->started_lock);
  StartedCall*& first = call.communicator->started;
  call.state = State::kUnderWay;
  call.previous = nullptr;
  call.next = first;
  if (first != nullptr) first->previous = &call;
  first = &call;
}

namespace {

// False: it has been settled.
bool take_result(StartedCall& call) {
  Communicator& communicator = *call.communicator;
  const std::lock_guard lock(communicator.started_lock);
  if (call.state != State::kUnderWay) return false;
  call.state = State::kSettled;
  (call.previous != nullptr ? call.previous->next : communicator.started) = call.next;
  if (call.next != nullptr) call.next->previous = call.previous;
  const hocket_status_t status = c_api::take_result(call.request);
  if (status != HOCKET_OK)
    note_failure(call, status);
  else
    communicator.counters.add(call.collective, Outcome::kCarriedOut);
  return true;
}

}  // namespace

void settle(StartedCall& call) {
  if (call.state != State::kUnderWay || !take_result(call)) return;
  Communicator& communicator = *call.communicator;
  if (communicator.is_closed.load(std::memory_order_relaxed)) call.comm = handles.comm_world;
  if (!call.has_failed && call.copies != nullptr) [[unlikely]] {
    const int error = call.copies->unpack(call.comm);
    if (call.mpi_error == MPI_SUCCESS) call.mpi_error = error;
  }
  // Release: nothing here uses the communicator any more (Communicator::pending).
  communicator.pending.fetch_sub(1, std::memory_order_release);
}

void let_go(StartedCall& call) {
  call.is_freed = true;
  pool().freed.fetch_add(1, std::memory_order_relaxed);
}

int release(StartedCall& call) {
  const int error = call.has_failed ? MPI_ERR_OTHER : call.mpi_error;
  if (call.is_persistent) {
    call.state = State::kInactive;
    call.has_failed = false;
    call.mpi_error = MPI_SUCCESS;
  } else {
    give_back(call);
  }
  return error;
}

void advance_started() {
  advance_under_way();
  if (pool().freed.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  std::vector<Communicator*> with_calls;
  const auto collect = [](Communicator& communicator, void* user) {
    static_cast<std::vector<Communicator*>*>(user)->push_back(&communicator);
    return true;
  };
  visit_watched(collect, &with_calls);
  for (Communicator* communicator : with_calls) (void)settle_some(*communicator, false);
}

void drain_started(Communicator& communicator) {
  if (communicator.pending.load(std::memory_order_acquire) == 0) return;
  c_api::Backoff backoff(endpoint());
  for (;;) {
    advance_calls_of(communicator);
    if (settle_some(communicator, true)) return;
    backoff.pause();
  }
}

void drain_all_started() {
  std::vector<Communicator*> with_calls;
  visit_watched(
      [](Communicator& communicator, void* user) {
        static_cast<std::vector<Communicator*>*>(user)->push_back(&communicator);
        return true;
      },
      &with_calls);
  for (Communicator* communicator : with_calls) drain_started(*communicator);
}

}  // namespace hocket::interposer
