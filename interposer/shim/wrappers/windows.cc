// SPDX-License-Identifier: BSD-3-Clause
// Windows that come and go: while a process has one, others may work on its memory, and depend on its looks at the MPI.
// What memory the MPI gives them stays what it is, and they stay the MPI's own; hocket is told where it lies.
#include <climits>
#include <cstring>

#include "core/awaited_progress.h"
#include "core/endpoint.h"
#include "shim/job/job.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handle_map.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;

namespace {

template <typename PassThrough>
int come(const MPI_Win* win, const PassThrough& pass_through) {
  const bool is_outer = !interposer::is_nested();
  interposer::ring_waiting();
  const interposer::NestedCall nested;
  const int error = interposer::wait_in_mpi(pass_through);
  if (is_outer && error == MPI_SUCCESS) {
    interposer::awaited_progress.window_comes();
    interposer::note_window(*win);
  }
  return error;
}

// Peers may have the memory mapped: on a node MPIs make it so.
bool may_be_common(MPI_Comm comm) {
  int size = 1;
  return interposer::mode() == interposer::Mode::kServing && !interposer::is_nested() &&
         interposer::next_pmpi().Comm_size(comm, &size) == MPI_SUCCESS && size > 1;
}

template <typename PassThrough>
int come_with_memory(MPI_Aint size, MPI_Comm comm, const void* baseptr, const MPI_Win* win,
                     const PassThrough& pass_through) {
  const int error = come(win, pass_through);
  if (error != MPI_SUCCESS || size <= 0 || !may_be_common(comm)) return error;
  void* base = nullptr;
  std::memcpy(&base, baseptr, sizeof base);
  interposer::window_comes(interposer::handle_bits(*win), base, static_cast<size_t>(size));
  return error;
}

// A rank without a part of its own uses that of others.
template <typename PassThrough>
int come_shared(MPI_Aint size, MPI_Aint unit, MPI_Comm comm, const void* baseptr, const MPI_Win* win,
                const PassThrough& pass_through) {
  const int error = come_with_memory(size, comm, baseptr, win, pass_through);
  if (error != MPI_SUCCESS || size != 0 || unit > INT_MAX || !may_be_common(comm)) return error;
  MPI_Aint first_size = 0;
  int first_unit = 0;
  void* first = nullptr;
  const interposer::NestedCall nested;
  if (interposer::next_pmpi().Win_shared_query(*win, MPI_PROC_NULL, &first_size, &first_unit, &first) == MPI_SUCCESS &&
      first_size > 0)
    interposer::window_comes(interposer::handle_bits(*win), first, static_cast<size_t>(first_size));
  return error;
}

// All ranks come to this before the memory goes.
template <typename PassThrough>
int go(const MPI_Win* win, const PassThrough& pass_through) {
  const bool is_outer = !interposer::is_nested();
  const bool may_be_known = is_outer && win != nullptr && interposer::mode() != interposer::Mode::kAsleep;
  const uint64_t number = may_be_known ? interposer::window_closes(interposer::handle_bits(*win)) : 0;
  if (is_outer && win != nullptr) interposer::forget_window(*win);
  interposer::ring_waiting();
  const interposer::NestedCall nested;
  const int error = interposer::wait_in_mpi(pass_through);
  if (is_outer && error == MPI_SUCCESS) interposer::awaited_progress.window_goes();
  if (may_be_known) interposer::window_closed(number, error == MPI_SUCCESS);
  return error;
}

}  // namespace

HOCKET_WRAP(Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
            (base, size, unit, info, comm, win), come(win, pass_through))
HOCKET_WRAP(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
            (size, unit, info, comm, baseptr, win), come_with_memory(size, comm, baseptr, win, pass_through))
HOCKET_WRAP(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
            (size, unit, info, comm, baseptr, win), come_shared(size, unit, comm, baseptr, win, pass_through))
HOCKET_WRAP(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win),
            come(win, pass_through))
HOCKET_WRAP(Win_free, (MPI_Win * win), (win), go(win, pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
// `narrow`: the same by the function with int, for an MPI that is older than those with MPI_Aint.
#define HOCKET_WRAP_WINDOW(prefix, next, name, parameters, wide, narrow, ...)                           \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                       \
    const auto pass_through = [&] {                                                                     \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function wide; \
      return unit > INT_MAX ? MPI_ERR_DISP : interposer::next().name narrow;                            \
    };                                                                                                  \
    return __VA_ARGS__;                                                                                 \
  }
#define HOCKET_WRAP_BOTH_WINDOWS(...)             \
  HOCKET_WRAP_WINDOW(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_WINDOW(PMPI_, next_pmpi, __VA_ARGS__)

HOCKET_WRAP_BOTH_WINDOWS(Win_create,
                         (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
                         (base, size, unit, info, comm, win), (base, size, static_cast<int>(unit), info, comm, win),
                         come(win, pass_through))
HOCKET_WRAP_BOTH_WINDOWS(Win_allocate,
                         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
                         (size, unit, info, comm, baseptr, win),
                         (size, static_cast<int>(unit), info, comm, baseptr, win),
                         come_with_memory(size, comm, baseptr, win, pass_through))
HOCKET_WRAP_BOTH_WINDOWS(Win_allocate_shared,
                         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
                         (size, unit, info, comm, baseptr, win),
                         (size, static_cast<int>(unit), info, comm, baseptr, win),
                         come_shared(size, unit, comm, baseptr, win, pass_through))
#endif
