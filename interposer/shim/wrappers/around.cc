// SPDX-License-Identifier: BSD-3-Clause
// The functions around the collectives: beginning and end, communicators that go, memory.
#include "shim/wrappers/wrappers.h"

#include "core/mpi_wait.h"
#include "shim/communicators/communicators.h"
#include "shim/job/job.h"
#include "shim/lifetime/closing.h"
#include "shim/lifetime/lifetime.h"
#include "shim/lifetime/memory.h"
#include "shim/lifetime/sessions.h"

namespace interposer = hocket::interposer;

namespace {

template <typename PassThrough>
int start(const PassThrough& pass_through) {
  if (interposer::is_nested()) return pass_through();
  if (interposer::has_started_job()) {
    const int error = [&] {
      const interposer::NestedCall nested;
      return pass_through();
    }();
    if (error == MPI_SUCCESS) interposer::init_joins();
    return error;
  }
  interposer::prepare_job();
  const int error = [&] {
    const interposer::NestedCall nested;
    return pass_through();
  }();
  interposer::withdraw_settings();
  if (error == MPI_SUCCESS) interposer::begin_job();
  return error;
}

template <typename PassThrough>
int finalize(const PassThrough& pass_through) {
  if (!interposer::is_nested() && interposer::has_started_job()) {
    if (interposer::is_job_of_sessions())
      interposer::init_leaves();
    else if (interposer::mode() != interposer::Mode::kAsleep)
      interposer::end_job();
  }
  const interposer::NestedCall nested;
  return pass_through();
}

// `close(handle)`: hocket's side of it.
template <typename Close, typename PassThrough>
int end_communicator(const MPI_Comm* comm, const Close& close, const PassThrough& pass_through) {
  if (interposer::mode() == interposer::Mode::kServing && !interposer::is_nested() && comm != nullptr) close(*comm);
  return pass_through();
}

template <typename PassThrough>
int give_name(MPI_Comm comm, const char* name, const PassThrough& pass_through) {
  const int error = pass_through();
  if (error == MPI_SUCCESS && interposer::mode() == interposer::Mode::kServing && !interposer::is_nested())
    interposer::rename_communicator(comm, name);
  return error;
}

template <typename PassThrough>
int allocate(MPI_Aint size, MPI_Info info, void* baseptr, const PassThrough& pass_through) {
  return interposer::allocate_memory(size, info, baseptr) ? MPI_SUCCESS : pass_through();
}

template <typename PassThrough>
int release(void* base, const PassThrough& pass_through) {
  return interposer::free_memory(base) ? MPI_SUCCESS : pass_through();
}

// MPICH looks first and moves its messages afterwards. After its own barrier they have moved, after ours they have
// not: so a program that knows the epoch to be over hears it from the second look.
template <typename PassThrough>
int test_window(const int* flag, const PassThrough& pass_through) {
  const int error = pass_through();
  if (error != MPI_SUCCESS || flag == nullptr || interposer::mode() != interposer::Mode::kServing) return error;
  const int again = *flag == 0 ? pass_through() : error;
  interposer::after_test(*flag != 0);
  return again;
}

}  // namespace

HOCKET_WRAP(Init, (int* argc, char*** argv), (argc, argv), start(pass_through))
HOCKET_WRAP(Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required, provided),
            start(pass_through))
HOCKET_WRAP(Finalize, (void), (), finalize(pass_through))
HOCKET_WRAP(Comm_free, (MPI_Comm * comm), (comm), end_communicator(comm, interposer::close_before_free, pass_through))
HOCKET_WRAP(Comm_disconnect, (MPI_Comm * comm), (comm),
            end_communicator(comm, interposer::close_before_disconnect, pass_through))
HOCKET_WRAP(Comm_set_name, (MPI_Comm comm, const char* name), (comm, name), give_name(comm, name, pass_through))
HOCKET_WRAP(Alloc_mem, (MPI_Aint size, MPI_Info info, void* baseptr), (size, info, baseptr),
            allocate(size, info, baseptr, pass_through))
HOCKET_WRAP(Free_mem, (void* base), (base), release(base, pass_through))

HOCKET_WRAP(Win_test, (MPI_Win win, int* flag), (win, flag), test_window(flag, pass_through))
