// SPDX-License-Identifier: BSD-3-Clause
// Calls that are the MPI's, caught for the way in which a rank waits in them.
#include <climits>

#include "shim/communicators/lineage.h"
#include "shim/requests/waits.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;
using interposer::next_pmpi;

#define HOCKET_MPI_WAITS(name, parameters, arguments) \
  HOCKET_WRAP(name, parameters, arguments, (interposer::ring_waiting(), interposer::wait_in_mpi(pass_through, pass_on)))
#define HOCKET_MPI_ACCESSES(name, parameters, arguments) \
  HOCKET_WRAP(name, parameters, arguments,               \
              (interposer::ring_window(window, rank), interposer::wait_in_mpi(pass_through, pass_on)))
#define HOCKET_MPI_MAKES(name, parameters, arguments)                                      \
  HOCKET_WRAP(name, parameters, arguments, interposer::make_communicator(comm, made, [&] { \
                interposer::ring_waiting();                                                \
                return interposer::wait_in_mpi(pass_through, pass_on);                     \
              }))
#include "shim/underneath/waits.def"

// What waits by tests gets copies of the arguments, so that calls which pass to the MPI can keep them in registers.
#define HOCKET_START(call) [=](MPI_Request* request) { return next_pmpi().call; }
#define HOCKET_MESSAGE(peer, call, status) \
  interposer::wait_for_peer(               \
      peer, true, [&] { return interposer::wait_for_message(HOCKET_START(call), status); }, pass_through, pass_on)
#define HOCKET_EXCHANGE(from, receive, send, status)                                                                \
  interposer::wait_for_peer(                                                                                        \
      from, true, [&] { return interposer::wait_for_exchange(HOCKET_START(receive), HOCKET_START(send), status); }, \
      pass_through, pass_on)
#define HOCKET_PROBE(from, call)                                                                            \
  interposer::wait_for_peer(                                                                                \
      from, false, [&] { return interposer::wait_for_probe([=](int* flag) { return next_pmpi().call; }); }, \
      pass_through, pass_on)

#define HOCKET_WRAP_WAITING_SEND(name, started)                                                                       \
  HOCKET_WRAP_PEER(name, to, tag, (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
                   (buffer, count, type, to, tag, comm),                                                              \
                   (interposer::ring_peer(to, comm),                                                                  \
                    HOCKET_MESSAGE(to, started(buffer, count, type, to, tag, comm, request), MPI_STATUS_IGNORE)))
HOCKET_WRAP_WAITING_SEND(Send, Isend)
HOCKET_WRAP_WAITING_SEND(Ssend, Issend)
HOCKET_WRAP_WAITING_SEND(Rsend, Irsend)
HOCKET_WRAP_PEER(Recv, from, tag,
                 (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
                 (buffer, count, type, from, tag, comm, status),
                 (interposer::ring_peer(from, comm),
                  HOCKET_MESSAGE(from, Irecv(buffer, count, type, from, tag, comm, request), status)))
HOCKET_WRAP(Mrecv, (void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),
            (buffer, count, type, message, status),
            HOCKET_MESSAGE(MPI_ANY_SOURCE, Imrecv(buffer, count, type, message, request), status))
HOCKET_WRAP_PEER(Sendrecv, from, received_tag,
                 (const void* input, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* output, int received,
                  MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status),
                 (input, sent, sent_type, to, sent_tag, output, received, received_type, from, received_tag, comm,
                  status),
                 (interposer::ring_peer(to, comm),
                  HOCKET_EXCHANGE(from, Irecv(output, received, received_type, from, received_tag, comm, request),
                                  Isend(input, sent, sent_type, to, sent_tag, comm, request), status)))
HOCKET_WRAP_PEER(Probe, from, tag, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status),
                 HOCKET_PROBE(from, Iprobe(from, tag, comm, flag, status)))
HOCKET_WRAP_PEER(Mprobe, from, tag, (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
                 (from, tag, comm, message, status),
                 HOCKET_PROBE(from, Improbe(from, tag, comm, flag, message, status)))

// Their record would take as long as the rest of the call.
HOCKET_WRAP_IN(static_cast<void>(0), Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
               (from, tag, comm, flag, status), interposer::probe_once(flag, pass_through))
HOCKET_WRAP_IN(static_cast<void>(0), Improbe,
               (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
               (from, tag, comm, flag, message, status), interposer::probe_once(flag, pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
HOCKET_WRAP_IN(static_cast<void>(0), Parrived, (MPI_Request request, int partition, int* flag),
               (request, partition, flag), interposer::probe_once(flag, pass_through))

// `narrow`: the same by the function with int, for an MPI that is older than those with MPI_Count; `started` goes to
// the non-blocking form, which came with the other.
#define HOCKET_WRAP_LONG_WAIT(prefix, next, in, name, parameters, wide, is_long, narrow, how)           \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                       \
    const auto pass_through = [&] {                                                                     \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function wide; \
      return (is_long) ? MPI_ERR_COUNT : interposer::next().name narrow;                                \
    };                                                                                                  \
    const auto& pass_on = pass_through;                                                                 \
    in(name##_c);                                                                                       \
    if (next_pmpi().name##_c == nullptr) return interposer::wait_in_mpi(pass_through);                  \
    return how;                                                                                         \
  }
#define HOCKET_IN_SEND(name) HOCKET_IN_MESSAGE(name, to, tag, comm)
#define HOCKET_IN_RECEIVE(name) HOCKET_IN_MESSAGE(name, from, tag, comm)
#define HOCKET_IN_EXCHANGE(name) HOCKET_IN_MESSAGE(name, from, received_tag, comm)
#define HOCKET_WRAP_BOTH_LONG_WAITS(...)             \
  HOCKET_WRAP_LONG_WAIT(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_LONG_WAIT(PMPI_, next_pmpi, __VA_ARGS__)

#define HOCKET_WRAP_LONG_WAITING_SEND(name, started)                                                                  \
  HOCKET_WRAP_BOTH_LONG_WAITS(                                                                                        \
      HOCKET_IN_SEND, name, (const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
      (buffer, count, type, to, tag, comm), count > INT_MAX, (buffer, static_cast<int>(count), type, to, tag, comm),  \
      (interposer::ring_peer(to, comm),                                                                               \
       HOCKET_MESSAGE(to, started##_c(buffer, count, type, to, tag, comm, request), MPI_STATUS_IGNORE)))
HOCKET_WRAP_LONG_WAITING_SEND(Send, Isend)
HOCKET_WRAP_LONG_WAITING_SEND(Ssend, Issend)
HOCKET_WRAP_LONG_WAITING_SEND(Rsend, Irsend)
HOCKET_WRAP_BOTH_LONG_WAITS(HOCKET_IN_RECEIVE, Recv,
                            (void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                             MPI_Status* status),
                            (buffer, count, type, from, tag, comm, status), count > INT_MAX,
                            (buffer, static_cast<int>(count), type, from, tag, comm, status),
                            (interposer::ring_peer(from, comm),
                             HOCKET_MESSAGE(from, Irecv_c(buffer, count, type, from, tag, comm, request), status)))
HOCKET_WRAP_BOTH_LONG_WAITS(
    HOCKET_IN, Mrecv, (void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),
    (buffer, count, type, message, status), count > INT_MAX, (buffer, static_cast<int>(count), type, message, status),
    HOCKET_MESSAGE(MPI_ANY_SOURCE, Imrecv_c(buffer, count, type, message, request), status))
HOCKET_WRAP_BOTH_LONG_WAITS(
    HOCKET_IN_EXCHANGE, Sendrecv,
    (const void* input, MPI_Count sent, MPI_Datatype sent_type, int to, int sent_tag, void* output, MPI_Count received,
     MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status),
    (input, sent, sent_type, to, sent_tag, output, received, received_type, from, received_tag, comm, status),
    sent > INT_MAX || received > INT_MAX,
    (input, static_cast<int>(sent), sent_type, to, sent_tag, output, static_cast<int>(received), received_type, from,
     received_tag, comm, status),
    (interposer::ring_peer(to, comm),
     HOCKET_EXCHANGE(from, Irecv_c(output, received, received_type, from, received_tag, comm, request),
                     Isend_c(input, sent, sent_type, to, sent_tag, comm, request), status)))
#endif
