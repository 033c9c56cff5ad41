// SPDX-License-Identifier: BSD-3-Clause
// Waiting and testing while non-blocking calls of hocket's are under way: among the MPI's own requests there may be
// some that only hocket moves. Each look moves both.
//
// The four kinds of completion below have these members: `count` and `requests`, look(), which polls the MPI once and
// says whether the call is over, and report(), which
// adds hocket's failures to the error and the statuses that look() has written.
//
// Thread safety: any thread.
#pragma once

#include <type_traits>
#include <vector>

#include "c_api/internal/pending.h"
#include "core/awaited_progress.h"
#include "core/endpoint.h"
#include "shim/job/job.h"
#include "shim/requests/pending.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

// A request that has failed: which of those that were looked at, and on what communicator.
struct Failed {
  int index;
  MPI_Comm comm;
};

// By the error handler of its communicator, as a failure of a blocking call; gives the code.
int raise_pending(const Failed& failed);

struct OneRequest {
  MPI_Request* requests;
  MPI_Status* status;
  static constexpr int count = 1;

  int look(bool& is_over) const;
  int report(int error, const std::vector<Failed>& failed) const;
};

struct AllRequests {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;

  int look(bool& is_over) const;
  int report(int error, const std::vector<Failed>& failed) const;
};

struct AnyRequest {
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;

  int look(bool& is_over) const;
  int report(int error, const std::vector<Failed>& failed) const;
};

struct SomeRequests {
  int count;
  MPI_Request* requests;
  int* completed;
  int* indices;
  MPI_Status* statuses;

  int look(bool& is_over) const;
  int report(int error, const std::vector<Failed>& failed) const;
};

// The requests as they are before the MPI takes some of them. None where it will say what is wrong with them.
template <typename Completion>
std::vector<MPI_Request> requests_of(const Completion& completion) {
  if (completion.requests == nullptr || completion.count <= 0) return {};
  return {completion.requests, completion.requests + completion.count};
}

// Which of the requests the failures are of.
std::vector<Failed> find_failed(const std::vector<MPI_Request>& before, const FailureWatch& watch);

template <typename Completion>
int look_and_report(const Completion& completion, const std::vector<MPI_Request>& before, bool& is_over) {
  const FailureWatch watch;
  const int error = completion.look(is_over);
  if (watch.failures().empty()) [[likely]]
    return error;
  const std::vector<Failed> failed = find_failed(before, watch);
  return failed.empty() ? error : completion.report(error, failed);
}

template <typename Completion>
uint64_t number_of_requests(const Completion& completion) {
  uint64_t number = 0;
  for (int i = 0; i < completion.count && completion.requests != nullptr; ++i)
    if (completion.requests[i] != handles.request_null) ++number;
  return number;
}

// Of a call that may end requests: those that it has ended are no reason any more to look after the MPI.
template <typename Completion, typename PassThrough>
int count_ended(const Completion& completion, const PassThrough& pass_through) {
  if (!awaited_progress.has_messages() || is_nested()) return pass_through();
  const uint64_t before = number_of_requests(completion);
  const int error = pass_through();
  const uint64_t after = number_of_requests(completion);
  if (after < before) awaited_progress.messages_end(before - after);
  return error;
}

template <typename Completion, typename PassThrough>
int wait_beside_pending(const Completion& completion, const PassThrough& pass_through) {
  c_api::Backoff backoff(endpoint());
  const std::vector<MPI_Request> before = requests_of(completion);  // looks take none until one ends the call
  do {
    advance_pending();
    bool is_over = false;
    const int error = look_and_report(completion, before, is_over);
    if (error != MPI_SUCCESS || is_over) return error;
    backoff.pause();
  } while (has_pending());
  return pass_through();
}

// Whether the testing function ends where the waiting one does.
template <typename Completion>
bool may_be_tested() {
  return !std::is_same_v<Completion, AllRequests> || may_test_all();
}

template <typename Completion, typename PassThrough>
int wait_for(const Completion& completion, const PassThrough& pass_through) {
  return count_ended(completion, [&] {
    if (has_pending() && !is_nested()) [[unlikely]]
      return wait_beside_pending(completion, pass_through);
    if (looks() == Looks::kByMpi) [[likely]]
      return pass_through();
    if (!waits_by_tests(false) || !may_be_tested<Completion>()) return wait_in_mpi(pass_through);
    return look_until_over([&](bool& is_over) { return completion.look(is_over); });
  });
}

// `flag`: where the answer goes; nullptr: it goes with the completion.
template <typename Completion>
int test_beside_pending(const Completion& completion, int* flag) {
  advance_pending();
  bool is_over = false;
  const int error = look_and_report(completion, requests_of(completion), is_over);
  if (flag != nullptr) *flag = is_over ? 1 : 0;
  return error;
}

template <typename Completion, typename PassThrough>
int test_for(const Completion& completion, int* flag, const PassThrough& pass_through) {
  return count_ended(completion, [&] {
    return !has_pending() || is_nested() ? pass_through() : test_beside_pending(completion, flag);
  });
}

template <typename PassThrough>
int after_advancing(const PassThrough& pass_through) {
  if (has_pending() && !is_nested()) [[unlikely]]
    advance_pending();
  return pass_through();
}

template <typename PassThrough>
int free_for(MPI_Request* request, const PassThrough& pass_through) {
  if (has_pending() && !is_nested() && request != nullptr) [[unlikely]] {
    advance_pending();
    if (free_pending(request)) return MPI_SUCCESS;
  }
  return count_ended(OneRequest{request, MPI_STATUS_IGNORE}, pass_through);
}

}  // namespace hocket::interposer
