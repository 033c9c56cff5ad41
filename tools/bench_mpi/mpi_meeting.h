// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of an MPI wait for each other between calls that are measured: at a meeting point in a shared window of
// the MPI where all are on one node, by the MPI's barrier otherwise.
//
// Collective over the communicator that it is made of. Thread safety: none.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <new>

#include "bench/meeting_point.h"

namespace hocket::bench {

class MpiMeeting {
 public:
  MpiMeeting(MPI_Comm comm, bool on_one_node) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_size(comm_, &size_);
    if (on_one_node) share();
    // Each rank may be bound to a core of its own.
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, comm_);
    crowded_ = size_ > CPU_COUNT(&cores);
  }
  ~MpiMeeting() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    MPI_Comm_free(&comm_);
  }
  MpiMeeting(const MpiMeeting&) = delete;
  MpiMeeting& operator=(const MpiMeeting&) = delete;

  void meet() {
    if (point_ == nullptr) {
      MPI_Barrier(comm_);
      return;
    }
    uint32_t looks = 0;
    point_->meet(static_cast<uint32_t>(size_), [&] {
      if (crowded_) sched_yield();
      // A peer may need this rank to move what is under way before it comes.
      int found = 0;
      if (++looks % (crowded_ ? kLooksWhenCrowded : kLooksPerProgress) == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &found, MPI_STATUS_IGNORE);
    });
  }

 private:
  static constexpr uint32_t kLooksPerProgress = 64;
  static constexpr uint32_t kLooksWhenCrowded = 8;

  // An MPI without shared windows leaves point_ as it is.
  void share() {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    void* own = nullptr;
    const MPI_Aint bytes = rank == 0 ? sizeof(MeetingPoint) + alignof(MeetingPoint) : 0;
    const int made = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm_, &own, &window_) == MPI_SUCCESS ? 1 : 0;
    int made_by_all = 0;
    MPI_Allreduce(&made, &made_by_all, 1, MPI_INT, MPI_MIN, comm_);
    if (made_by_all == 0) {
      window_ = MPI_WIN_NULL;  // to free it is collective
      return;
    }
    MPI_Aint size = 0;
    int unit = 0;
    void* first = nullptr;
    MPI_Win_shared_query(window_, 0, &size, &unit, &first);
    const uintptr_t aligned = (reinterpret_cast<uintptr_t>(first) + alignof(MeetingPoint) - 1) &
                              ~static_cast<uintptr_t>(alignof(MeetingPoint) - 1);
    point_ = reinterpret_cast<MeetingPoint*>(aligned);
    if (rank == 0) new (point_) MeetingPoint;
    MPI_Barrier(comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  MeetingPoint* point_ = nullptr;
  int size_ = 1;
  bool crowded_ = false;
};

}  // namespace hocket::bench
