// SPDX-License-Identifier: BSD-3-Clause
// What this library shows to the program: each function under its MPI_ and its PMPI_ name, because Fortran and other
// tools enter by either. A call is passed through under the name under which it came in.
//
// Thread safety: of each function as MPI has it.
#pragma once

#include "shim/underneath/next.h"

#define HOCKET_EXPORT extern "C" __attribute__((visibility("default")))

// In a body: the address to which the function returns, which tells where in the program it was called.
#define HOCKET_CALLER __builtin_return_address(0)

// `body` is one expression that may use pass_through, a function object that passes the call on, and pass_on, the same
// where the MPI has been found.
// Parameters, or arguments, in brackets, and what comes behind them.
#define HOCKET_BEHIND(list, ...) (HOCKET_UNPACKED list, __VA_ARGS__)

#define HOCKET_WRAP(name, parameters, arguments, body)                                                     \
  HOCKET_EXPORT int MPI_##name parameters {                                                                \
    const auto pass_through = [&] { return hocket::interposer::next_mpi().name arguments; };               \
    [[maybe_unused]] const auto pass_on = [&] { return hocket::interposer::found_mpi().name arguments; };  \
    return body;                                                                                           \
  }                                                                                                        \
  HOCKET_EXPORT int PMPI_##name parameters {                                                               \
    const auto pass_through = [&] { return hocket::interposer::next_pmpi().name arguments; };              \
    [[maybe_unused]] const auto pass_on = [&] { return hocket::interposer::found_pmpi().name arguments; }; \
    return body;                                                                                           \
  }
