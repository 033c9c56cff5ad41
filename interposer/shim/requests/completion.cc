// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/completion.h"

#include <algorithm>

#include "shim/job/errors.h"

namespace hocket::interposer {
namespace {

// Of `count` statuses: where the MPI has told no error, it has not said so in each.
void clear_errors(int error, MPI_Status* statuses, int count) {
  if (error == MPI_ERR_IN_STATUS) return;
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
}

void set_error(MPI_Status* statuses, int at) {
  if (statuses != MPI_STATUSES_IGNORE) statuses[at].MPI_ERROR = MPI_ERR_OTHER;
}

}  // namespace

std::vector<Failed> find_failed(const std::vector<MPI_Request>& before, const FailureWatch& watch) {
  std::vector<Failed> failed;
  for (const FailureWatch::Failure& failure : watch.failures()) {
    const auto found = std::find(before.begin(), before.end(), failure.handle);
    if (found != before.end()) failed.push_back({static_cast<int>(found - before.begin()), failure.comm});
  }
  return failed;
}

int raise_pending(const Failed& failed) { return raise_error(failed.comm, MPI_ERR_OTHER); }

int OneRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Test(requests, &flag, status);
  is_over = flag != 0;
  return error;
}

int OneRequest::report(int, const std::vector<Failed>& failed) const { return raise_pending(failed.front()); }

int AllRequests::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Testall(count, requests, &flag, statuses);
  is_over = flag != 0;
  return error;
}

int AllRequests::report(int error, const std::vector<Failed>& failed) const {
  clear_errors(error, statuses, count);
  for (const Failed& one : failed) set_error(statuses, one.index);
  (void)raise_pending(failed.front());
  return MPI_ERR_IN_STATUS;
}

int AnyRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Testany(count, requests, index, &flag, status);
  is_over = flag != 0;
  return error;
}

int AnyRequest::report(int error, const std::vector<Failed>& failed) const {
  for (const Failed& one : failed)
    if (one.index == *index) return raise_pending(one);
  return error;
}

int SomeRequests::look(bool& is_over) const {
  const int error = next_pmpi().Testsome(count, requests, completed, indices, statuses);
  is_over = *completed != 0;  // also MPI_UNDEFINED: there is none to wait for
  return error;
}

int SomeRequests::report(int error, const std::vector<Failed>& failed) const {
  clear_errors(error, statuses, *completed);
  for (int i = 0; i < *completed; ++i) {
    for (const Failed& one : failed)
      if (one.index == indices[i]) set_error(statuses, i);
  }
  (void)raise_pending(failed.front());
  return MPI_ERR_IN_STATUS;
}

}  // namespace hocket::interposer
