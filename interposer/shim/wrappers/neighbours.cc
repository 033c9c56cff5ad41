// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours, blocking, non-blocking and persistent.
#include "shim/requests/neighbours.h"

#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

#define HOCKET_WRAP_AMONG_NEIGHBOURS(blocking, started, initialised, parameters, arguments, ...)                       \
  HOCKET_WRAP_COLLECTIVE(                                                                                              \
      blocking, parameters, arguments,                                                                                 \
      serve_neighbours(__VA_ARGS__, NeighbourForm::kBlocking, nullptr, HOCKET_CALLER, pass_through))                   \
  HOCKET_WRAP_COLLECTIVE(started, HOCKET_BEHIND(parameters, MPI_Request* request), HOCKET_BEHIND(arguments, request),  \
                         serve_neighbours(__VA_ARGS__, NeighbourForm::kStarted, request, HOCKET_CALLER, pass_through)) \
  HOCKET_WRAP_COLLECTIVE(                                                                                              \
      initialised, HOCKET_BEHIND(parameters, MPI_Info info, MPI_Request* request),                                     \
      HOCKET_BEHIND(arguments, info, request),                                                                         \
      serve_neighbours(__VA_ARGS__, NeighbourForm::kPersistent, request, HOCKET_CALLER, pass_through))

#define HOCKET_COUNT int
#define HOCKET_DISPLACEMENT int
#define HOCKET_COLLECTIVE(name, started, ...) HOCKET_WRAP_AMONG_NEIGHBOURS(name, started, name##_init, __VA_ARGS__)
#include "shim/underneath/neighbours.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT

#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_COUNT MPI_Count
#define HOCKET_DISPLACEMENT MPI_Aint
#define HOCKET_COLLECTIVE(name, started, ...) \
  HOCKET_WRAP_AMONG_NEIGHBOURS(name##_c, started##_c, name##_init_c, __VA_ARGS__)
#include "shim/underneath/neighbours.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT
#endif
