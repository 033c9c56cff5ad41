// SPDX-License-Identifier: BSD-3-Clause
// The collectives: those with int, and where the interface has them those with MPI_Count.
#include "shim/collectives/broadcast.h"
#include "shim/collectives/movement.h"
#include "shim/collectives/reductions.h"
#include "shim/wrappers/narrow.h"
#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

HOCKET_WRAP_COLLECTIVE(Barrier, (MPI_Comm comm), (comm), serve(BarrierCall{comm}, HOCKET_CALLER, pass_through))

#define HOCKET_COUNT int
#define HOCKET_DISPLACEMENT int
#define HOCKET_COLLECTIVE(name, started, parameters, arguments, ...) \
  HOCKET_WRAP_COLLECTIVE(name, parameters, arguments, serve(__VA_ARGS__, HOCKET_CALLER, pass_through))
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT

#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_WRAP_COUNT(prefix, next, name, parameters, arguments, ...)                         \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                 \
    const auto call = __VA_ARGS__;                                                                \
    return serve(call, HOCKET_CALLER, [&] {                                                       \
      const auto function = next().name##_c;                                                      \
      return function != nullptr ? function arguments : pass_through_narrowed(next().name, call); \
    });                                                                                           \
  }

#define HOCKET_COUNT MPI_Count
#define HOCKET_DISPLACEMENT MPI_Aint
#define HOCKET_COLLECTIVE(name, started, parameters, arguments, ...)          \
  HOCKET_WRAP_COUNT(MPI_, next_mpi, name, parameters, arguments, __VA_ARGS__) \
  HOCKET_WRAP_COUNT(PMPI_, next_pmpi, name, parameters, arguments, __VA_ARGS__)
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT
#endif
