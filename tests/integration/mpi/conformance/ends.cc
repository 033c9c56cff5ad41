// SPDX-License-Identifier: BSD-3-Clause
#include "ends.h"

#include <thread>
#include <utility>
#include <vector>

namespace conformance {
namespace {

constexpr int kTag = 4711;

// A message of a rank's to itself, on the communicator of the call.
class Company {
 public:
  int begin(const Communicator& communicator, std::vector<MPI_Request>& requests) {
    requests.resize(requests.size() + 2);
    MPI_Request* const own = requests.data() + requests.size() - 2;
    const int error = MPI_Irecv(&received_, 1, MPI_INT, communicator.rank, kTag, communicator.comm, &own[0]);
    if (error != MPI_SUCCESS) return error;
    return MPI_Isend(&sent_, 1, MPI_INT, communicator.rank, kTag, communicator.comm, &own[1]);
  }
  bool has_arrived() const { return received_ == sent_; }

 private:
  int sent_ = 12345;
  int received_ = 0;
};

// Calls `look(is_over)` until it is over, or there is an error.
template <class Look>
int until_over(const Look& look) {
  for (;;) {
    bool is_over = false;
    const int error = look(is_over);
    if (error != MPI_SUCCESS || is_over) return error;
    std::this_thread::yield();  // ranks may share a core
  }
}

struct Set {
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  std::vector<int> indices;
  bool has_statuses;
  size_t left;  // not yet told to be over

  int count() const { return static_cast<int>(requests.size()); }
  MPI_Status* status() { return has_statuses ? statuses.data() : MPI_STATUS_IGNORE; }
  MPI_Status* all_statuses() { return has_statuses ? statuses.data() : MPI_STATUSES_IGNORE; }
};

// One at a time, by MPI_Waitany or MPI_Testany.
int end_any(Set& set, bool waits) {
  return until_over([&](bool& is_over) {
    int index = MPI_UNDEFINED, flag = 1;
    const int error = waits ? MPI_Waitany(set.count(), set.requests.data(), &index, set.status())
                            : MPI_Testany(set.count(), set.requests.data(), &index, &flag, set.status());
    if (error == MPI_SUCCESS && flag != 0) is_over = index == MPI_UNDEFINED || --set.left == 0;
    return error;
  });
}

int end_some(Set& set, bool waits) {
  return until_over([&](bool& is_over) {
    int number = 0;
    const int error =
        waits ? MPI_Waitsome(set.count(), set.requests.data(), &number, set.indices.data(), set.all_statuses())
              : MPI_Testsome(set.count(), set.requests.data(), &number, set.indices.data(), set.all_statuses());
    if (error != MPI_SUCCESS) return error;
    if (number != MPI_UNDEFINED) set.left -= static_cast<size_t>(number);
    is_over = number == MPI_UNDEFINED || set.left == 0;
    return error;
  });
}

int end_each(Set& set, End end) {
  for (MPI_Request& request : set.requests) {
    int error = MPI_SUCCESS;
    if (end != End::kWait) {
      error = until_over([&](bool& is_over) {
        int flag = 0;
        const int result = end == End::kTest ? MPI_Test(&request, &flag, set.status())
                                             : MPI_Request_get_status(request, &flag, set.status());
        is_over = flag != 0;
        return result;
      });
    }
    if (error == MPI_SUCCESS && end != End::kTest) error = MPI_Wait(&request, set.status());
    if (error != MPI_SUCCESS) return error;
    set.left -= 1;
  }
  return MPI_SUCCESS;
}

int end_all(Set& set, bool waits) {
  int error = MPI_SUCCESS;
  if (waits) {
    error = MPI_Waitall(set.count(), set.requests.data(), set.all_statuses());
  } else {
    error = until_over([&](bool& is_over) {
      int flag = 0;
      const int result = MPI_Testall(set.count(), set.requests.data(), &flag, set.all_statuses());
      is_over = flag != 0;
      return result;
    });
  }
  set.left = 0;
  return error;
}

int end_set(Set& set, End end) {
  switch (end) {
    case End::kWaitall:
    case End::kTestall:
      return end_all(set, end == End::kWaitall);
    case End::kWaitany:
    case End::kTestany:
      return end_any(set, end == End::kWaitany);
    case End::kWaitsome:
    case End::kTestsome:
      return end_some(set, end == End::kWaitsome);
    default:
      return end_each(set, end);
  }
}

}  // namespace

int end_request(const Case& which, const Communicator& communicator, MPI_Request& request, std::string& complaint) {
  Set set;
  set.requests = {request};
  set.has_statuses = which.has_statuses;
  Company company;
  if (which.has_company) {
    if (const int error = company.begin(communicator, set.requests); error != MPI_SUCCESS) return error;
    // Behind or before them.
    if (which.salt % 3 == 0) std::swap(set.requests.front(), set.requests.back());
  }
  const size_t place = which.has_company && which.salt % 3 == 0 ? set.requests.size() - 1 : 0;
  set.statuses.resize(set.requests.size());
  set.indices.resize(set.requests.size());
  set.left = set.requests.size();
  const int error = end_set(set, which.end);
  request = set.requests[place];
  if (error != MPI_SUCCESS || !complaint.empty()) return error;
  if (set.left != 0) complaint = "less requests have ended than there were";
  if (which.has_company && !company.has_arrived()) complaint = "a message beside the call has not arrived";
  return error;
}

}  // namespace conformance
