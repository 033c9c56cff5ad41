// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/asking.h"

#include <list>
#include <mutex>

#include "core/mpi_wait.h"
#include "shim/job/job.h"
#include "shim/types/operations.h"
#include "shim/types/types.h"

namespace hocket::interposer {
namespace {

struct Question {
  uint64_t mine = 0;
  uint64_t all = 0;
  MPI_Request request{};
};

struct Questions {
  std::mutex mutex;
  std::list<Question> open;  // of this rank, which waits for no answer
};

// Never destroyed: threads of the program may outlive static destruction.
Questions& questions() {
  static auto* const questions = new Questions;
  return *questions;
}

// False: it isn't over.
bool is_over(Question& question) {
  int flag = 0;
  return next_pmpi().Test(&question.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
}

}  // namespace

bool do_all_wait(MPI_Comm comm, bool waits_here) {
  const NestedCall nested;
  std::list<Question> one(1);
  Question& question = one.front();
  question.mine = waits_here ? 1 : 0;
  const int error = next_pmpi().Iallreduce(&question.mine, &question.all, 1, uint64_type(), minimum_operation(), comm,
                                           &question.request);
  if (error != MPI_SUCCESS) return false;
  const MpiWait wait;
  if (waits_here) return next_pmpi().Wait(&question.request, MPI_STATUS_IGNORE) == MPI_SUCCESS && question.all != 0;
  Questions& all = questions();
  const std::lock_guard lock(all.mutex);
  all.open.remove_if(is_over);
  all.open.splice(all.open.end(), one);
  return false;
}

bool do_all_say(MPI_Comm comm, bool yes) {
  const MpiWait wait;
  const uint64_t mine = yes ? 1 : 0;
  uint64_t least = 0;
  return next_pmpi().Allreduce(&mine, &least, 1, uint64_type(), minimum_operation(), comm) == MPI_SUCCESS && least != 0;
}

void end_asking() {
  Questions& all = questions();
  const std::lock_guard lock(all.mutex);
  for (Question& question : all.open) next_pmpi().Wait(&question.request, MPI_STATUS_IGNORE);
  all.open.clear();
}

}  // namespace hocket::interposer
