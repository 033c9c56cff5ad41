// SPDX-License-Identifier: BSD-3-Clause
// Windows that come and go: while a process has one, others may work on its memory, and depend on its looks at the MPI.
#include <climits>

#include "core/awaited_progress.h"
#include "shim/job/job.h"
#include "shim/requests/waits.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;

namespace {

template <typename PassThrough>
int come(const PassThrough& pass_through) {
  const bool is_outer = !interposer::is_nested();
  const interposer::NestedCall nested;
  const int error = interposer::wait_in_mpi(pass_through);
  if (is_outer && error == MPI_SUCCESS) interposer::awaited_progress.window_comes();
  return error;
}

template <typename PassThrough>
int go(const PassThrough& pass_through) {
  const bool is_outer = !interposer::is_nested();
  const interposer::NestedCall nested;
  const int error = interposer::wait_in_mpi(pass_through);
  if (is_outer && error == MPI_SUCCESS) interposer::awaited_progress.window_goes();
  return error;
}

}  // namespace

HOCKET_WRAP(Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
            (base, size, unit, info, comm, win), come(pass_through))
HOCKET_WRAP(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
            (size, unit, info, comm, baseptr, win), come(pass_through))
HOCKET_WRAP(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
            (size, unit, info, comm, baseptr, win), come(pass_through))
HOCKET_WRAP(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win), come(pass_through))
HOCKET_WRAP(Win_free, (MPI_Win * win), (win), go(pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
// `narrow`: the same by the function with int, for an MPI that is older than those with MPI_Aint.
#define HOCKET_WRAP_WINDOW(prefix, next, name, parameters, wide, narrow)                                \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                       \
    return come([&] {                                                                                   \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function wide; \
      return unit > INT_MAX ? MPI_ERR_DISP : interposer::next().name narrow;                            \
    });                                                                                                 \
  }
#define HOCKET_WRAP_BOTH_WINDOWS(...)             \
  HOCKET_WRAP_WINDOW(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_WINDOW(PMPI_, next_pmpi, __VA_ARGS__)

HOCKET_WRAP_BOTH_WINDOWS(Win_create,
                         (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
                         (base, size, unit, info, comm, win), (base, size, static_cast<int>(unit), info, comm, win))
HOCKET_WRAP_BOTH_WINDOWS(Win_allocate,
                         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
                         (size, unit, info, comm, baseptr, win),
                         (size, static_cast<int>(unit), info, comm, baseptr, win))
HOCKET_WRAP_BOTH_WINDOWS(Win_allocate_shared,
                         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win),
                         (size, unit, info, comm, baseptr, win),
                         (size, static_cast<int>(unit), info, comm, baseptr, win))
#endif
