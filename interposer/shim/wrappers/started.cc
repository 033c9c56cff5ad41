// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent collectives.
#include "shim/requests/start.h"
#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

HOCKET_WRAP_COLLECTIVE(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request),
                       begin(BarrierCall{comm}, request, HOCKET_CALLER, pass_through))
HOCKET_WRAP_COLLECTIVE(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request* request), (comm, info, request),
                       initialise(BarrierCall{comm}, request, HOCKET_CALLER, pass_through))

#define HOCKET_WRAP_FORMS(name, started, initialised, parameters, arguments, ...)                                     \
  HOCKET_WRAP_COLLECTIVE(started, HOCKET_BEHIND(parameters, MPI_Request* request), HOCKET_BEHIND(arguments, request), \
                         begin(__VA_ARGS__, request, HOCKET_CALLER, pass_through))                                    \
  HOCKET_WRAP_COLLECTIVE(initialised, HOCKET_BEHIND(parameters, MPI_Info info, MPI_Request* request),                 \
                         HOCKET_BEHIND(arguments, info, request),                                                     \
                         initialise(__VA_ARGS__, request, HOCKET_CALLER, pass_through))

#define HOCKET_COUNT int
#define HOCKET_DISPLACEMENT int
#define HOCKET_COLLECTIVE(name, started, ...) HOCKET_WRAP_FORMS(name, started, name##_init, __VA_ARGS__)
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT

#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_COUNT MPI_Count
#define HOCKET_DISPLACEMENT MPI_Aint
#define HOCKET_COLLECTIVE(name, started, ...) HOCKET_WRAP_FORMS(name, started##_c, name##_init_c, __VA_ARGS__)
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT
#endif
