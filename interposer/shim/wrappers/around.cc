// SPDX-License-Identifier: BSD-3-Clause
// The functions around the collectives: beginning and end, communicators that go, memory.
#include "shim/wrappers/wrappers.h"

#include "shim/job/job.h"
#include "shim/lifetime/closing.h"
#include "shim/lifetime/lifetime.h"
#include "shim/lifetime/memory.h"

namespace interposer = hocket::interposer;

namespace {

template <typename HandOn>
int start(const HandOn& hand_on) {
  if (interposer::is_nested()) return hand_on();
  const int error = [&] {
    const interposer::NestedCall nested;
    return hand_on();
  }();
  if (error == MPI_SUCCESS) interposer::begin_job();
  return error;
}

template <typename HandOn>
int finalize(const HandOn& hand_on) {
  if (interposer::mode() != interposer::Mode::kAsleep && !interposer::is_nested()) interposer::end_job();
  const interposer::NestedCall nested;
  return hand_on();
}

// `close(handle)`: hocket's side of it.
template <typename Close, typename HandOn>
int end_communicator(const MPI_Comm* comm, const Close& close, const HandOn& hand_on) {
  if (interposer::mode() == interposer::Mode::kServing && !interposer::is_nested() && comm != nullptr) close(*comm);
  return hand_on();
}

template <typename HandOn>
int allocate(MPI_Aint size, MPI_Info info, void* baseptr, const HandOn& hand_on) {
  return interposer::allocate_memory(size, info, baseptr) ? MPI_SUCCESS : hand_on();
}

template <typename HandOn>
int release(void* base, const HandOn& hand_on) {
  return interposer::free_memory(base) ? MPI_SUCCESS : hand_on();
}

// MPICH looks first and moves its messages afterwards. After its own barrier they have moved, after ours they have
// not: so a program that knows the epoch to be over hears it from the second look.
template <typename HandOn>
int test_window(const int* flag, const HandOn& hand_on) {
  const int error = hand_on();
  const bool again = error == MPI_SUCCESS && flag != nullptr && *flag == 0;
  return again && interposer::mode() == interposer::Mode::kServing ? hand_on() : error;
}

}  // namespace

HOCKET_WRAP(Init, (int* argc, char*** argv), (argc, argv), start(hand_on))
HOCKET_WRAP(Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required, provided),
            start(hand_on))
HOCKET_WRAP(Finalize, (void), (), finalize(hand_on))
HOCKET_WRAP(Comm_free, (MPI_Comm * comm), (comm), end_communicator(comm, interposer::close_before_free, hand_on))
HOCKET_WRAP(Comm_disconnect, (MPI_Comm * comm), (comm),
            end_communicator(comm, interposer::close_before_disconnect, hand_on))
HOCKET_WRAP(Alloc_mem, (MPI_Aint size, MPI_Info info, void* baseptr), (size, info, baseptr),
            allocate(size, info, baseptr, hand_on))
HOCKET_WRAP(Free_mem, (void* base), (base), release(base, hand_on))

HOCKET_WRAP(Win_test, (MPI_Win win, int* flag), (win, flag), test_window(flag, hand_on))
