// SPDX-License-Identifier: BSD-3-Clause
// Calls that are the MPI's, caught for the way in which a rank waits in them.
#include <climits>

#include "shim/requests/waits.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;
using interposer::next_pmpi;

#define HOCKET_MPI_WAITS(name, parameters, arguments) \
  HOCKET_WRAP(name, parameters, arguments, interposer::wait_in_mpi(pass_through))
#include "shim/underneath/waits.def"

#define HOCKET_START(call) [&](MPI_Request* request) { return next_pmpi().call; }

#define HOCKET_WRAP_WAITING_SEND(name, started)                                                                   \
  HOCKET_WRAP(name, (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),           \
              (buffer, count, type, to, tag, comm),                                                               \
              interposer::send_or_receive(to, HOCKET_START(started(buffer, count, type, to, tag, comm, request)), \
                                          MPI_STATUS_IGNORE, pass_through))
HOCKET_WRAP_WAITING_SEND(Send, Isend)
HOCKET_WRAP_WAITING_SEND(Ssend, Issend)
HOCKET_WRAP_WAITING_SEND(Rsend, Irsend)
HOCKET_WRAP(Recv, (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
            (buffer, count, type, from, tag, comm, status),
            interposer::send_or_receive(from, HOCKET_START(Irecv(buffer, count, type, from, tag, comm, request)),
                                        status, pass_through))
HOCKET_WRAP(Mrecv, (void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),
            (buffer, count, type, message, status),
            interposer::send_or_receive(MPI_ANY_SOURCE, HOCKET_START(Imrecv(buffer, count, type, message, request)),
                                        status, pass_through))
HOCKET_WRAP(Sendrecv,
            (const void* input, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* output, int received,
             MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status),
            (input, sent, sent_type, to, sent_tag, output, received, received_type, from, received_tag, comm, status),
            interposer::send_and_receive(
                from, HOCKET_START(Irecv(output, received, received_type, from, received_tag, comm, request)),
                HOCKET_START(Isend(input, sent, sent_type, to, sent_tag, comm, request)), status, pass_through))
HOCKET_WRAP(
    Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status),
    interposer::probe(from, [&](int* flag) { return next_pmpi().Iprobe(from, tag, comm, flag, status); }, pass_through))
HOCKET_WRAP(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
            (from, tag, comm, message, status),
            interposer::probe(
                from, [&](int* flag) { return next_pmpi().Improbe(from, tag, comm, flag, message, status); },
                pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
// `narrow`: the same by the function with int, for an MPI that is older than those with MPI_Count; `started` goes to
// the non-blocking form, which came with the other.
#define HOCKET_WRAP_LONG_WAIT(prefix, next, name, parameters, wide, is_long, narrow, how)               \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                       \
    const auto pass_through = [&] {                                                                     \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function wide; \
      return (is_long) ? MPI_ERR_COUNT : interposer::next().name narrow;                                \
    };                                                                                                  \
    if (next_pmpi().name##_c == nullptr) return interposer::wait_in_mpi(pass_through);                  \
    return how;                                                                                         \
  }
#define HOCKET_WRAP_BOTH_LONG_WAITS(...)             \
  HOCKET_WRAP_LONG_WAIT(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_LONG_WAIT(PMPI_, next_pmpi, __VA_ARGS__)

#define HOCKET_WRAP_LONG_WAITING_SEND(name, started)                                                                 \
  HOCKET_WRAP_BOTH_LONG_WAITS(                                                                                       \
      name, (const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm),                \
      (buffer, count, type, to, tag, comm), count > INT_MAX, (buffer, static_cast<int>(count), type, to, tag, comm), \
      interposer::send_or_receive(to, HOCKET_START(started##_c(buffer, count, type, to, tag, comm, request)),        \
                                  MPI_STATUS_IGNORE, pass_through))
HOCKET_WRAP_LONG_WAITING_SEND(Send, Isend)
HOCKET_WRAP_LONG_WAITING_SEND(Ssend, Issend)
HOCKET_WRAP_LONG_WAITING_SEND(Rsend, Irsend)
HOCKET_WRAP_BOTH_LONG_WAITS(
    Recv, (void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
    (buffer, count, type, from, tag, comm, status), count > INT_MAX,
    (buffer, static_cast<int>(count), type, from, tag, comm, status),
    interposer::send_or_receive(from, HOCKET_START(Irecv_c(buffer, count, type, from, tag, comm, request)), status,
                                pass_through))
HOCKET_WRAP_BOTH_LONG_WAITS(
    Mrecv, (void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),
    (buffer, count, type, message, status), count > INT_MAX, (buffer, static_cast<int>(count), type, message, status),
    interposer::send_or_receive(MPI_ANY_SOURCE, HOCKET_START(Imrecv_c(buffer, count, type, message, request)), status,
                                pass_through))
HOCKET_WRAP_BOTH_LONG_WAITS(
    Sendrecv,
    (const void* input, MPI_Count sent, MPI_Datatype sent_type, int to, int sent_tag, void* output, MPI_Count received,
     MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status),
    (input, sent, sent_type, to, sent_tag, output, received, received_type, from, received_tag, comm, status),
    sent > INT_MAX || received > INT_MAX,
    (input, static_cast<int>(sent), sent_type, to, sent_tag, output, static_cast<int>(received), received_type, from,
     received_tag, comm, status),
    interposer::send_and_receive(
        from, HOCKET_START(Irecv_c(output, received, received_type, from, received_tag, comm, request)),
        HOCKET_START(Isend_c(input, sent, sent_type, to, sent_tag, comm, request)), status, pass_through))
#endif
