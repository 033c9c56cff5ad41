// SPDX-License-Identifier: BSD-3-Clause
#include "completion.h"

#include <algorithm>
#include <utility>

namespace conformance {
namespace {

enum class Way {
  kWait,
  kTest,
  kAskAndWait,
  kWaitAny,
  kTestAny,
  kWaitSome,
  kTestSome,
  kWaitAll,
  kTestAll,
  kSomeThenAll,
  kAnyThenEach,
};
constexpr int kWays = 11;

bool is_collective(const Pending& one) {
  return one.sort == Pending::Sort::kCollective || one.sort == Pending::Sort::kPersistentCollective;
}

class Completion {
 public:
  Completion(std::vector<Pending>& all, Random& own) : all_(all), own_(own), is_over_(all.size()) {
    for (const Pending& each : all) requests_.push_back(each.request);
    for (size_t i = 0; i < all.size(); ++i) is_over_[i] = !all[i].is_active();
    for (const Pending& each : all) has_collectives_ = has_collectives_ || is_collective(each);
    statuses_.resize(all.size());
    indices_.resize(all.size());
    ignores_statuses_ = own.chance(30);
  }

  Ended run();

 private:
  int count() const { return static_cast<int>(requests_.size()); }
  MPI_Status* status() { return ignores_statuses_ ? MPI_STATUS_IGNORE : statuses_.data(); }
  MPI_Status* statuses() { return ignores_statuses_ ? MPI_STATUSES_IGNORE : statuses_.data(); }
  std::vector<size_t> shuffled();

  void each(Way way);
  void any(bool waits, int most);
  void some(bool waits, int most);
  void all(bool waits);

  void note(std::string& text, size_t at, const std::string& what) const;
  void wrong(size_t at, const std::string& what) { note(result_.wrong, at, what); }
  void check(int error, const char* function);
  void ended(size_t at, const MPI_Status* status);
  void ended_all();

  std::vector<Pending>& all_;
  Random& own_;
  std::vector<bool> is_over_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> indices_;
  bool ignores_statuses_ = false;
  bool has_collectives_ = false;
  bool is_garbled_ = false;  // errors are returned
  Ended result_;
};

std::vector<size_t> Completion::shuffled() {
  std::vector<size_t> order(requests_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[own_.below(i)]);
  return order;
}

void Completion::note(std::string& text, size_t at, const std::string& what) const {
  if (!text.empty()) return;
  text = "request " + std::to_string(at) + " of " + std::to_string(requests_.size()) + " (sort " +
         std::to_string(static_cast<int>(all_[at].sort)) + "): " + what;
}

void Completion::check(int error, const char* function) {
  if (error == MPI_SUCCESS) return;
  is_garbled_ = true;
  const std::string text = std::string(function) + " returns " + std::to_string(error);
  (has_collectives_ ? result_.doubt : result_.wrong) = text;
}

void Completion::ended(size_t at, const MPI_Status* status) {
  if (is_over_[at]) return wrong(at, "it is said to end again");
  is_over_[at] = true;
  const Pending& one = all_[at];
  if ((requests_[at] == MPI_REQUEST_NULL) == one.is_persistent()) {
    wrong(at, one.is_persistent() ? "it is persistent, and null now" : "it is over, and not null");
  }
  if (one.is_persistent() && requests_[at] != one.request) wrong(at, "it has become another request");
  if (status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE) return;
  if (one.sort == Pending::Sort::kMessage) {
    if (status->MPI_SOURCE != one.source || status->MPI_TAG != one.tag) {
      wrong(at,
            "a message from " + std::to_string(status->MPI_SOURCE) + " with tag " + std::to_string(status->MPI_TAG));
    }
    return;
  }
  if (!is_collective(one)) return;
  int bytes = -1, is_cancelled = 1;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  MPI_Test_cancelled(status, &is_cancelled);
  if (bytes != 0) note(result_.doubt, at, "the status tells of " + std::to_string(bytes) + " bytes");
  if (is_cancelled != 0) wrong(at, "the status says that it was cancelled");
}

void Completion::ended_all() {
  const MPI_Status* all = statuses();
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (!is_over_[i]) ended(i, ignores_statuses_ ? all : all + i);
  }
}

void Completion::each(Way way) {
  for (const size_t at : shuffled()) {
    MPI_Request* request = &requests_[at];
    int is_over = 0;
    if (way == Way::kTest) {
      while (is_over == 0 && !is_garbled_) check(MPI_Test(request, &is_over, status()), "MPI_Test");
    } else {
      while (way == Way::kAskAndWait && is_over == 0 && !is_garbled_) {
        check(MPI_Request_get_status(*request, &is_over, status()), "MPI_Request_get_status");
      }
      check(MPI_Wait(request, status()), "MPI_Wait");
    }
    if (!is_over_[at]) ended(at, status());
  }
}

// `most`: how many it ends before others may go on; negative: all.
void Completion::any(bool waits, int most) {
  while (most-- != 0) {
    int at = -7, is_over = waits ? 1 : 0;
    if (waits) check(MPI_Waitany(count(), requests_.data(), &at, status()), "MPI_Waitany");
    while (is_over == 0 && !is_garbled_)
      check(MPI_Testany(count(), requests_.data(), &at, &is_over, status()), "MPI_Testany");
    if (is_garbled_ || at == MPI_UNDEFINED) break;
    if (at < 0 || at >= count()) return check(at, "MPI_Waitany or MPI_Testany ends what is none and");
    ended(static_cast<size_t>(at), status());
  }
}

void Completion::some(bool waits, int most) {
  while (most-- != 0) {
    int number = waits ? -7 : 0;
    if (waits) check(MPI_Waitsome(count(), requests_.data(), &number, indices_.data(), statuses()), "MPI_Waitsome");
    while (number == 0 && !is_garbled_) {
      check(MPI_Testsome(count(), requests_.data(), &number, indices_.data(), statuses()), "MPI_Testsome");
    }
    if (is_garbled_ || number == MPI_UNDEFINED) break;
    if (number < 1 || number > count()) return check(number, "MPI_Waitsome or MPI_Testsome");
    for (int i = 0; i < number; ++i) {
      const int at = indices_[static_cast<size_t>(i)];
      if (at < 0 || at >= count()) return check(at, "MPI_Waitsome or MPI_Testsome ends what is none and");
      ended(static_cast<size_t>(at), ignores_statuses_ ? MPI_STATUS_IGNORE : &statuses_[static_cast<size_t>(i)]);
    }
  }
}

void Completion::all(bool waits) {
  int are_over = waits ? 1 : 0;
  if (waits) check(MPI_Waitall(count(), requests_.data(), statuses()), "MPI_Waitall");
  while (are_over == 0 && !is_garbled_) {
    check(MPI_Testall(count(), requests_.data(), &are_over, statuses()), "MPI_Testall");
  }
  ended_all();
}

Ended Completion::run() {
  const auto way = static_cast<Way>(own_.below(kWays));
  switch (way) {
    case Way::kWait:
    case Way::kTest:
    case Way::kAskAndWait:
      each(way);
      break;
    case Way::kWaitAny:
    case Way::kTestAny:
      any(way == Way::kWaitAny, -1);
      break;
    case Way::kWaitSome:
    case Way::kTestSome:
      some(way == Way::kWaitSome, -1);
      break;
    case Way::kSomeThenAll:
      some(own_.chance(50), 1);
      all(own_.chance(50));
      break;
    case Way::kAnyThenEach:
      any(own_.chance(50), 2);
      each(static_cast<Way>(own_.below(3)));
      break;
    default:
      all(way == Way::kWaitAll);
  }
  for (size_t i = 0; i < requests_.size() && is_garbled_; ++i) {
    MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    is_over_[i] = true;
  }
  if (is_garbled_) result_.wrong.clear();
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (!is_over_[i]) wrong(i, "it has not been ended by way " + std::to_string(static_cast<int>(way)));
    all_[i].request = requests_[i];
  }
  for (std::string* text : {&result_.wrong, &result_.doubt}) {
    if (!text->empty()) *text += " (way " + std::to_string(static_cast<int>(way)) + ")";
  }
  return result_;
}

}  // namespace

Ended complete(std::vector<Pending>& all, Random& own) {
  if (all.empty()) return {};
  return Completion(all, own).run();
}

}  // namespace conformance
