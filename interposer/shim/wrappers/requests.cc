// SPDX-License-Identifier: BSD-3-Clause
// Whatever a program may do with requests.
#include "shim/requests/completion.h"
#include "shim/wrappers/wrappers.h"

using namespace hocket::interposer;

HOCKET_WRAP(Wait, (MPI_Request * request, MPI_Status* status), (request, status),
            wait_for(OneRequest{request, status}, HOCKET_CALLER, pass_through))
HOCKET_WRAP(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses),
            wait_for(AllRequests{count, requests, statuses}, HOCKET_CALLER, pass_through))
HOCKET_WRAP(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status),
            (count, requests, index, status),
            wait_for(AnyRequest{count, requests, index, status}, HOCKET_CALLER, pass_through))
HOCKET_WRAP(Waitsome, (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
            (count, requests, completed, indices, statuses),
            wait_for(SomeRequests{count, requests, completed, indices, statuses}, HOCKET_CALLER, pass_through))

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
            ask_for(request, flag, status, pass_through))
HOCKET_WRAP(Request_free, (MPI_Request * request), (request), free_for(request, pass_through))
HOCKET_WRAP(Start, (MPI_Request * request), (request), start_for(request, pass_through))
HOCKET_WRAP(Startall, (int count, MPI_Request* requests), (count, requests),
            start_all_for(count, requests, pass_through,
                          [](MPI_Request* request) { return next_pmpi().Start(request); }))
