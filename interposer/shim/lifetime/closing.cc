// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/closing.h"

#include "shim/communicators/communicators.h"
#include "shim/requests/started_call.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

// nullptr: it is none of those that hocket knows and the MPI frees.
Communicator* one_that_goes(MPI_Comm handle) {
  if (handle == handles.comm_null || handle == handles.comm_world || handle == handles.comm_self) return nullptr;
  return known_communicator(handle);
}

}  // namespace

void close_before_free(MPI_Comm handle) {
  Communicator* communicator = one_that_goes(handle);
  if (communicator == nullptr) return;
  // Relaxed: who still waits for calls on it is synchronised with this thread by the program.
  communicator->is_closed.store(true, std::memory_order_relaxed);
  close_communicator(*communicator);
}

void close_before_disconnect(MPI_Comm handle) {
  Communicator* communicator = one_that_goes(handle);
  if (communicator == nullptr) return;
  drain_started(communicator);
  communicator->is_closed.store(true, std::memory_order_relaxed);
  close_with_peers(*communicator);
}

}  // namespace hocket::interposer
