// SPDX-License-Identifier: BSD-3-Clause
// Calls of the MPI in which a rank may wait for others, made to wait as core/mpi_wait.h has it: by the MPI's own looks
// where it calls our hook, otherwise, as far as there is a non-blocking form, by looks of ours.
//
// Thread safety: any thread.
#pragma once

#include "core/mpi_wait.h"
#include "core/progress/under_way.h"
#include "core/wake.h"
#include "shim/job/job.h"
#include "shim/requests/started_call.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

// Whether this call is made by looks. `is_dear`: a look costs more than a wait where ranks have a core each.
inline bool waits_by_tests(bool is_dear) {
  return looks() == Looks::kByTests && !is_nested() && (!is_dear || !has_core_each() || has_under_way());
}

// `look(is_over)` polls the MPI once.
template <typename Look>
int look_until_over(const Look& look) {
  bool is_over = false;
  int error = look(is_over);
  if (error != MPI_SUCCESS || is_over) return error;
  ScopedPause wait;
  while (error == MPI_SUCCESS && !is_over) {
    wait.pause();
    if (has_under_way()) [[unlikely]]
      advance_started();
    error = look(is_over);
  }
  return error;
}

// Until `advance()`, which moves started hocket calls, returns true. Polls the MPI now and then.
template <typename Advance>
void advance_until(const Advance& advance) {
  constexpr uint32_t kAdvancesPerPoll = 64;
  ScopedPause wait;
  for (uint32_t advances = 1; !advance(); ++advances) {
    if (advances % kAdvancesPerPoll == 0) progress_mpi();
    wait.pause();
  }
}

// A request that was started for a call that ends when it does.
class OwnRequest {
 public:
  template <typename Start>
  int start(const Start& start) {
    const int error = start(&request_);
    is_over_ = error != MPI_SUCCESS;
    return error;
  }
  bool is_over() const { return is_over_; }
  // An error ends it.
  int look(MPI_Status* status) {
    int flag = 0;
    const int error = next_pmpi().Test(&request_, &flag, status);
    is_over_ = flag != 0 || error != MPI_SUCCESS;
    if (error != MPI_SUCCESS) withdraw();
    return error;
  }
  // Nothing is to come of it any more: its buffer is the program's again.
  void withdraw() {
    is_over_ = true;
    if (request_ == handles.request_null) return;
    next_pmpi().Cancel(&request_);
    next_pmpi().Request_free(&request_);
  }

 private:
  MPI_Request request_{};
  bool is_over_ = true;
};

// The message that `start(request)` begins, to its end. Out of line, as what follows: where the MPI waits itself, a
// call keeps its arguments in registers.
template <typename Start>
__attribute__((noinline)) int wait_for_message(const Start& start, MPI_Status* status) {
  OwnRequest message;
  if (const int error = message.start(start); error != MPI_SUCCESS) return error;
  return look_until_over([&](bool& is_over) {
    const int error = message.look(status);
    is_over = message.is_over();
    return error;
  });
}

// Both, side by side; the first error once both are over.
template <typename StartReceive, typename StartSend>
__attribute__((noinline)) int wait_for_exchange(const StartReceive& start_receive, const StartSend& start_send,
                                                MPI_Status* status) {
  OwnRequest receive, send;
  if (const int error = receive.start(start_receive); error != MPI_SUCCESS) return error;
  if (const int error = send.start(start_send); error != MPI_SUCCESS) {
    receive.withdraw();
    return error;
  }
  int first_error = MPI_SUCCESS;
  const auto look = [&](OwnRequest& one, MPI_Status* where) {
    const int error = one.is_over() ? MPI_SUCCESS : one.look(where);
    if (first_error == MPI_SUCCESS) first_error = error;
  };
  look_until_over([&](bool& is_over) {
    look(receive, status);
    look(send, MPI_STATUS_IGNORE);
    is_over = receive.is_over() && send.is_over();
    return MPI_SUCCESS;
  });
  return first_error;
}

// `look(flag)` is the call's testing form.
template <typename LookOnce>
__attribute__((noinline)) int wait_for_probe(const LookOnce& look) {
  return look_until_over([&](bool& is_over) {
    int flag = 0;
    const int error = look(&flag);
    is_over = flag != 0;
    return error;
  });
}

// A call that asks the MPI for a message, or a part of one, and doesn't wait for it.
template <typename PassThrough>
int probe_once(const int* flag, const PassThrough& pass_through) {
  if (is_nested()) return pass_through();
  if (has_under_way()) [[unlikely]]
    advance_under_way();
  const int error = pass_through();
  if (error == MPI_SUCCESS && flag != nullptr) after_test(*flag != 0);
  return error;
}

// Called before something that `peer` may have to poll for: a message to it or from it, access to its memory. Rings it
// if it waits; MPI_ANY_SOURCE: all ranks of the node that do.
void ring_in(MPI_Comm comm, int peer);
__attribute__((always_inline)) inline void ring_peer(int peer, MPI_Comm comm) {
  if (any_rank_waits()) [[unlikely]]
    ring_in(comm, peer);
}
// A window that has been made, and one that is about to be freed.
void note_window(MPI_Win window);
void forget_window(MPI_Win window);
void ring_target(MPI_Win window, int rank);
inline void ring_window(MPI_Win window, int rank) {
  if (any_rank_waits()) [[unlikely]]
    ring_target(window, rank);
}

// By tests, or as the MPI waits. `peer`: one that is MPI_PROC_NULL ends the call at once. `is_dear`: as above.
template <typename ByTests, typename PassThrough, typename PassOn>
__attribute__((always_inline)) inline int wait_for_peer(int peer, bool is_dear, const ByTests& by_tests,
                                                        const PassThrough& pass_through, const PassOn& pass_on) {
  if (waits_by_tests(is_dear) && peer != MPI_PROC_NULL) [[unlikely]]
    return by_tests();
  return wait_in_mpi(pass_through, pass_on);
}

}  // namespace hocket::interposer
