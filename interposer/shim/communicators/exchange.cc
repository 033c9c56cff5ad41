// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/exchange.h"

#include <climits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "c_api/internal/notices.h"
#include "core/mpi_wait.h"
#include "shim/communicators/communicators.h"
#include "shim/communicators/lineage.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

hocket_comm_t* met = nullptr;

// A rank that never comes keeps the others waiting in any MPI, so it does here; but they say so.
void report_long_wait(MPI_Comm comm, int64_t seconds) {
  int rank = 0, size = 0;
  next_pmpi().Comm_rank(comm, &rank);
  next_pmpi().Comm_size(comm, &size);
  HOCKET_LOG_WARN(
      "rank %d of a communicator of %d has waited for %lld s until all come to its first collective that "
      "hocket sets it up for, and waits on (HOCKET_SETUP_TIMEOUT_S): some rank is late, or elsewhere",
      rank, size, static_cast<long long>(seconds));
}

class LongWait {
 public:
  explicit LongWait(MPI_Comm comm) : comm_(comm) {}
  // After a look in vain.
  void pause() {
    if (!is_reported_ && now_ns() - begin_ns_ >= limit_ns_) {
      report_long_wait(comm_, set_.value());
      is_reported_ = true;
    }
    wait_.pause();
  }

 private:
  const MPI_Comm comm_;
  const Result<int64_t> set_ = environment::get_integer("HOCKET_SETUP_TIMEOUT_S");
  const uint64_t limit_ns_ = set_.is_ok() ? static_cast<uint64_t>(set_.value()) * kNanosecondsPerSecond : UINT64_MAX;
  const uint64_t begin_ns_ = now_ns();
  bool is_reported_ = false;
  MpiPause wait_;
};

bool by_mpi(MPI_Comm comm, const void* send, void* receive, int count) {
  MPI_Request request;
  if (next_pmpi().Iallgather(send, count, handles.byte, receive, count, handles.byte, comm, &request) != MPI_SUCCESS)
    return false;
  LongWait wait(comm);
  for (int is_over = 0;;) {
    if (next_pmpi().Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_over != 0) return true;
    wait.pause();
  }
}

// Nobody leaves a further notice before all have read this one: what follows it is a round by the MPI, or a collective
// in which all ranks wait for each other.
bool by_notices(MPI_Comm comm, uint64_t number, const void* send, void* receive, size_t bytes) {
  constexpr uint32_t kLooksPerQuestion = 1024;
  c_api::leave_notice(met, number, send, bytes);
  std::vector<int> in_world;
  if (!find_in_world(comm, in_world)) return false;
  LongWait wait(comm);
  uint32_t looks = 0;
  for (size_t rank = 0; rank < in_world.size(); ++rank) {
    auto* const into = static_cast<std::byte*>(receive) + rank * bytes;
    while (!c_api::read_notice(met, in_world[rank], number, into, bytes)) {
      if (++looks % kLooksPerQuestion == 0 && !c_api::is_alive(met, in_world[rank])) return false;
      wait.pause();
      progress_mpi();
    }
  }
  HOCKET_LOG_DEBUG("a communicator of %zu ranks is set up by notices", in_world.size());
  return true;
}

}  // namespace

void meet_in(hocket_comm_t* comm) { met = comm != nullptr && c_api::has_notices(comm) ? comm : nullptr; }
bool have_all_met() { return met != nullptr; }

int SetUpExchange::allgather(const void* send, void* receive, size_t bytes, void* user) {
  if (bytes > INT_MAX) return 1;
  const NestedCall nested;
  auto& self = *static_cast<SetUpExchange*>(user);
  const bool may_read = std::exchange(self.is_first_, false) && bytes <= c_api::longest_notice();
  const uint64_t number = may_read ? number_of(self.comm_) : 0;
  const bool is_done = number != 0 ? by_notices(self.comm_, number, send, receive, bytes)
                                   : by_mpi(self.comm_, send, receive, static_cast<int>(bytes));
  return is_done ? 0 : 1;
}

}  // namespace hocket::interposer
