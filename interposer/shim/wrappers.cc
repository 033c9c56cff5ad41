// SPDX-License-Identifier: BSD-3-Clause
// What this library shows to the program: each function under its MPI_ and its PMPI_ name, because Fortran and other
// tools enter by either. A call is handed on under the name under which it came in.
#include <climits>

#include "core/endpoint.h"
#include "shim/collectives.h"
#include "shim/handles.h"
#include "shim/memory.h"

namespace interposer = hocket::interposer;
using interposer::Collective;
using interposer::next_mpi;
using interposer::next_pmpi;

#define HOCKET_EXPORT extern "C" __attribute__((visibility("default")))

// `body` is one expression that may use hand_on, a function object that passes the call on.
#define HOCKET_WRAP(name, parameters, arguments, body)               \
  HOCKET_EXPORT int MPI_##name parameters {                          \
    const auto hand_on = [&] { return next_mpi().name arguments; };  \
    return body;                                                     \
  }                                                                  \
  HOCKET_EXPORT int PMPI_##name parameters {                         \
    const auto hand_on = [&] { return next_pmpi().name arguments; }; \
    return body;                                                     \
  }

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

template <typename HandOn>
int free_communicator(MPI_Comm* comm, const HandOn& hand_on) {
  if (interposer::mode() == interposer::Mode::kServing && !interposer::is_nested() && comm != nullptr) {
    interposer::close_before_free(*comm);
  }
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
HOCKET_WRAP(Comm_free, (MPI_Comm * comm), (comm), free_communicator(comm, hand_on))
HOCKET_WRAP(Comm_disconnect, (MPI_Comm * comm), (comm), free_communicator(comm, hand_on))
HOCKET_WRAP(Alloc_mem, (MPI_Aint size, MPI_Info info, void* baseptr), (size, info, baseptr),
            allocate(size, info, baseptr, hand_on))
HOCKET_WRAP(Free_mem, (void* base), (base), release(base, hand_on))

HOCKET_WRAP(Win_test, (MPI_Win win, int* flag), (win, flag), test_window(flag, hand_on))

HOCKET_WRAP(Barrier, (MPI_Comm comm), (comm), interposer::barrier(comm, hand_on))
HOCKET_WRAP(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
            (buffer, count, type, root, comm), interposer::broadcast(buffer, count, type, root, comm, hand_on))
HOCKET_WRAP(Reduce, (const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
            (input, output, count, type, op, root, comm),
            interposer::reduce({Collective::kReduce, input, output, count, type, op, root, comm}, hand_on))
HOCKET_WRAP(Allreduce, (const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (input, output, count, type, op, comm),
            interposer::reduce({Collective::kAllreduce, input, output, count, type, op, 0, comm}, hand_on))

#if HOCKET_HAS_COUNT_FUNCTIONS
// A program may refer to these weakly and then find ours although its MPI has none: then the count must be small.
#define HOCKET_WRAP_COUNT(name, parameters, arguments, small_arguments, body)                                       \
  HOCKET_EXPORT int MPI_##name##_c parameters {                                                                     \
    const auto hand_on = [&] {                                                                                      \
      if (next_mpi().name##_c == nullptr) return is_small(count) ? next_mpi().name small_arguments : MPI_ERR_COUNT; \
      return next_mpi().name##_c arguments;                                                                         \
    };                                                                                                              \
    return body;                                                                                                    \
  }                                                                                                                 \
  HOCKET_EXPORT int PMPI_##name##_c parameters {                                                                    \
    const auto hand_on = [&] {                                                                                      \
      if (next_pmpi().name##_c == nullptr) {                                                                        \
        return is_small(count) ? next_pmpi().name small_arguments : MPI_ERR_COUNT;                                  \
      }                                                                                                             \
      return next_pmpi().name##_c arguments;                                                                        \
    };                                                                                                              \
    return body;                                                                                                    \
  }

static bool is_small(MPI_Count count) { return count <= INT_MAX; }

HOCKET_WRAP_COUNT(Bcast, (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm),
                  (buffer, count, type, root, comm), (buffer, static_cast<int>(count), type, root, comm),
                  interposer::broadcast(buffer, count, type, root, comm, hand_on))
HOCKET_WRAP_COUNT(
    Reduce, (const void* input, void* output, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
    (input, output, count, type, op, root, comm), (input, output, static_cast<int>(count), type, op, root, comm),
    interposer::reduce({Collective::kReduce, input, output, count, type, op, root, comm}, hand_on))
HOCKET_WRAP_COUNT(Allreduce,
                  (const void* input, void* output, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                  (input, output, count, type, op, comm), (input, output, static_cast<int>(count), type, op, comm),
                  interposer::reduce({Collective::kAllreduce, input, output, count, type, op, 0, comm}, hand_on))
#endif
