// SPDX-License-Identifier: BSD-3-Clause
// Calls of the MPI in which a rank may wait for others, made to wait as core/mpi_wait.h has it: by the MPI's own looks
// where it calls our hook, otherwise, as far as there is a non-blocking form, by looks of ours.
//
// Thread safety: any thread.
#pragma once

#include "core/mpi_wait.h"
#include "shim/job/job.h"

namespace hocket::interposer {

// Whether this call is made by looks. `is_dear`: a look costs more than a wait where ranks have a core each.
inline bool waits_by_tests(bool is_dear) {
  return looks() == Looks::kByTests && !is_nested() && !(is_dear && has_core_each());
}

// The call passes to the MPI, which waits.
template <typename PassThrough>
int wait_in_mpi(const PassThrough& pass_through) {
  if (looks() != Looks::kByHook) [[likely]]
    return pass_through();
  const MpiWait wait;
  return pass_through();
}

// `look(is_over)` polls the MPI once.
template <typename Look>
int look_until_over(const Look& look) {
  bool is_over = false;
  int error = look(is_over);
  if (error != MPI_SUCCESS || is_over) return error;
  MpiPause wait;
  while (error == MPI_SUCCESS && !is_over) {
    wait.pause();
    error = look(is_over);
  }
  return error;
}

// The message that `start(request)` begins, to its end.
template <typename Start>
int wait_for_message(const Start& start, MPI_Status* status) {
  MPI_Request request;
  if (const int error = start(&request); error != MPI_SUCCESS) return error;
  return look_until_over([&](bool& is_over) {
    int flag = 0;
    const int error = next_pmpi().Test(&request, &flag, status);
    is_over = flag != 0;
    return error;
  });
}

// Both, side by side.
template <typename StartReceive, typename StartSend>
int wait_for_exchange(const StartReceive& start_receive, const StartSend& start_send, MPI_Status* status) {
  MPI_Request receive, send;
  if (const int error = start_receive(&receive); error != MPI_SUCCESS) return error;
  if (const int error = start_send(&send); error != MPI_SUCCESS) return error;
  int received = 0, sent = 0;
  return look_until_over([&](bool& is_over) {
    if (received == 0) {
      if (const int error = next_pmpi().Test(&receive, &received, status); error != MPI_SUCCESS) return error;
    }
    int error = MPI_SUCCESS;
    if (sent == 0) error = next_pmpi().Test(&send, &sent, MPI_STATUS_IGNORE);
    is_over = received != 0 && sent != 0;
    return error;
  });
}

// `peer`: one that is MPI_PROC_NULL ends the call at once.
template <typename Start, typename PassThrough>
int send_or_receive(int peer, const Start& start, MPI_Status* status, const PassThrough& pass_through) {
  const Looks how = looks();
  if (how == Looks::kByTests && peer != MPI_PROC_NULL && waits_by_tests(true)) return wait_for_message(start, status);
  if (how != Looks::kByHook) return pass_through();
  const MpiWait wait;
  return pass_through();
}

template <typename StartReceive, typename StartSend, typename PassThrough>
int send_and_receive(int from, const StartReceive& start_receive, const StartSend& start_send, MPI_Status* status,
                     const PassThrough& pass_through) {
  return waits_by_tests(true) && from != MPI_PROC_NULL ? wait_for_exchange(start_receive, start_send, status)
                                                       : wait_in_mpi(pass_through);
}

// `look(flag)` is the call's testing form.
template <typename LookOnce, typename PassThrough>
int probe(int peer, const LookOnce& look, const PassThrough& pass_through) {
  if (!waits_by_tests(false) || peer == MPI_PROC_NULL) return wait_in_mpi(pass_through);
  return look_until_over([&](bool& is_over) {
    int flag = 0;
    const int error = look(&flag);
    is_over = flag != 0;
    return error;
  });
}

}  // namespace hocket::interposer
