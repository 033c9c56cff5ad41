// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/pending.h"

#include <algorithm>
#include <mutex>

#include "base/log.h"
#include "c_api/internal/pending.h"
#include "core/endpoint.h"
#include "core/try_lock.h"
#include "shim/buffers/device_transfer.h"
#include "shim/buffers/packing.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

struct Lists {
  TryLock lock;
  std::list<PendingCall> running;
  std::list<PendingCall> over;  // the MPI knows; each goes with its request
};

// Never destroyed: threads of the program may outlive static destruction.
Lists& lists() {
  static auto* lists = new Lists;
  return *lists;
}

thread_local FailureWatch* watch __attribute__((tls_model("initial-exec"))) = nullptr;

// --- what the MPI calls ----------------------------------------------------------------------------------------------

int fill_status(void*, MPI_Status* status) {
  next_pmpi().Status_set_elements(status, handles.byte, 0);
  next_pmpi().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return MPI_SUCCESS;
}

// In the thread that completes the request. The MPI has ordered this behind Grequest_complete().
int free_request(void* state) {
  auto* pending = static_cast<PendingCall*>(state);
  if (pending->has_failed) {
    if (watch != nullptr && !pending->is_freed) watch->note({pending->handle, pending->comm.load()});
    internal::pending.fetch_sub(1, std::memory_order_relaxed);
  }
  // Release: nothing here uses the call any more; pairs with the acquire in remove_gone(), which deletes it.
  pending->is_gone.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

// Acquire: see free_request().
void remove_gone(Lists& all) {
  all.over.remove_if([](const PendingCall& one) { return one.is_gone.load(std::memory_order_acquire); });
}

// Collectives can't be cancelled.
int refuse_to_cancel(void*, int) { return MPI_ERR_REQUEST; }

// --- when one is over ------------------------------------------------------------------------------------------------

// The communicator of one call after another, locked, and its calls moved on.
class HeldLock {
 public:
  HeldLock() = default;
  ~HeldLock() { let_go(); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // False: another thread has it.
  bool take(Communicator& wanted) {
    if (communicator_ == &wanted) return may_end_;
    let_go();
    communicator_ = &wanted;
    is_held_ = wanted.lock.try_lock();
    if (is_held_) c_api::advance(wanted.comm);
    may_end_ = is_held_ || BesidePending::is_in(wanted);  // then that call has moved them
    return may_end_;
  }
  void one_is_over() { ++over_; }

 private:
  void let_go() {
    if (communicator_ != nullptr && is_held_) communicator_->lock.unlock();
    // Release: see Communicator::pending.
    if (over_ != 0) communicator_->pending.fetch_sub(over_, std::memory_order_release);
    communicator_ = nullptr;
    over_ = 0;
  }

  Communicator* communicator_ = nullptr;
  bool is_held_ = false;
  bool may_end_ = false;
  uint32_t over_ = 0;
};

void note_failure(PendingCall& pending, hocket_status_t status) {
  Communicator& communicator = *pending.communicator;
  pending.has_failed = true;
  communicator.counters.add(pending.collective, Outcome::kFailed);
  if (std::exchange(communicator.failure_reported, true)) return;
  HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(pending.collective), communicator.rank, communicator.size,
                   hocket_status_name(status), hocket_error_text());
}

void put_in_place(const PendingCall& pending) {
  const Unpacking& packed = *pending.packed;
  if (packed.goes_as_it_is) (void)copy_to_device(packed.bytes.data(), packed.buffer, packed.bytes.size(), pending.comm);
  if (!packed.has_type) return;
  TypeFacts facts;
  facts.size = packed.bytes.size();
  facts.true_lb = packed.true_lb;
  (void)unpack(packed.bytes.data(), {packed.buffer, 1, packed.type, &facts}, pending.comm);
}

// From one list to the other. Of one that the program has freed the handle goes to `freed`.
void end(Lists& all, std::list<PendingCall>::iterator at, std::vector<MPI_Request>& freed) {
  PendingCall& pending = *at;
  const hocket_status_t status = hocket_test(&pending.request);
  if (status != HOCKET_OK) {
    note_failure(pending, status);
  } else {
    if (pending.packed != nullptr) put_in_place(pending);
    pending.communicator->counters.add(pending.collective, Outcome::kCarriedOut);
    internal::pending.fetch_sub(1, std::memory_order_relaxed);
  }
  pending.packed.reset();
  all.over.splice(all.over.end(), all.running, at);
  if (!pending.has_handle) {
    (void)free_request(&pending);
    return;
  }
  const MPI_Request handle = pending.handle;
  if (pending.is_freed) freed.push_back(handle);
  next_pmpi().Grequest_complete(handle);
}

bool runs_one_of(const Communicator* communicator) {
  Lists& all = lists();
  const std::lock_guard lock(all.lock);
  return std::any_of(all.running.begin(), all.running.end(), [&](const PendingCall& one) {
    return communicator == nullptr || one.communicator == communicator;
  });
}

}  // namespace

Unpacking::~Unpacking() {
  if (has_type) next_pmpi().Type_free(&type);
}

int take_into_list(std::list<PendingCall>& one, MPI_Request* request) {
  PendingCall& pending = one.front();
  const int error = next_pmpi().Grequest_start(fill_status, free_request, refuse_to_cancel, &pending, request);
  pending.has_handle = error == MPI_SUCCESS;
  if (pending.has_handle) pending.handle = *request;
  Lists& all = lists();
  internal::pending.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(all.lock);
  remove_gone(all);
  all.running.splice(all.running.end(), one);
  return error;
}

void advance_pending() {
  Lists& all = lists();
  if (!has_pending() || !all.lock.try_lock()) return;
  remove_gone(all);
  std::vector<MPI_Request> freed;
  {
    HeldLock held;
    for (auto at = all.running.begin(); at != all.running.end();) {
      const auto next = std::next(at);
      if (held.take(*at->communicator) && c_api::is_over(at->request)) {
        end(all, at, freed);
        held.one_is_over();
      }
      at = next;
    }
  }
  all.lock.unlock();
  for (MPI_Request& handle : freed) next_pmpi().Request_free(&handle);
}

void drain_pending(const Communicator* communicator) {
  if (!has_pending()) return;
  c_api::Backoff backoff(endpoint());
  for (;;) {
    advance_pending();
    if (!runs_one_of(communicator)) return;
    backoff.pause();
  }
}

void orphan_pending(const Communicator& communicator) {
  Lists& all = lists();
  const std::lock_guard lock(all.lock);
  for (std::list<PendingCall>* one_list : {&all.running, &all.over})
    for (PendingCall& one : *one_list)
      if (one.communicator == &communicator) one.comm = handles.comm_world;
}

bool free_pending(MPI_Request* request) {
  Lists& all = lists();
  const std::lock_guard lock(all.lock);
  const auto found = std::find_if(all.running.begin(), all.running.end(), [&](const PendingCall& one) {
    return one.has_handle && !one.is_freed && one.handle == *request;
  });
  if (found == all.running.end()) return false;
  found->is_freed = true;
  *request = handles.request_null;
  return true;
}

FailureWatch::FailureWatch() : outer_(std::exchange(watch, this)) {}
FailureWatch::~FailureWatch() { watch = outer_; }

}  // namespace hocket::interposer
