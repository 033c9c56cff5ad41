// SPDX-License-Identifier: BSD-3-Clause
// Waiting, testing and asking where the program holds calls that hocket has started (started_call.h): among them may be
// the MPI's own requests, which are looked at by the MPI's own functions, in copies of the program's arrays without
// hocket's. Each look moves both.
//
// The kinds of completion have these members: `count` and `requests`; look(), which polls the MPI once and says
// whether the call is over, where all are the MPI's own, or wait_one_by_one() instead; ended(), the number of requests
// that the MPI has just ended; wait() and test() where some are hocket's.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/awaited_progress.h"
#include "core/call_times.h"
#include "shim/job/job.h"
#include "shim/job/whereabouts.h"
#include "shim/requests/started_among.h"
#include "shim/requests/started_call.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

struct OneRequest {
  MPI_Request* requests;
  MPI_Status* status;
  static constexpr int count = 1;

  int look(bool& is_over) const;
  int ended(int before, int) const { return before - count_requests(requests, 1); }
  int wait(StartedCall& call) const;
  int test(StartedCall& call, int* flag) const;
};

struct AllRequests {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;

  int ended(int before, int) const { return before - count_requests(requests, count); }
  // Where all are the MPI's: tests the first that is not over, and now and then the others.
  int wait_one_by_one() const;
  // Otherwise the MPI reports the error.
  bool has_arrays() const {
    return requests != nullptr && count > 0 && (statuses != nullptr || statuses == MPI_STATUSES_IGNORE);
  }
  int wait(const StartedAmong& ours) const;
  int test(const StartedAmong& ours, int* flag) const;
};

struct AnyRequest {
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;

  int look(bool& is_over) const;
  // After an error `index` may be anything.
  int ended(int, int) const {
    return index != nullptr && *index >= 0 && *index < count && requests[*index] == handles.request_null ? 1 : 0;
  }
  // Completes one of the MPI's: `flag` stays 0 if none is over, or none is active.
  int test_mpis(int* flag) const;
  int wait(const StartedAmong& ours) const;
  int test(const StartedAmong& ours, int* flag) const;
};

struct SomeRequests {
  int count;
  MPI_Request* requests;
  int* completed;
  int* indices;
  MPI_Status* statuses;

  int look(bool& is_over) const;
  int ended(int, int error) const {
    if ((error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) || completed == nullptr || indices == nullptr) return 0;
    int number = 0;
    for (int i = 0; i < *completed; ++i) number += requests[indices[i]] == handles.request_null ? 1 : 0;
    return number;
  }
  int wait(const StartedAmong& ours) const;
  int test(const StartedAmong& ours, int* flag) const;
};

int ask_started(StartedCall& call, int* flag, MPI_Status* status);
void free_started(StartedCall& call);
// An error where it isn't persistent, or under way.
int start_persistent(StartedCall& call);

// Counts what `pass_through` ends: it no longer requires polling. `flag`: of a testing function that ends nothing
// while this is 0; nullptr: none.
template <typename Completion, typename PassThrough>
int count_ended(const Completion& completion, const int* flag, const PassThrough& pass_through) {
  constexpr bool kByIndex = std::is_same_v<Completion, AnyRequest> || std::is_same_v<Completion, SomeRequests>;
  if (!awaited_progress.has_messages() || is_nested()) return pass_through();
  // The MPI reports the error.
  if (completion.requests == nullptr || completion.count <= 0) return pass_through();
  const int before = kByIndex ? 0 : count_requests(completion.requests, completion.count);
  const int error = pass_through();
  if (error == MPI_SUCCESS && flag != nullptr && *flag == 0) return error;
  if (const int number = completion.ended(before, error); number > 0)
    awaited_progress.messages_end(static_cast<uint64_t>(number));
  return error;
}

// Calls `complete(ours, one)` where some of the requests are active calls of hocket's, of which `one` is the first:
// `ours` is a StartedAmong, or the call itself of a single request. Returns true if it has.
template <typename Completion, typename Complete>
bool complete_own(const Completion& completion, const Complete& complete) {
  if constexpr (std::is_same_v<Completion, OneRequest>) {
    StartedCall* const call = completion.requests != nullptr ? find_started(*completion.requests) : nullptr;
    if (call == nullptr || !call->is_active()) return false;
    complete(*call, *call);
  } else {
    const StartedAmong ours(completion.requests, completion.count);
    if (ours.is_empty()) return false;
    complete(ours, *ours.all().front().call);
  }
  return true;
}

template <typename Completion, typename PassThrough>
int wait_for(const Completion& completion, const void* caller, const PassThrough& pass_through) {
  constexpr bool kForAll = std::is_same_v<Completion, OneRequest> || std::is_same_v<Completion, AllRequests>;
  const AwaitedRequests awaited(completion.requests, completion.count, kForAll);
  if (has_active_calls() && !is_nested()) [[unlikely]] {
    int error = MPI_SUCCESS;
    // Where a message has come already, hocket's calls need not be found.
    if constexpr (std::is_same_v<Completion, AnyRequest>) {
      constexpr int kDearToSearch = 32;
      int flag = 0;
      if (completion.requests != nullptr && completion.count >= kDearToSearch) error = completion.test_mpis(&flag);
      if (flag != 0 || error != MPI_SUCCESS) return error;
    }
    const auto wait = [&](auto& ours, const StartedCall& first) {
      const TimedCall timed(first.collective, caller);
      error = completion.wait(ours);
    };
    if (complete_own(completion, wait)) return error;
  }
  return count_ended(completion, nullptr, [&] {
    const bool looks_beside = has_under_way() && !is_nested() && looks() != Looks::kByHook;
    if (looks() == Looks::kByMpi && !looks_beside) [[likely]]
      return pass_through();
    if (!looks_beside && !waits_by_tests(false)) return wait_in_mpi(pass_through);
    if constexpr (std::is_same_v<Completion, AllRequests>)
      return completion.has_arrays() ? completion.wait_one_by_one() : pass_through();
    else
      return look_until_over([&](bool& is_over) { return completion.look(is_over); });
  });
}

// False: the MPI reports the missing one.
template <typename Completion>
bool has_outputs(const Completion& completion, const int* flag) {
  if constexpr (std::is_same_v<Completion, SomeRequests>)
    return completion.completed != nullptr && completion.indices != nullptr;
  else if constexpr (std::is_same_v<Completion, AnyRequest>)
    return flag != nullptr && completion.index != nullptr;
  else
    return flag != nullptr;
}

// `flag`: where the answer goes; nullptr: it goes with the completion.
template <typename Completion, typename PassThrough>
int test_once(const Completion& completion, int* flag, const PassThrough& pass_through) {
  const AwaitedRequests awaited(completion.requests, completion.count, false);
  if (has_under_way() && !is_nested()) [[unlikely]]
    advance_started();
  if (has_active_calls() && !is_nested() && has_outputs(completion, flag)) [[unlikely]] {
    int error = MPI_SUCCESS;
    if (complete_own(completion, [&](auto& ours, const StartedCall&) { error = completion.test(ours, flag); }))
      return error;
  }
  return count_ended(completion, flag, pass_through);
}
template <typename Completion, typename PassThrough>
int test_for(const Completion& completion, int* flag, const PassThrough& pass_through) {
  const int error = test_once(completion, flag, pass_through);
  if (error != MPI_SUCCESS || is_nested()) return error;
  const int* found = flag;
  if constexpr (std::is_same_v<Completion, SomeRequests>) found = completion.completed;
  if (found != nullptr) after_test(*found != 0);
  return error;
}

// What MPI_Request_get_status and its forms tell, of one; the request stays as it is.
template <typename PassThrough>
int ask_for(MPI_Request request, int* flag, MPI_Status* status, const PassThrough& pass_through) {
  if (has_under_way() && !is_nested()) [[unlikely]]
    advance_started();
  StartedCall* const call = has_active_calls() && !is_nested() ? find_started(request) : nullptr;
  const int error =
      call == nullptr || !call->is_active() || flag == nullptr ? pass_through() : ask_started(*call, flag, status);
  if (error == MPI_SUCCESS && !is_nested() && flag != nullptr) after_test(*flag != 0);
  return error;
}

// A request of the program's that it frees.
template <typename PassThrough>
int free_for(MPI_Request* request, const PassThrough& pass_through) {
  StartedCall* const call = request != nullptr && !is_nested() ? find_started(*request) : nullptr;
  if (call == nullptr) return count_ended(OneRequest{request, MPI_STATUS_IGNORE}, nullptr, pass_through);
  free_started(*call);
  *request = handles.request_null;
  return MPI_SUCCESS;
}

template <typename PassThrough>
int start_for(MPI_Request* request, const PassThrough& pass_through) {
  StartedCall* const call = request != nullptr && !is_nested() ? find_started(*request) : nullptr;
  if (call != nullptr) return start_persistent(*call);
  ring_waiting();
  return pass_through();
}

// `start_rest(count, requests)` starts the MPI's own.
template <typename PassThrough, typename StartRest>
int start_all_for(int count, MPI_Request* requests, const PassThrough& pass_through, const StartRest& start_rest) {
  const auto is_own = [](MPI_Request request) { return find_started(request) != nullptr; };
  ring_waiting();
  if (is_nested() || requests == nullptr || count <= 0 || std::none_of(requests, requests + count, is_own))
    return pass_through();
  int error = MPI_SUCCESS;
  for (int i = 0; i < count && error == MPI_SUCCESS; ++i) {
    StartedCall* const call = find_started(requests[i]);
    error = call != nullptr ? start_persistent(*call) : start_rest(&requests[i]);
  }
  return error;
}

}  // namespace hocket::interposer
