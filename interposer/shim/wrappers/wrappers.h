// SPDX-License-Identifier: BSD-3-Clause
// What this library shows to the program: each function under its MPI_ and its PMPI_ name, because Fortran and other
// tools enter by either. A call is passed through under the name under which it came in.
//
// Thread safety: of each function as MPI has it.
#pragma once

#include "shim/job/traced.h"
#include "shim/job/whereabouts.h"
#include "shim/underneath/next.h"

#define HOCKET_EXPORT extern "C" __attribute__((visibility("default")))

// In a body: the address to which the function returns, which tells where in the program it was called.
#define HOCKET_CALLER __builtin_return_address(0)

// `body` is one expression that may use pass_through, a function object that passes the call on, and pass_on, the same
// where the MPI has been found.
// Parameters, or arguments, in brackets, and what comes behind them.
#define HOCKET_BEHIND(list, ...) (HOCKET_UNPACKED list, __VA_ARGS__)

// `in`: what the thread's record says meanwhile.
#define HOCKET_WRAP_IN(in, name, parameters, arguments, body)                                              \
  HOCKET_EXPORT int MPI_##name parameters {                                                                \
    const auto pass_through = [&] { return hocket::interposer::next_mpi().name arguments; };               \
    [[maybe_unused]] const auto pass_on = [&] { return hocket::interposer::found_mpi().name arguments; };  \
    in;                                                                                                    \
    return body;                                                                                           \
  }                                                                                                        \
  HOCKET_EXPORT int PMPI_##name parameters {                                                               \
    const auto pass_through = [&] { return hocket::interposer::next_pmpi().name arguments; };              \
    [[maybe_unused]] const auto pass_on = [&] { return hocket::interposer::found_pmpi().name arguments; }; \
    in;                                                                                                    \
    return body;                                                                                           \
  }
#define HOCKET_IN(name)                                                                                         \
  const hocket::interposer::InFunction in_function(hocket::interposer::other_stamp(),                           \
                                                   hocket::interposer::number_of_other(HOCKET_FUNCTION(name))); \
  const hocket::interposer::TracedFunction traced_function("MPI_" #name)
#define HOCKET_IN_MESSAGE(name, peer, tag, comm)                                                                    \
  const hocket::interposer::InMessage in_function(hocket::interposer::number_of_other(HOCKET_FUNCTION(name)), peer, \
                                                  tag, comm);                                                       \
  const hocket::interposer::TracedFunction traced_function("MPI_" #name, peer, tag)

#define HOCKET_WRAP(name, parameters, arguments, body) \
  HOCKET_WRAP_IN(HOCKET_IN(name), name, parameters, arguments, body)
// Of a message to or from a peer.
#define HOCKET_WRAP_PEER(name, peer, tag, parameters, arguments, body) \
  HOCKET_WRAP_IN(HOCKET_IN_MESSAGE(name, peer, tag, comm), name, parameters, arguments, body)
// serve() and its like write what the thread is in.
#define HOCKET_WRAP_COLLECTIVE(name, parameters, arguments, body) \
  HOCKET_WRAP_IN(static_cast<void>(0), name, parameters, arguments, body)
