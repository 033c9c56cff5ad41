// SPDX-License-Identifier: BSD-3-Clause
// Waiting, testing and asking where the program holds calls that hocket has started (started_call.h): among them may be
// the MPI's own requests, which are looked at by the MPI's own functions, in copies of the program's arrays without
// hocket's. Each look moves both.
//
// The kinds of completion have these members: `count` and `requests`; look(), which polls the MPI once and says
// whether the call is over, where all are the MPI's own; wait() and test() where they are not.
//
// Thread safety: any thread.
#pragma once

#include <type_traits>

#include "core/awaited_progress.h"
#include "core/call_times.h"
#include "shim/job/job.h"
#include "shim/job/whereabouts.h"
#include "shim/requests/started_call.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

struct OneRequest {
  MPI_Request* requests;
  MPI_Status* status;
  static constexpr int count = 1;

  int look(bool& is_over) const;
  int wait() const;
  int test(int* flag) const;
};

struct AllRequests {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;

  int look(bool& is_over) const;
  // All are the MPI's, each of which is tested for itself.
  int wait_one_by_one() const;
  int wait() const;
  int test(int* flag) const;
};

struct AnyRequest {
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;

  int look(bool& is_over) const;
  int wait() const;
  int test(int* flag) const;
};

struct SomeRequests {
  int count;
  MPI_Request* requests;
  int* completed;
  int* indices;
  MPI_Status* statuses;

  int look(bool& is_over) const;
  int wait() const;
  int test(int* flag) const;
};

int ask_started(StartedCall& call, int* flag, MPI_Status* status);
void free_started(StartedCall& call);
// An error where it isn't persistent, or under way.
int start_persistent(StartedCall& call);

// The first of hocket's among them that is under way or over; nullptr: none. Not where the MPI will say what is wrong
// with the arguments.
template <typename Completion>
const StartedCall* first_started_among(const Completion& completion) {
  if (completion.requests == nullptr) return nullptr;
  for (int i = 0; i < completion.count; ++i)
    if (const StartedCall* call = find_started(completion.requests[i]);
        call != nullptr && !call->has(StartedCall::State::kInactive))
      return call;
  return nullptr;
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

// Whether the testing function ends where the waiting one does.
template <typename Completion>
bool may_be_tested() {
  return !std::is_same_v<Completion, AllRequests> || may_test_all();
}

template <typename Completion, typename PassThrough>
int wait_for(const Completion& completion, const void* caller, const PassThrough& pass_through) {
  constexpr bool kForAll = std::is_same_v<Completion, OneRequest> || std::is_same_v<Completion, AllRequests>;
  const AwaitedRequests awaited(completion.requests, completion.count, kForAll);
  if (holds_started() && !is_nested()) [[unlikely]] {
    if (const StartedCall* const call = first_started_among(completion); call != nullptr) {
      const TimedCall timed(call->collective, caller);
      return completion.wait();
    }
  }
  return count_ended(completion, [&] {
    const bool looks_beside = has_under_way() && !is_nested() && looks() != Looks::kByHook;
    if (looks() == Looks::kByMpi && !looks_beside) [[likely]]
      return pass_through();
    if (!looks_beside && (!waits_by_tests(false) || !may_be_tested<Completion>())) return wait_in_mpi(pass_through);
    if constexpr (std::is_same_v<Completion, AllRequests>)
      if ((looks_beside || has_mpis_persistent()) && completion.requests != nullptr && completion.count > 0)
        return completion.wait_one_by_one();
    return look_until_over([&](bool& is_over) { return completion.look(is_over); });
  });
}

// `flag`: where the answer goes; nullptr: it goes with the completion.
template <typename Completion, typename PassThrough>
int test_for(const Completion& completion, int* flag, const PassThrough& pass_through) {
  const AwaitedRequests awaited(completion.requests, completion.count, false);
  if (has_under_way() && !is_nested()) [[unlikely]]
    advance_started();
  if (holds_started() && !is_nested() && first_started_among(completion) != nullptr) [[unlikely]]
    return completion.test(flag);
  return count_ended(completion, pass_through);
}

// What MPI_Request_get_status and its forms tell, of one; the request stays as it is.
template <typename PassThrough>
int ask_for(MPI_Request request, int* flag, MPI_Status* status, const PassThrough& pass_through) {
  if (has_under_way() && !is_nested()) [[unlikely]]
    advance_started();
  StartedCall* const call = holds_started() && !is_nested() ? find_started(request) : nullptr;
  if (call == nullptr || call->has(StartedCall::State::kInactive) || flag == nullptr) return pass_through();
  return ask_started(*call, flag, status);
}

// A request of the program's that it frees.
template <typename PassThrough>
int free_for(MPI_Request* request, const PassThrough& pass_through) {
  if (holds_started() && !is_nested() && request != nullptr) [[unlikely]] {
    if (StartedCall* call = find_started(*request); call != nullptr) {
      free_started(*call);
      *request = handles.request_null;
      return MPI_SUCCESS;
    }
  }
  return count_ended(OneRequest{request, MPI_STATUS_IGNORE}, pass_through);
}

template <typename PassThrough>
int start_for(MPI_Request* request, const PassThrough& pass_through) {
  if (holds_started() && !is_nested() && request != nullptr) [[unlikely]]
    if (StartedCall* call = find_started(*request); call != nullptr) return start_persistent(*call);
  return pass_through();
}

// `start_rest(count, requests)` starts the MPI's own.
template <typename PassThrough, typename StartRest>
int start_all_for(int count, MPI_Request* requests, const PassThrough& pass_through, const StartRest& start_rest) {
  if (!holds_started() || is_nested() || requests == nullptr) return pass_through();
  int error = MPI_SUCCESS;
  for (int i = 0; i < count && error == MPI_SUCCESS; ++i) {
    StartedCall* const call = find_started(requests[i]);
    error = call != nullptr ? start_persistent(*call) : start_rest(&requests[i]);
  }
  return error;
}

}  // namespace hocket::interposer
