// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/decision.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "c_api/internal/timing/call_times.h"
#include "c_api/internal/timing/measured.h"
#include "shim/job/errors.h"

namespace hocket::interposer {
__attribute__((cold)) int raise_status(const Decision& decision, Collective collective, MPI_Comm comm,
                                       hocket_status_t status) {
  Communicator& communicator = *decision.communicator;
  if (!communicator.failure_reported) {
    communicator.failure_reported = true;
    HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(named(decision, collective)), communicator.rank,
                     communicator.size, hocket_status_name(status), hocket_error_text());
  }
  return raise_failure(decision, collective, comm);
}

int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm) {
  decision.communicator->counters.add(named(decision, collective), Outcome::kFailed);
  return raise_error(comm, MPI_ERR_OTHER);
}

__attribute__((cold)) int give_up(const Decision& decision, Collective collective, int mpi_error,
                                  const char* what_failed) {
  Communicator& communicator = *decision.communicator;
  communicator.counters.add(named(decision, collective), Outcome::kFailed);
  communicator.failure_reported = true;  // peers will tell
  if (hocket_comm_abort(communicator.comm, what_failed) != HOCKET_OK) {
    HOCKET_LOG_ERROR("%s: %s", mpi_name(collective), hocket_error_text());
  }
  return mpi_error;
}

void count(const Decision& decision, Collective collective, Outcome outcome) {
  if (decision.communicator != nullptr) {
    decision.communicator->counters.add(collective, outcome);
  } else {
    common_counters.add(collective, outcome);
  }
}

namespace {

// One rank is enough: all make the same choice.
void note_choice(Collective collective, const c_api::CallTimes& times, uint64_t waited_ns, MPI_Comm comm) {
  if (!c_api::may_be_measured(times.collective)) return;
  const uint64_t ns = times.ended_ns - times.began_ns;
  const ChoiceKey key = {collective, times.algorithm, times.bytes, times.size};
  const auto find_best = [&](ChoiceTimes& choice) {
    const std::optional<c_api::Measured> best =
        c_api::best_measured(find_communicator(comm)->comm, times.collective, times.bytes);
    if (!best) return;
    choice.best = best->algorithm;
    choice.best_us = best->us;
    choice.best_bytes = best->bytes;
    choice.best_is_shipped = best->is_shipped;
  };
  try {
    call_times.choices().add(key, ns - std::min(ns, waited_ns), find_best);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
}

}  // namespace

void note_wait(TimedCall& timed, MPI_Comm comm) {
  timed.stop();
  c_api::CallTimes times;
  // One that hocket has made for itself before may have been left.
  if (!c_api::take_last_call(times) || !timed.includes(times.began_ns)) return;
  CallWait wait;
  wait.is_known = true;
  if (times.has_waited()) {
    wait.ns = times.waited_for_late_ns;
    wait.late_rank = world_rank_of(comm, static_cast<int>(times.last_rank));
  }
  timed.note(wait);
  if (internal::job.rank == 0) note_choice(timed.collective(), times, wait.ns, comm);
}

}  // namespace hocket::interposer
