// SPDX-License-Identifier: BSD-3-Clause
#include "shim/decision.h"

#include "base/log.h"

namespace hocket::interposer {
namespace {

// A revoked communicator is the MPI's, which raises the error. MPICH can't be asked.
bool is_revoked(MPI_Comm comm) {
  const IsRevoked ask = next_pmpi().Comm_is_revoked;
  int revoked = 0;
  return ask != nullptr && ask(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

// hocket failed: the user hears of it by the communicator's error handler, as of any other failure.
__attribute__((cold)) int raise(const Decision& decision, Collective collective, MPI_Comm comm,
                                hocket_status_t status) {
  Communicator& communicator = *decision.communicator;
  if (!communicator.failure_told) {
    communicator.failure_told = true;
    HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(collective), communicator.rank, communicator.size,
                     hocket_status_name(status), hocket_error_text());
  }
  return raise_failure(decision, collective, comm);
}

}  // namespace

bool find_open_communicator(MPI_Comm comm, Decision& decision) {
  decision.communicator = find_communicator(comm);
  if (decision.communicator == nullptr) return false;
  if (decision.communicator->phase != Phase::kRefused) [[likely]]
    return true;
  decision.why = decision.communicator->refusal;
  return false;
}

Outcome readiness(Communicator& communicator, MPI_Comm comm) {
  if (is_revoked(comm)) [[unlikely]]
    return Outcome::kFreed;
  if (communicator.phase == Phase::kReady) [[likely]]
    return Outcome::kCarriedOut;
  return prepare_communicator(communicator, comm);
}

int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm) {
  decision.communicator->counters.add(collective, Outcome::kFailed);
  const NestedCall nested;
  next_pmpi().Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

int answer(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status, int mpi_error) {
  if (status != HOCKET_OK) [[unlikely]]
    return raise(decision, collective, comm, status);
  decision.communicator->counters.add(collective, decision.why);
  return mpi_error;
}

int raise_no_memory(MPI_Comm comm) {
  const NestedCall nested;
  next_pmpi().Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}

void count(const Decision& decision, Collective collective, Outcome outcome) {
  if (decision.communicator != nullptr) {
    decision.communicator->counters.add(collective, outcome);
  } else {
    common_counters.add(collective, outcome);
  }
}

}  // namespace hocket::interposer
