// SPDX-License-Identifier: BSD-3-Clause
// The questions about several requests that came with MPI 4.1. An MPI that is older is asked about one at a time: who
// refers to these functions weakly finds them here.
#include <algorithm>

#include "shim/requests/completion.h"
#include "shim/underneath/handles.h"
#include "shim/wrappers/wrappers.h"

#if HOCKET_HAS_COUNT_FUNCTIONS

using namespace hocket::interposer;

namespace {

bool may_have_own() { return has_active_calls() && !is_nested(); }

int ask_one(const MPI_Request* requests, int at, int& flag, MPI_Status* status) {
  return ask_for(requests[at], &flag, status,
                 [&] { return next_pmpi().Request_get_status(requests[at], &flag, status); });
}

int get_status_all(const CaughtFunctions& next, int count, const MPI_Request* requests, int* flag,
                   MPI_Status* statuses) {
  // MPICH says of inactive requests that not all are over.
  const bool has_own = requests != nullptr && count > 0 && !is_nested() &&
                       std::any_of(requests, requests + count, [](MPI_Request one) { return find_started(one); });
  if (next.Request_get_status_all != nullptr && !has_own)
    return next.Request_get_status_all(count, requests, flag, statuses);
  *flag = 1;
  for (int i = 0; i < count && *flag != 0; ++i) {
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    if (const int error = ask_one(requests, i, *flag, status); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

// An MPI that has no such function.
int ask_each_for_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  bool is_none = true;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == handles.request_null || find_started(requests[i]) != nullptr) continue;
    is_none = false;
    if (const int error = next_pmpi().Request_get_status(requests[i], flag, status); error != MPI_SUCCESS) return error;
    if (*flag == 0) continue;
    *index = i;
    return MPI_SUCCESS;
  }
  *index = MPI_UNDEFINED;
  *flag = is_none ? 1 : 0;
  return MPI_SUCCESS;
}

int get_status_any(const CaughtFunctions& next, int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status) {
  const auto ask_mpi = [&] {
    return next.Request_get_status_any != nullptr ? next.Request_get_status_any(count, requests, index, flag, status)
                                                  : ask_each_for_any(count, requests, index, flag, status);
  };
  if (!may_have_own()) return ask_mpi();
  if (has_under_way()) advance_started();
  const StartedAmong ours(requests, count);
  if (const StartedAmong::One* one = ours.first_over(); one != nullptr) {
    *index = one->index;
    return ask_started(*one->call, flag, status);
  }
  const int error = ask_mpi();
  // None of the MPI's is active.
  if (error == MPI_SUCCESS && *index == MPI_UNDEFINED && !ours.is_empty()) *flag = 0;
  return error;
}

int ask_each_for_some(int count, const MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  *completed = 0;
  bool is_none = true;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == handles.request_null || find_started(requests[i]) != nullptr) continue;
    is_none = false;
    int flag = 0;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*completed];
    if (const int error = next_pmpi().Request_get_status(requests[i], &flag, status); error != MPI_SUCCESS)
      return error;
    if (flag != 0) indices[(*completed)++] = i;
  }
  if (is_none) *completed = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int get_status_some(const CaughtFunctions& next, int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses) {
  const auto ask_mpi = [&] {
    return next.Request_get_status_some != nullptr
               ? next.Request_get_status_some(count, requests, completed, indices, statuses)
               : ask_each_for_some(count, requests, completed, indices, statuses);
  };
  if (!may_have_own()) return ask_mpi();
  if (has_under_way()) advance_started();
  const StartedAmong ours(requests, count);
  const int error = ask_mpi();
  if (error != MPI_SUCCESS || ours.is_empty()) return error;
  if (*completed == MPI_UNDEFINED) *completed = 0;
  for (const StartedAmong::One& one : ours.all()) {
    int flag = is_over(*one.call) ? 1 : 0;
    if (flag == 0) continue;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*completed];
    if (const int failed = ask_started(*one.call, &flag, status); failed != MPI_SUCCESS) return failed;
    indices[(*completed)++] = one.index;
  }
  return MPI_SUCCESS;
}

}  // namespace

#define HOCKET_WRAP_STATUS(name, function, parameters, ...)                                                 \
  HOCKET_EXPORT int MPI_##name parameters { return function(hocket::interposer::next_mpi(), __VA_ARGS__); } \
  HOCKET_EXPORT int PMPI_##name parameters { return function(hocket::interposer::next_pmpi(), __VA_ARGS__); }

HOCKET_WRAP_STATUS(Request_get_status_all, get_status_all,
                   (int count, const MPI_Request* requests, int* flag, MPI_Status* statuses), count, requests, flag,
                   statuses)
HOCKET_WRAP_STATUS(Request_get_status_any, get_status_any,
                   (int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status), count, requests,
                   index, flag, status)
HOCKET_WRAP_STATUS(Request_get_status_some, get_status_some,
                   (int count, const MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses), count,
                   requests, completed, indices, statuses)

#endif
