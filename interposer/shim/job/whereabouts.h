// SPDX-License-Identifier: BSD-3-Clause
// What this rank's record says of calls of the MPI (core/whereabouts.h), in the MPI's terms.
//
// Thread safety: any thread.
#pragma once

#include "core/communicator.h"
#include "core/whereabouts.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

namespace internal {
// Of the call that the thread is in, or was in last.
inline constinit thread_local MPI_Comm message_comm __attribute__((tls_model("initial-exec"))) = {};
inline constinit thread_local MPI_Comm collective_comm __attribute__((tls_model("initial-exec"))) = {};
}  // namespace internal

// As the record names peers and tags.
constexpr int named_peer(int peer) { return peer == MPI_ANY_SOURCE ? platform::FunctionStamp::kAny : peer; }
constexpr int named_tag(int tag) { return tag == MPI_ANY_TAG ? platform::FunctionStamp::kAny : tag; }

// A call about a message.
class InMessage {
 public:
  InMessage(uint32_t function, int peer, int tag, MPI_Comm comm)
      : in_(other_stamp(), function, named_peer(peer), named_tag(tag)) {
    internal::message_comm = comm;
  }

 private:
  const InFunction in_;
};

class InCollective {
 public:
  InCollective(Collective collective, MPI_Comm comm) : in_(collective_stamp(), number_of(collective)) {
    internal::collective_comm = comm;
  }

 private:
  const InFunction in_;
};

// The blocking call that begins is left to the MPI.
inline void note_left_to_mpi(Communicator* communicator) {
  platform::ThreadLine* const line = platform::own_line();
  if (line == nullptr || communicator == nullptr || communicator->noted == nullptr) return;
  platform::CommunicatorName& noted = *communicator->noted;
  // Relaxed, all: see record.h. One thread at a time is in a communicator's calls.
  const uint64_t calls = noted.calls.load(std::memory_order_relaxed) + 1;
  noted.calls.store(calls, std::memory_order_relaxed);
  line->communicator.store(noted.number.load(std::memory_order_relaxed), std::memory_order_relaxed);
  line->number.store(calls, std::memory_order_relaxed);
  line->bytes.store(0, std::memory_order_relaxed);
  line->algorithm.store(0, std::memory_order_relaxed);
}

// At the beginning of the job: the record, with what its numbers stand for. `library`: of the MPI.
void keep_record(int rank, int ranks, const char* library);

}  // namespace hocket::interposer
