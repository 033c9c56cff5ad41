// SPDX-License-Identifier: BSD-3-Clause
#include "shim/job/errors.h"

#include <cstdlib>

#include "c_api/internal/timing/trace.h"
#include "core/last_words.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {
namespace {

bool is_fatal_on(MPI_Comm comm) {
  MPI_Errhandler handler = handles.errors_return;
  if (next_pmpi().Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool is_fatal = handler == handles.errors_are_fatal;
  next_pmpi().Errhandler_free(&handler);
  return is_fatal;
}

}  // namespace

int raise_error(MPI_Comm comm, int code) {
  const NestedCall nested;
  // Whatever the handler does, the process may not come back from it.
  c_api::write_asked_trace();
  // MPICH ends this rank alone when MPI_Comm_call_errhandler comes upon the fatal handler, and its launcher leaves
  // those on other nodes waiting (5.0.2).
  if (is_fatal_on(comm)) end_all_ranks(code);
  next_pmpi().Comm_call_errhandler(comm, code);
  return code;
}

void end_all_ranks(int code) {
  c_api::write_asked_trace();
  let_last_words_out();
  if (job_spans_nodes()) let_others_end_first(internal::job.rank);
  const NestedCall nested;
  // Not of a smaller communicator: of that MPICH's launcher hears nothing.
  next_pmpi().Abort(world_comm(), code);
  std::_Exit(code);  // MPICH's comes back, to wait for the launcher's signal
}

}  // namespace hocket::interposer
