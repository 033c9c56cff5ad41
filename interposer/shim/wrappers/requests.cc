// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives that NIC engines carry out, and whatever a program may ask about requests.
#include <climits>

#include "shim/requests/completion.h"
#include "shim/requests/start.h"
#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

HOCKET_WRAP(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request),
            begin(BarrierCall{comm}, Collective::kIbarrier, request, pass_through))
HOCKET_WRAP(Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
            (buffer, count, type, root, comm, request),
            begin(BroadcastCall{buffer, count, type, root, comm}, Collective::kIbroadcast, request, pass_through))
HOCKET_WRAP(Ireduce,
            (const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
             MPI_Request* request),
            (input, output, count, type, op, root, comm, request),
            begin(ReduceCall{Collective::kReduce, input, output, count, type, op, root, {}, comm}, Collective::kIreduce,
                  request, pass_through))
HOCKET_WRAP(Iallreduce,
            (const void* input, void* output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
             MPI_Request* request),
            (input, output, count, type, op, comm, request),
            begin(ReduceCall{Collective::kAllreduce, input, output, count, type, op, 0, {}, comm},
                  Collective::kIallreduce, request, pass_through))

#if HOCKET_HAS_COUNT_FUNCTIONS
// `narrowed`: the same by the function with int, for an MPI that is older than those with MPI_Count.
#define HOCKET_WRAP_WIDE(prefix, next, name, parameters, arguments, narrowed, collective, ...)   \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                \
    return begin(__VA_ARGS__, collective, request, [&] {                                         \
      if (const auto function = next().name##_c; function != nullptr) return function arguments; \
      return count > INT_MAX ? MPI_ERR_COUNT : next().name narrowed;                             \
    });                                                                                          \
  }
#define HOCKET_WRAP_BOTH_WIDE(...)              \
  HOCKET_WRAP_WIDE(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_WIDE(PMPI_, next_pmpi, __VA_ARGS__)

HOCKET_WRAP_BOTH_WIDE(Ibcast,
                      (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
                      (buffer, count, type, root, comm, request),
                      (buffer, static_cast<int>(count), type, root, comm, request), Collective::kIbroadcast,
                      BroadcastCall{buffer, count, type, root, comm})
HOCKET_WRAP_BOTH_WIDE(Ireduce,
                      (const void* input, void* output, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm, MPI_Request* request),
                      (input, output, count, type, op, root, comm, request),
                      (input, output, static_cast<int>(count), type, op, root, comm, request), Collective::kIreduce,
                      ReduceCall{Collective::kReduce, input, output, count, type, op, root, {}, comm})
HOCKET_WRAP_BOTH_WIDE(Iallreduce,
                      (const void* input, void* output, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Request* request),
                      (input, output, count, type, op, comm, request),
                      (input, output, static_cast<int>(count), type, op, comm, request), Collective::kIallreduce,
                      ReduceCall{Collective::kAllreduce, input, output, count, type, op, 0, {}, comm})
#endif

HOCKET_WRAP(Wait, (MPI_Request * request, MPI_Status* status), (request, status),
            wait_for(OneRequest{request, status}, pass_through))
HOCKET_WRAP(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses),
            wait_for(AllRequests{count, requests, statuses}, pass_through))
HOCKET_WRAP(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status),
            (count, requests, index, status), wait_for(AnyRequest{count, requests, index, status}, pass_through))
HOCKET_WRAP(Waitsome, (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
            (count, requests, completed, indices, statuses),
            wait_for(SomeRequests{count, requests, completed, indices, statuses}, pass_through))

HOCKET_WRAP(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status),
            test_for(OneRequest{request, status}, flag, pass_through))
HOCKET_WRAP(Testall, (int count, MPI_Request* requests, int* flag, MPI_Status* statuses),
            (count, requests, flag, statuses), test_for(AllRequests{count, requests, statuses}, flag, pass_through))
HOCKET_WRAP(Testany, (int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status),
            (count, requests, index, flag, status),
            test_for(AnyRequest{count, requests, index, status}, flag, pass_through))
HOCKET_WRAP(Testsome, (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
            (count, requests, completed, indices, statuses),
            test_for(SomeRequests{count, requests, completed, indices, statuses}, nullptr, pass_through))
HOCKET_WRAP(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status),
            after_advancing(pass_through))
HOCKET_WRAP(Request_free, (MPI_Request * request), (request), free_for(request, pass_through))
