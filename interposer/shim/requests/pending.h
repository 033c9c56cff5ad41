// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives that NIC engines carry out, from their beginning until they are over. To the program each is
// a generalized request of its MPI; when hocket finds it over, the MPI is told.
//
// Thread safety: any thread. A list is locked while its calls are moved and the MPI is told of those that are over.
// What the MPI calls back takes no lock: the thread that calls it may have one of the MPI's.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "core/communicator.h"
#include "shim/collectives/decision.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// A result that is unpacked when it has arrived, by a type that the program may have freed by then, or copied to a
// device as it is.
struct Unpacking {
  std::vector<unsigned char> bytes;
  std::vector<unsigned char> input;  // of a reduction, a copy
  void* buffer = nullptr;
  MPI_Aint true_lb = 0;  // of the type
  MPI_Datatype type{};   // ours, of all elements
  bool has_type = false;
  bool goes_as_it_is = false;

  Unpacking() = default;
  ~Unpacking();
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
};

struct PendingCall {
  Collective collective = Collective::kIbarrier;
  Communicator* communicator = nullptr;
  // Where an error is raised: the world's, set by the thread that frees the communicator, while another may read it.
  std::atomic<MPI_Comm> comm{};
  hocket_request_t* request = nullptr;
  std::unique_ptr<Unpacking> packed;
  int mpi_error = MPI_SUCCESS;  // of its beginning
  MPI_Request handle{};
  bool has_handle = false;
  bool is_freed = false;             // by the program, before it was over
  bool has_failed = false;           // and the program has not been told
  std::atomic<bool> is_gone{false};  // its request is: to be taken from the list
};

namespace internal {
// Those that run, or have failed and are still to be told of. Relaxed: who waits for a request has it from whoever
// began it, and is synchronised with that thread by the program.
inline std::atomic<size_t> pending{0};
}  // namespace internal

// While false, requests are the MPI's affair.
inline bool has_pending() { return internal::pending.load(std::memory_order_relaxed) != 0; }

// Makes *request of what has been started, the one element of `one`. An error of the MPI: it has no room for a request.
int take_into_list(std::list<PendingCall>& one, MPI_Request* request);

// Moves all, and tells the MPI of those that are over. Does nothing while another thread is at it.
void advance_pending();

// Waits for those of a communicator; nullptr: all.
void drain_pending(const Communicator* communicator);
// Before the MPI frees it: they go on, and fail as calls without a communicator.
void orphan_pending(const Communicator& communicator);

// MPI_Request_free of one that runs: *request becomes MPI_REQUEST_NULL, and it goes on. False: it isn't one.
bool free_pending(MPI_Request* request);

// Of the requests that the MPI lets go in this thread while this lives, those that have failed.
class FailureWatch {
 public:
  struct Failure {
    MPI_Request handle;
    MPI_Comm comm;
  };
  FailureWatch();
  ~FailureWatch();
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

  void note(const Failure& failure) { failures_.push_back(failure); }
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  std::vector<Failure> failures_;
  FailureWatch* outer_;
};

}  // namespace hocket::interposer
