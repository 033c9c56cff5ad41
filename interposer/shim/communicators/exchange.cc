// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/exchange.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "c_api/internal/notices.h"
#include "core/devices/device_memory.h"
#include "core/endpoint.h"
#include "core/mpi_wait.h"
#include "core/wake.h"
#include "shim/communicators/communicators.h"
#include "shim/communicators/lineage.h"
#include "shim/communicators/nodes.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

// Release, and acquire: any thread that calls on an older communicator may be the first to find it.
std::atomic<hocket_comm_t*> met{nullptr};
hocket_comm_t* met_in() { return met.load(std::memory_order_acquire); }

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
  // After a look in vain. True, now and then: it is time to ask whether what is awaited can still come.
  bool pause() {
    const uint64_t now = now_ns();
    if (!is_reported_ && now - begin_ns_ >= limit_ns_) {
      report_long_wait(comm_, set_.value());
      is_reported_ = true;
    }
    wait_.pause();
    if (now - asked_ns_ < kBetweenQuestionsNs) return false;
    asked_ns_ = now;
    return true;
  }

 private:
  static constexpr uint64_t kBetweenQuestionsNs = kNanosecondsPerSecond / 10;
  const MPI_Comm comm_;
  const Result<int64_t> set_ = environment::get_integer("HOCKET_SETUP_TIMEOUT_S");
  const uint64_t limit_ns_ = set_.is_ok() ? static_cast<uint64_t>(set_.value()) * kNanosecondsPerSecond : UINT64_MAX;
  const uint64_t begin_ns_ = now_ns();
  uint64_t asked_ns_ = begin_ns_;
  bool is_reported_ = false;
  ScopedPause wait_;
};

bool by_mpi(MPI_Comm comm, const void* send, void* receive, int count) {
  MPI_Request request;
  ring_waiting();
  if (next_pmpi().Iallgather(send, count, handles.byte, receive, count, handles.byte, comm, &request) != MPI_SUCCESS)
    return false;
  LongWait wait(comm);
  for (int is_over = 0;;) {
    if (next_pmpi().Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_over != 0) return true;
    wait.pause();
  }
}

// What a rank waits for doesn't come any more once one of the ranks has ended, or another has revoked the communicator
// because of that.
bool can_come(MPI_Comm comm, const std::vector<int>& in_world) {
  return !is_revoked(comm) &&
         std::all_of(in_world.begin(), in_world.end(), [](int rank) { return c_api::is_alive(met_in(), rank); });
}

// What a rank has left is read by all before it leaves much more: what follows is a round by the MPI, or a collective
// in which all ranks wait for each other. Of those that end with an error at once it may begin three more. Nothing can
// fail between the notice and the others' ones but what ends the wait of all.
bool by_notices(MPI_Comm comm, uint64_t number, const void* send, void* receive, size_t bytes) {
  std::vector<int> in_world;
  if (!find_in_world(comm, in_world)) end_without_memory();
  LongWait wait(comm);
  c_api::leave_notice(met_in(), number, send, bytes);
  if (any_rank_waits()) std::for_each(in_world.begin(), in_world.end(), ring_rank);
  for (size_t rank = 0; rank < in_world.size(); ++rank) {
    auto* const into = static_cast<std::byte*>(receive) + rank * bytes;
    while (!c_api::read_notice(met_in(), in_world[rank], number, into, bytes)) {
      if (wait.pause() && !can_come(comm, in_world)) return false;
      progress_mpi();
    }
  }
  HOCKET_LOG_DEBUG("a communicator of %zu ranks is set up by notices", in_world.size());
  return true;
}

// What devices' memory needs, ranks have to agree on first. A rank that can't take part says so.
c_api::Joining join_job(bool wants_part) {
  hocket_comm_t* const job = met_in();
  if (job == nullptr || !wants_part) return {job, false};
  // The offer looks for drivers that were loaded meanwhile.
  const bool is_stage = device::offer() == device::DeviceOffer::kStage && !device::may_be_there();
  return {job, is_stage && endpoint() != nullptr};
}

bool has_all_ranks_in_order(MPI_Comm handle) {
  std::vector<int> in_world;
  if (!find_in_world(handle, in_world) || in_world.size() != static_cast<size_t>(world_size())) return false;
  return std::is_sorted(in_world.begin(), in_world.end());
}

}  // namespace

void meet_in(MPI_Comm handle, hocket_comm_t* comm) {
  if (have_all_met() || !c_api::has_notices(comm)) return;
  if (handle != handles.comm_world && (is_lineage_of_threads() || !has_all_ranks_in_order(handle))) return;
  keep_to_the_end(comm);
  met.store(comm, std::memory_order_release);
}
void end_meeting() { met.store(nullptr, std::memory_order_relaxed); }
bool have_all_met() { return met_in() != nullptr; }

int SetUpExchange::allgather(const void* send, void* receive, size_t bytes, void* user) {
  if (bytes > INT_MAX) return 1;
  const NestedCall nested;
  auto& self = *static_cast<SetUpExchange*>(user);
  const bool may_use_notices = std::exchange(self.is_first_, false) && bytes <= c_api::longest_notice();
  // There is room for those of one thread.
  const uint64_t number =
      may_use_notices && !is_lineage_of_threads() && had_all_met_before(self.comm_) ? number_of(self.comm_) : 0;
  if (number == 0) return by_mpi(self.comm_, send, receive, static_cast<int>(bytes)) ? 0 : 1;
  try {
    return by_notices(self.comm_, number, send, receive, bytes) ? 0 : 1;
  } catch (const std::bad_alloc&) {
    end_without_memory();  // this rank alone would go to the MPI
  }
}

std::unique_ptr<c_api::Takeover> SetUpExchange::begin_takeover(uint64_t calls, void* user) {
  const MPI_Comm comm = static_cast<SetUpExchange*>(user)->comm_;
  const uint64_t number = number_of(comm);
  std::vector<int> in_world;
  // A job on several nodes never meets.
  if (number == 0 || job_spans_nodes() || !find_in_world(comm, in_world)) return nullptr;
  int rank = 0;
  next_pmpi().Comm_rank(comm, &rank);
  return c_api::make_takeover(rank, in_world, number, calls, join_job);
}

}  // namespace hocket::interposer
