// SPDX-License-Identifier: BSD-3-Clause
#include "core/statistics.h"

#include <cstdio>
#include <new>

namespace hocket::interposer {
namespace {

struct Row {
  uint64_t carried_out = 0;
  uint64_t passed_through = 0;
  uint64_t out_of_reach = 0;  // passed through where no luck would have made hocket carry them out, or by choice
  std::string why;
};

bool is_out_of_reach(Outcome outcome) {
  return outcome == Outcome::kIntercommunicator || outcome == Outcome::kOtherJob || outcome == Outcome::kOlder ||
         outcome == Outcome::kNoTags || outcome == Outcome::kArguments || outcome == Outcome::kFreed ||
         outcome == Outcome::kNotByEngines || outcome == Outcome::kMpisOwn || outcome == Outcome::kOwnOperation;
}

void append_reason(std::string& why, Outcome outcome, uint64_t calls) {
  if (!why.empty()) why += ", ";
  why += reason(outcome);
  why += " " + std::to_string(calls);
}

Row make_row(const CounterArray& sums, Collective collective) {
  Row row;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const uint64_t calls = sums[counter_index(collective, outcome)];
    if (calls == 0) continue;
    (is_by_hocket(outcome) ? row.carried_out : row.passed_through) += calls;
    if (is_out_of_reach(outcome)) row.out_of_reach += calls;
    if (outcome != Outcome::kCarriedOut) append_reason(row.why, outcome, calls);
  }
  return row;
}

void append_row(std::string& text, const char* name, const Row& row) {
  char line[160];
  std::snprintf(line, sizeof line, "hocket: %-30s %14llu %14llu   ", name,
                static_cast<unsigned long long>(row.carried_out), static_cast<unsigned long long>(row.passed_through));
  text += line + row.why + "\n";
}

}  // namespace

CommonCounters common_counters;

const char* mpi_name(Collective collective) {
  static constexpr const char* kNames[] = {
#define HOCKET_MPI_COLLECTIVE(constant, function) "MPI_" #function,
#define HOCKET_MPI_BARRIER(constant, function) "MPI_" #function,
#define HOCKET_MPI_PERSISTENT(constant, function) "MPI_" #function,
#define HOCKET_MPI_NEIGHBOR(constant, function) "MPI_" #function,
#include "base/collectives.def"
  };
  return kNames[static_cast<int>(collective)];
}

bool is_by_hocket(Outcome outcome) {
  return outcome == Outcome::kCarriedOut || outcome == Outcome::kSingleRank || outcome == Outcome::kFailed;
}

const char* reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCarriedOut:
      return "carried out";
    case Outcome::kSingleRank:
      return "single rank";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kMpisOwn:
      return "left to the MPI by choice";
    case Outcome::kDisabled:
      return "disabled";
    case Outcome::kNotSetUp:
      return "not yet set up";
    case Outcome::kIntercommunicator:
      return "intercommunicator";
    case Outcome::kOtherJob:
      return "ranks of another job";
    case Outcome::kOlder:
      return "communicator older than the job";
    case Outcome::kNoTags:
      return "no tags left between nodes";
    case Outcome::kSetUpFailed:
      return "set-up failed";
    case Outcome::kUnsupported:
      return "type and operation";
    case Outcome::kLongElements:
      return "elements longer than hocket combines";
    case Outcome::kFreed:
      return "communicator freed or revoked";
    case Outcome::kDeviceMemory:
      return "device memory";
    case Outcome::kOwnOperation:
      return "operation of the MPI's or the program's own";
    case Outcome::kNotByEngines:
      return "started calls that hocket can't end";
    case Outcome::kArguments:
      return "arguments";
  }
  return "?";
}

void CommonCounters::read(CounterArray& sums) const {
  for (size_t i = 0; i < values_.size(); ++i) sums[i] = values_[i].load(std::memory_order_relaxed);
}

Counters::~Counters() {
  for (const std::atomic<Row*>& row : rows_) delete row.load(std::memory_order_relaxed);
}

Counters::Row* Counters::make_row(Collective collective) {
  Row* const made = new (std::nothrow) Row{};
  Row* there = nullptr;
  if (made == nullptr ||
      rows_[static_cast<size_t>(collective)].compare_exchange_strong(there, made, std::memory_order_acq_rel))
    return made;
  delete made;
  return there;
}

template <typename Take>
void Counters::visit(const Take& take) const {
  for (int collective = 0; collective < kCollectives; ++collective) {
    // Acquire: as in add().
    const Row* row = rows_[static_cast<size_t>(collective)].load(std::memory_order_acquire);
    for (int outcome = 0; row != nullptr && outcome < kOutcomes; ++outcome) {
      const int index = counter_index(static_cast<Collective>(collective), static_cast<Outcome>(outcome));
      take(static_cast<size_t>(index), (*row)[static_cast<size_t>(outcome)]);
    }
  }
}

void Counters::add_to(CounterArray& sums) const {
  visit([&](size_t index, uint64_t calls) { sums[index] += calls; });
}

void CommonCounters::add(const Counters& counters) {
  counters.visit([&](size_t index, uint64_t calls) { values_[index].fetch_add(calls, std::memory_order_relaxed); });
}

std::string windows_text(uint64_t in_place, uint64_t copied) {
  if (in_place + copied == 0) return "";
  return "hocket: memory of windows: used in place " + std::to_string(in_place) + " times, copied " +
         std::to_string(copied) + " times\n";
}

std::string statistics_text(const CounterArray& sums, int ranks) {
  Row total;
  std::string text = "hocket: calls of " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks together\n");
  if (ranks == 1) text += "\n";
  char heading[100];
  std::snprintf(heading, sizeof heading, "hocket: %-30s %14s %14s   %s\n", "", "carried out", "passed through", "why");
  text += heading;
  for (int i = 0; i < kCollectives; ++i) {
    const Row row = make_row(sums, static_cast<Collective>(i));
    if (row.carried_out + row.passed_through == 0) continue;
    append_row(text, mpi_name(static_cast<Collective>(i)), row);
    total.carried_out += row.carried_out;
    total.passed_through += row.passed_through;
    total.out_of_reach += row.out_of_reach;
  }
  append_row(text, "all", total);
  const uint64_t within_reach = total.carried_out + total.passed_through - total.out_of_reach;
  if (within_reach != 0) {
    char share[160];
    std::snprintf(share, sizeof share, "hocket: %.1f %% carried out of %llu calls within its reach\n",
                  100.0 * static_cast<double>(total.carried_out) / static_cast<double>(within_reach),
                  static_cast<unsigned long long>(within_reach));
    text += share;
  }
  return text;
}

}  // namespace hocket::interposer
