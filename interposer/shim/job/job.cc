// SPDX-License-Identifier: BSD-3-Clause
#include "shim/job/job.h"

#include <cstdlib>

#include "base/log.h"
#include "shim/job/errors.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

Handles handles;
internal::Job internal::job;

const Settings& settings() { return internal::job.settings; }
uint64_t settings_digest() { return internal::job.settings_digest; }
int world_size() { return internal::job.size; }
bool job_spans_nodes() { return internal::job.spans_nodes; }
MPI_Comm world_comm() { return internal::job.world; }
bool is_job_of_sessions() { return internal::job.world != handles.comm_world; }
bool may_be_younger_job() { return internal::job.may_be_younger; }
MPI_Comm hidden_comm() { return internal::job.hidden_comm; }
void progress_mpi() {
  int flag = 0;
  // No such message ever comes. A probe on a communicator of this process alone would move nothing in MPICH.
  next_pmpi().Iprobe(MPI_ANY_SOURCE, 0, internal::job.hidden_comm, &flag, MPI_STATUS_IGNORE);
}
int rank_on_hidden_comm() { return internal::job.rank; }
bool has_wrong_settings() { return internal::job.has_wrong_settings; }

void end_without_memory(size_t bytes, const char* purpose) {
  HOCKET_LOG_ERROR("rank %d of %d has no memory for %zu bytes (%s) while its peers wait for it: the job ends",
                   internal::job.rank, internal::job.size, bytes, purpose);
  end_all_ranks(EXIT_FAILURE);
}

void end_without_memory() {
  HOCKET_LOG_ERROR("rank %d of %d has no memory left, in a call for which its peers wait: the job ends",
                   internal::job.rank, internal::job.size);
  end_all_ranks(EXIT_FAILURE);
}

}  // namespace hocket::interposer
