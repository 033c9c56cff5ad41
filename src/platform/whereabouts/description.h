// SPDX-License-Identifier: BSD-3-Clause
// What records say of their owners, in words, and how long a rank has waited for others.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/whereabouts/observer.h"

namespace hocket::platform {

// "MPI_Recv from rank 7, tag 3": the function, and of a message the peer in the program's own words.
std::string describe_function(const SeenRecord& record, const FunctionStamp& stamp);
// "communicator "left" of 3 ranks", "MPI_COMM_WORLD of 3 ranks", "a communicator of 3 ranks".
std::string describe_communicator(std::string_view name, uint32_t size);
// The same as well as the record knows it; "another communicator".
std::string describe_communicator(const SeenRecord& record, uint64_t number);
// What is to be said behind "which": "has been in MPI_Recv from rank 7, tag 3, for 9 s", "has made no MPI call for
// 12 s, after MPI_Send to rank 2, tag 5". `now_ns`: by the coarse clock, as stamps are.
std::string describe_place(const SeenRecord& record, uint64_t now_ns);

// A rank of a communicator that has waited for so long.
struct RankWait {
  uint32_t rank = 0;
  uint64_t ns = 0;
  bool goes_on = true;
};
// "rank 0 has waited for 12 s, and goes on waiting, for ".
std::string describe_waiting(const RankWait& wait);
// "one, two and 3 other ranks": the first few of them. Not empty.
std::string listed(const std::vector<std::string>& ranks);

// A rank that hasn't come: as its communicator numbers it, and its process as that names itself; 0: unknown.
struct LateRank {
  uint32_t rank = 0;
  uint32_t process = 0;
};
// "rank 0 has waited for 12 s, and goes on waiting, for rank 1 (process 4711 on host a, which ...)", who of them are
// in a deadlock, and how the stack of one of these, or else of the first, is seen. `late` isn't empty.
std::string describe_wait(const RankWait& wait, const std::vector<LateRank>& late,
                          const std::vector<SeenRecord>& records);

}  // namespace hocket::platform
