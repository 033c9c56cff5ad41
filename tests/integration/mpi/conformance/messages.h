// SPDX-License-Identifier: BSD-3-Clause
// Messages of the program's own that are under way beside its collectives: from each rank to the next one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "completion.h"

namespace conformance {

class Messages {
 public:
  // `count` of them each turn, and one by persistent requests. The same on all ranks.
  Messages(int count, bool has_persistent, uint64_t salt);
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages();

  // Those of the persistent one, inactive.
  const std::vector<MPI_Request>& persistent() const { return persistent_; }
  void fill(uint64_t turn);
  // Begins message `which`, not the persistent one.
  void begin(int which, std::vector<Pending>& pending);
  int count() const { return count_; }
  // Of all of them, when they are over; "" if they are right.
  std::string check() const;

 private:
  int length(int which) const;
  int value(int from, int which, int at) const;

  int count_;
  bool has_persistent_;
  uint64_t salt_;
  uint64_t turn_ = 0;
  int rank_ = 0, next_ = 0, previous_ = 0;
  std::vector<std::vector<int>> sent_, received_;
  std::vector<MPI_Request> persistent_;
};

}  // namespace conformance
