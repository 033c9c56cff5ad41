// SPDX-License-Identifier: BSD-3-Clause
// What records say of their owners, in words, and who of them wait for each other.
//
// Thread safety: pure functions.
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
// 12 s, after MPI_Send to rank 2, tag 5"; "": the record doesn't tell. `now_ns`: by the coarse clock, as stamps are.
std::string describe_place(const SeenRecord& record, uint64_t now_ns);

// The first that wait for each other in a ring, each for the next one and the last for the first, that is found from
// `process` on, as records name it; each for a second at least. Empty: there is none. Points into `records`, which are
// of one job.
std::vector<const SeenRecord*> find_deadlock(const std::vector<SeenRecord>& records, uint32_t process, uint64_t now_ns);
// "rank 0 waits for rank 1, rank 1 for rank 0".
std::string describe_deadlock(const std::vector<const SeenRecord*>& ring);

}  // namespace hocket::platform
