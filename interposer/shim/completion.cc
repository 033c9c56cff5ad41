// SPDX-License-Identifier: BSD-3-Clause
#include "shim/completion.h"

namespace hocket::interposer {
namespace {

// Of `count` statuses that the MPI has filled in without an error.
void clear_errors(MPI_Status* statuses, int count) {
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
}

void set_error(MPI_Status* statuses, int at) {
  if (statuses != MPI_STATUSES_IGNORE) statuses[at].MPI_ERROR = MPI_ERR_OTHER;
}

}  // namespace

int raise_begun(const Failed& failed) {
  const NestedCall nested;
  next_pmpi().Comm_call_errhandler(failed.comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

int OneRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Test(requests, &flag, status);
  is_over = flag != 0;
  return error;
}

int OneRequest::tell(const std::vector<Failed>& failed) const { return raise_begun(failed.front()); }

int AllRequests::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Testall(count, requests, &flag, statuses);
  is_over = flag != 0;
  return error;
}

int AllRequests::tell(const std::vector<Failed>& failed) const {
  clear_errors(statuses, count);
  for (const Failed& one : failed) set_error(statuses, one.index);
  (void)raise_begun(failed.front());
  return MPI_ERR_IN_STATUS;
}

int AnyRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Testany(count, requests, index, &flag, status);
  is_over = flag != 0;
  return error;
}

int AnyRequest::tell(const std::vector<Failed>& failed) const {
  for (const Failed& one : failed)
    if (one.index == *index) return raise_begun(one);
  return MPI_SUCCESS;
}

int SomeRequests::look(bool& is_over) const {
  const int error = next_pmpi().Testsome(count, requests, completed, indices, statuses);
  is_over = *completed != 0;  // also MPI_UNDEFINED: there is none to wait for
  return error;
}

int SomeRequests::tell(const std::vector<Failed>& failed) const {
  int error = MPI_SUCCESS;
  for (int i = 0; i < *completed; ++i) {
    for (const Failed& one : failed) {
      if (one.index != indices[i]) continue;
      if (error == MPI_SUCCESS) {
        clear_errors(statuses, *completed);
        (void)raise_begun(one);
      }
      set_error(statuses, i);
      error = MPI_ERR_IN_STATUS;
    }
  }
  return error;
}

}  // namespace hocket::interposer
