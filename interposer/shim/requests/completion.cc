// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/completion.h"

#include <mutex>
#include <vector>

#include "c_api/internal/pending.h"
#include "core/mpi_wait.h"
#include "shim/job/errors.h"
#include "shim/requests/start.h"

namespace hocket::interposer {
namespace {

using State = StartedCall::State;

// As the MPIs' of collectives, but for MPI_ERROR, which they leave alone.
void write_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  next_pmpi().Status_set_elements(status, handles.byte, 0);
  next_pmpi().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

// What a call has ended with, of the communicator where an error is raised.
struct Ended {
  int error;
  MPI_Comm comm;
};

// One that is over, for the program. An error is not raised yet.
Ended finish(StartedCall& call, MPI_Request& request, MPI_Status* status) {
  settle(call);
  write_status(status);
  if (!call.is_persistent) request = handles.request_null;
  const MPI_Comm comm = call.comm;
  return {release(call), comm};
}

// An MPI error of packing has been raised where it arose; a failure of hocket's, and what was cut off, not yet.
int raise_ended(const Ended& ended) {
  const bool is_raised = ended.error != MPI_ERR_OTHER && ended.error != MPI_ERR_TRUNCATE;
  return is_raised ? ended.error : raise_error(ended.comm, ended.error);
}

int finish_one(StartedCall& call, MPI_Request& request, MPI_Status* status) {
  return raise_ended(finish(call, request, status));
}

// Where no other thread may start calls on the communicator meanwhile, this one waits as in a blocking call.
void await_started(StartedCall& call) {
  if (is_over(call)) return;
  if (!awaited_progress.is_shared_among_threads()) {
    const std::lock_guard lock(lock_of(call));
    return c_api::await(call.request);
  }
  advance_until([&] {
    advance_started();
    return is_over(call);
  });
}

// As count_ended(), of what the MPI has ended beside hocket's calls.
void note_ended(int number) {
  if (number > 0) awaited_progress.messages_end(static_cast<uint64_t>(number));
}

// Of requests that end together.
class Errors {
 public:
  explicit Errors(MPI_Status* statuses) : statuses_(statuses) {}
  // `at`: in the statuses; `ended`: one of hocket's, by the handler of its communicator.
  void add(int at, const Ended& ended) {
    if (ended.error == MPI_SUCCESS) return;
    failed_.push_back({at, ended.error});
    if (failed_.size() == 1) (void)raise_ended(ended);
  }
  // `mpi_error`: what the MPI's own have come to, `number` statuses in all.
  int report(int mpi_error, int number) const {
    if (failed_.empty()) return mpi_error;
    if (statuses_ == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
    // Where the MPI has told no error, it has not said so in each.
    for (int i = 0; i < number && mpi_error != MPI_ERR_IN_STATUS; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
    for (const Failed& one : failed_) statuses_[one.at].MPI_ERROR = one.error;
    return MPI_ERR_IN_STATUS;
  }

 private:
  struct Failed {
    int at, error;
  };
  MPI_Status* statuses_;
  std::vector<Failed> failed_;
};

void finish_in(Errors& errors, const StartedAmong::One& one, int place, MPI_Request* requests, MPI_Status* statuses) {
  errors.add(place, finish(*one.call, requests[one.index], at(statuses, place)));
}

// The MPI's are over, with this error, and their statuses written.
int finish_all(const StartedAmong& ours, int mpi_error, const AllRequests& all) {
  if (!ours.has_others())
    for (int i = 0; i < all.count; ++i) write_status(at(all.statuses, i));
  Errors errors(all.statuses);
  for (const StartedAmong::One& one : ours.all()) finish_in(errors, one, one.index, all.requests, all.statuses);
  return errors.report(mpi_error, all.count);
}

// Completes the MPI's requests one by one: MPI_Testall examines all of them in each poll, and MPICH's fails on
// persistent collectives and on partitioned messages (4.0.2, 5.0.2). An error ends the wait; the statuses then describe
// the other requests.
class OneByOne {
 public:
  OneByOne(int count, MPI_Request* requests, MPI_Status* statuses)
      : requests_(requests), statuses_(statuses), is_over_(static_cast<size_t>(count)) {}

  int poll(bool& are_over) {
    for (; next_ < is_over_.size(); ++next_) {
      if (const int error = test(next_); error != MPI_SUCCESS) return fail(next_, error);
      if (!is_over_[next_]) break;
    }
    are_over = next_ == is_over_.size();
    // A later request may fail while this one never completes.
    if (++polls_ % kPollsPerTestOfAll != 0) return MPI_SUCCESS;
    for (size_t i = next_ + 1; i < is_over_.size(); ++i)
      if (const int error = test(i); error != MPI_SUCCESS) return fail(i, error);
    return MPI_SUCCESS;
  }

 private:
  static constexpr uint32_t kPollsPerTestOfAll = 16;

  int test(size_t i) {
    if (is_over_[i]) return MPI_SUCCESS;
    int flag = 0;
    const int error = next_pmpi().Test(&requests_[i], &flag, at(statuses_, static_cast<int>(i)));
    is_over_[i] = flag != 0;
    return error;
  }
  // The others are tested once more: null and inactive requests, hocket's among them, are not pending.
  int fail(size_t failed, int error) {
    int error_class = error;
    next_pmpi().Error_class(error, &error_class);
    if (error_class == MPI_ERR_REQUEST || error_class == MPI_ERR_ARG) return error;
    for (size_t i = 0; i < is_over_.size() && statuses_ != MPI_STATUSES_IGNORE; ++i) {
      const int found = i == failed ? error : test(i);
      statuses_[i].MPI_ERROR = found != MPI_SUCCESS ? found : is_over_[i] ? MPI_SUCCESS : MPI_ERR_PENDING;
    }
    return MPI_ERR_IN_STATUS;
  }

  MPI_Request* requests_;
  MPI_Status* statuses_;
  std::vector<bool> is_over_;
  size_t next_ = 0;
  uint32_t polls_ = 0;
};

// Where none of hocket's has ended: MPI's own test would have moved its messages.
int not_over() {
  progress_mpi();
  return MPI_SUCCESS;
}

}  // namespace

// --- one -------------------------------------------------------------------------------------------------------------

int OneRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Test(requests, &flag, status);
  is_over = flag != 0;
  return error;
}

int OneRequest::wait(StartedCall& call) const {
  await_started(call);
  return finish_one(call, *requests, status);
}

int OneRequest::test(StartedCall& call, int* flag) const {
  *flag = is_over(call) ? 1 : 0;
  return *flag != 0 ? finish_one(call, *requests, status) : not_over();
}

// --- all -------------------------------------------------------------------------------------------------------------

int AllRequests::wait_one_by_one() const {
  OneByOne all(count, requests, statuses);
  return look_until_over([&](bool& are_over) { return all.poll(are_over); });
}

int AllRequests::wait(const StartedAmong& ours) const {
  int error = MPI_SUCCESS;
  if (!ours.has_others()) {
    for (const StartedAmong::One& one : ours.all()) await_started(*one.call);
    return finish_all(ours, error, *this);
  }
  const int before = count_requests(requests, count);
  OneByOne rest(count, requests, statuses);
  bool is_rest_over = false;
  look_until_over([&](bool& are_over) {
    if (!is_rest_over) error = rest.poll(is_rest_over);
    if (error != MPI_SUCCESS) is_rest_over = true;
    are_over = is_rest_over && ours.are_over();
    return MPI_SUCCESS;
  });
  note_ended(ended(before, error));
  return finish_all(ours, error, *this);
}

int AllRequests::test(const StartedAmong& ours, int* flag) const {
  *flag = 0;
  if (!ours.are_over()) return not_over();
  int error = MPI_SUCCESS;
  *flag = 1;
  const int before = count_requests(requests, count);
  if (ours.has_others()) error = next_pmpi().Testall(count, requests, flag, statuses);
  if (*flag == 0 && error == MPI_SUCCESS) return error;
  note_ended(ended(before, error));
  return finish_all(ours, error, *this);
}

// --- any -------------------------------------------------------------------------------------------------------------

int AnyRequest::look(bool& is_over) const {
  int flag = 0;
  const int error = next_pmpi().Testany(count, requests, index, &flag, status);
  is_over = flag != 0;
  return error;
}

int AnyRequest::test_mpis(int* flag) const {
  const int error = next_pmpi().Testany(count, requests, index, flag, status);
  if (*flag == 0) return error;
  if (error == MPI_SUCCESS && *index == MPI_UNDEFINED) {  // none is active
    *flag = 0;
    return not_over();
  }
  if (awaited_progress.has_messages()) note_ended(ended(0, error));
  return error;
}

int AnyRequest::wait(const StartedAmong& ours) const {
  return look_until_over([&](bool& is_over) {
    int flag = 0;
    const int error = test(ours, &flag);
    is_over = flag != 0;
    return error;
  });
}

int AnyRequest::test(const StartedAmong& ours, int* flag) const {
  if (const StartedAmong::One* one = ours.first_over(); one != nullptr) {
    *flag = 1;
    *index = one->index;
    return finish_one(*one->call, requests[one->index], status);
  }
  *flag = 0;
  *index = MPI_UNDEFINED;
  return ours.has_others() ? test_mpis(flag) : not_over();
}

// --- some ------------------------------------------------------------------------------------------------------------

int SomeRequests::look(bool& is_over) const {
  const int error = next_pmpi().Testsome(count, requests, completed, indices, statuses);
  is_over = *completed != 0;  // also MPI_UNDEFINED: there is none to wait for
  return error;
}

int SomeRequests::wait(const StartedAmong& ours) const {
  return look_until_over([&](bool& is_over) {
    const int error = test(ours, nullptr);
    is_over = *completed != 0;
    return error;
  });
}

int SomeRequests::test(const StartedAmong& ours, int*) const {
  int error = MPI_SUCCESS;
  *completed = 0;
  if (ours.has_others()) {
    error = next_pmpi().Testsome(count, requests, completed, indices, statuses);
    if (*completed == MPI_UNDEFINED) *completed = 0;  // none of the MPI's is active
    note_ended(ended(0, error));
  }
  Errors errors(statuses);
  for (const StartedAmong::One& one : ours.all()) {
    if (!is_over(*one.call)) continue;
    indices[*completed] = one.index;
    finish_in(errors, one, *completed, requests, statuses);
    ++*completed;
  }
  if (*completed == 0) (void)not_over();
  return errors.report(error, *completed);
}

// --- asking, freeing, starting ---------------------------------------------------------------------------------------

int ask_started(StartedCall& call, int* flag, MPI_Status* status) {
  *flag = is_over(call) ? 1 : 0;
  if (*flag == 0) return not_over();
  settle(call);
  write_status(status);
  return MPI_SUCCESS;
}

void free_started(StartedCall& call) {
  if (call.has(State::kInactive)) return free_persistent(call);
  if (call.has(State::kUnderWay)) return let_go(call);
  const bool is_persistent = call.is_persistent;
  (void)release(call);
  if (is_persistent) free_persistent(call);
}

int start_persistent(StartedCall& call) {
  if (!call.has(State::kInactive)) return raise_error(call.comm, MPI_ERR_REQUEST);
  return start_again(call);
}

}  // namespace hocket::interposer
