// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a communicator tell each other to set it up: by notices in memory where the whole job has met before
// the communicator was made, else by the MPI.
//
// Thread safety: as the communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "c_api/internal/takeover.h"
#include "hocket/hocket.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// The first communicator of all ranks that hocket carries calls out on, in the order of MPI_COMM_WORLD: the job has met
// in it, it is kept to the end, and ranks that sleep in the MPI are woken by it. Called in a collective on it. Where
// several threads of a rank make communicators at the same time, only MPI_COMM_WORLD is one.
void meet_in(MPI_Comm handle, hocket_comm_t* comm);
void end_meeting();  // in MPI_Finalize
bool have_all_met();

// One set-up.
class SetUpExchange {
 public:
  explicit SetUpExchange(MPI_Comm comm) : comm_(comm) {}
  // Blocks; 0 for success. `user` is a SetUpExchange.
  static int allgather(const void* send, void* receive, size_t bytes, void* user);
  // As core/communicator.h has it.
  static std::unique_ptr<c_api::Takeover> begin_takeover(uint64_t calls, void* user);

 private:
  MPI_Comm comm_;
  bool is_first_ = true;
};

}  // namespace hocket::interposer
