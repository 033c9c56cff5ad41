// SPDX-License-Identifier: BSD-3-Clause
// The questions about several requests that came with MPI 4.1. An MPI that is older is asked about one at a time: who
// refers to these functions weakly finds them here.
#include <vector>

#include "shim/requests/completion.h"
#include "shim/underneath/handles.h"
#include "shim/wrappers/wrappers.h"

#if HOCKET_HAS_COUNT_FUNCTIONS

using namespace hocket::interposer;

namespace {

// Then they are asked one by one.
bool may_hold_started() { return holds_started() && !is_nested(); }

int ask_one(const MPI_Request* requests, int at, int& flag, MPI_Status* status) {
  return ask_for(requests[at], &flag, status,
                 [&] { return next_pmpi().Request_get_status(requests[at], &flag, status); });
}

int get_status_all(const CaughtFunctions& next, int count, const MPI_Request* requests, int* flag,
                   MPI_Status* statuses) {
  if (next.Request_get_status_all != nullptr && !may_hold_started())
    return next.Request_get_status_all(count, requests, flag, statuses);
  *flag = 1;
  for (int i = 0; i < count && *flag != 0; ++i) {
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    if (const int error = ask_one(requests, i, *flag, status); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

// hocket's among the requests, of which inactive ones count as little as null ones, and the others.
class Asked {
 public:
  Asked(int count, const MPI_Request* requests) : rest_(requests, requests + count) {
    if (has_under_way()) advance_started();
    for (int i = 0; i < count; ++i) {
      MPI_Request& request = rest_[static_cast<size_t>(i)];
      StartedCall* const call = request == handles.request_null ? nullptr : find_started(request);
      if (call == nullptr) continue;
      request = handles.request_null;
      if (!call->has(StartedCall::State::kInactive)) ours_.push_back({i, call});
    }
  }
  struct One {
    int index;
    StartedCall* call;
  };
  const std::vector<One>& ours() const { return ours_; }
  const MPI_Request* rest() const { return rest_.data(); }

 private:
  std::vector<MPI_Request> rest_;
  std::vector<One> ours_;
};

// An MPI that has no such function.
int ask_each_for_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  bool is_none = true;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == handles.request_null) continue;
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
  const auto ask_mpi = [&](const MPI_Request* those) {
    return next.Request_get_status_any != nullptr ? next.Request_get_status_any(count, those, index, flag, status)
                                                  : ask_each_for_any(count, those, index, flag, status);
  };
  if (!may_hold_started() || requests == nullptr || count <= 0) return ask_mpi(requests);
  const Asked asked(count, requests);
  for (const Asked::One& one : asked.ours()) {
    if (!is_over(*one.call)) continue;
    *index = one.index;
    return ask_started(*one.call, flag, status);
  }
  const int error = ask_mpi(asked.rest());
  // None of the MPI's is active.
  if (error == MPI_SUCCESS && *index == MPI_UNDEFINED && !asked.ours().empty()) *flag = 0;
  return error;
}

int ask_each_for_some(int count, const MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  *completed = 0;
  bool is_none = true;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == handles.request_null) continue;
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
  const auto ask_mpi = [&](const MPI_Request* those) {
    return next.Request_get_status_some != nullptr
               ? next.Request_get_status_some(count, those, completed, indices, statuses)
               : ask_each_for_some(count, those, completed, indices, statuses);
  };
  if (!may_hold_started() || requests == nullptr || count <= 0) return ask_mpi(requests);
  const Asked asked(count, requests);
  const int error = ask_mpi(asked.rest());
  if (error != MPI_SUCCESS || asked.ours().empty()) return error;
  if (*completed == MPI_UNDEFINED) *completed = 0;
  for (const Asked::One& one : asked.ours()) {
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
