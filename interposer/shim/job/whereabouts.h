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
// Calls that were left to the MPI: the last blocking one, and the last few that were started. Requests that the thread
// waits for.
struct LeftCall {
  MPI_Request request = {};    // of one that was started
  uint64_t communicator = 0;   // by its number; 0: there is none
  uint64_t number = 0;         // of the communicator's calls that were left
  Collective collective = {};  // as what it is counted
  MPI_Comm comm = {};
};
inline constexpr size_t kStartedKept = 8;
struct LeftCalls {
  LeftCall blocking;
  LeftCall started[kStartedKept];
  size_t next = 0;
  uint32_t kept = 0;  // bit i: there is a call in place i of `started`
  const MPI_Request* awaited = nullptr;
  int awaited_count = 0;
};
inline constinit thread_local LeftCalls left_calls __attribute__((tls_model("initial-exec"))) = {};
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

// The collective that the thread is in.
inline Collective collective_now() {
  const platform::FunctionStamp* const stamp = collective_stamp();
  const uint32_t what = stamp == nullptr ? 1 : stamp->what.load(std::memory_order_relaxed);
  return static_cast<Collective>((what & platform::FunctionStamp::kNumber) - 1);
}

// One more of a communicator's calls is left to the MPI. Of number 0: there is no room in the record.
inline internal::LeftCall count_left(const Communicator* communicator, Collective collective, MPI_Comm comm) {
  if (communicator == nullptr || communicator->noted == nullptr) return {};
  platform::CommunicatorName& noted = *communicator->noted;
  // Relaxed, all: see record.h. One thread at a time is in a communicator's calls.
  const uint64_t calls = noted.calls.load(std::memory_order_relaxed) + 1;
  noted.calls.store(calls, std::memory_order_relaxed);
  return {{}, noted.number.load(std::memory_order_relaxed), calls, collective, comm};
}

// The call that the record's line tells of.
inline void note_call(const internal::LeftCall& call) {
  platform::ThreadLine* const line = platform::own_line();
  if (line == nullptr) return;
  line->communicator.store(call.communicator, std::memory_order_relaxed);
  line->number.store(call.number, std::memory_order_relaxed);
  line->bytes.store(0, std::memory_order_relaxed);
  line->root.store(0, std::memory_order_relaxed);
  line->algorithm.store(0, std::memory_order_relaxed);
}

// The blocking call that begins is.
inline void note_left_to_mpi(const Communicator* communicator, Collective collective, MPI_Comm comm) {
  internal::left_calls.blocking = count_left(communicator, collective, comm);
  note_call(internal::left_calls.blocking);
}

// One that has been started.
inline void note_started_by_mpi(const Communicator* communicator, Collective form, MPI_Comm comm,
                                const MPI_Request* request) {
  const internal::LeftCall call = count_left(communicator, form, comm);
  if (call.communicator == 0 || request == nullptr) return;
  const size_t place = internal::left_calls.next++ % internal::kStartedKept;
  internal::left_calls.started[place] = call;
  internal::left_calls.started[place].request = *request;
  internal::left_calls.kept |= 1u << place;
}

// The thread waits for these, or looks at them. `waits_for_all`: of others it can't be said that one has to come.
class AwaitedRequests {
 public:
  AwaitedRequests(const MPI_Request* requests, int count, bool waits_for_all)
      : requests_(requests),
        count_(count),
        outer_(internal::left_calls.awaited),
        outer_count_(internal::left_calls.awaited_count) {
    internal::left_calls.awaited = requests;
    internal::left_calls.awaited_count = waits_for_all ? count : 0;
    if (internal::left_calls.kept != 0) [[unlikely]]
      find_started();
  }
  ~AwaitedRequests() {
    internal::left_calls.awaited = outer_;
    internal::left_calls.awaited_count = outer_count_;
    if (started_ != 0) [[unlikely]]
      forget_ended();
  }
  AwaitedRequests(const AwaitedRequests&) = delete;
  AwaitedRequests& operator=(const AwaitedRequests&) = delete;

 private:
  bool has(const internal::LeftCall& call) const {
    for (int i = 0; i < count_; ++i)
      if (requests_[i] == call.request) return true;
    return false;
  }
  void find_started() {
    for (uint32_t left = internal::left_calls.kept; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (requests_ != nullptr && has(internal::left_calls.started[i])) started_ |= 1u << i;
    }
  }
  // Their handles may be used again.
  void forget_ended() {
    for (uint32_t left = started_; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      if (has(internal::left_calls.started[i])) continue;
      internal::left_calls.started[i] = {};
      internal::left_calls.kept &= ~(1u << i);
    }
  }

  const MPI_Request* const requests_;
  const int count_;
  const MPI_Request* const outer_;
  const int outer_count_;
  uint32_t started_ = 0;  // bit i: place i of those that were started is among them
};

// At the beginning of the job: the record, with what its numbers stand for. `library`: of the MPI.
void keep_record(int rank, int ranks, const char* library);

}  // namespace hocket::interposer
