// SPDX-License-Identifier: BSD-3-Clause
// How many calls of each collective were carried out, how many passed through, and why: what HOCKET_STATS=1 prints.
//
// Thread safety: a Counters belongs to one communicator, on which one thread at a time calls; `common_counters`
// are for calls that have no communicator, and any thread may count there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace hocket::interposer {

// kBarrier, kBroadcast, ...: what MPI tells apart, in the order in which the rows are printed.
enum class Collective : uint8_t {
#define HOCKET_MPI_COLLECTIVE(constant, function) k##constant,
#define HOCKET_MPI_BARRIER(constant, function) k##constant,
#define HOCKET_MPI_PERSISTENT(constant, function) k##constant,
#define HOCKET_MPI_NEIGHBOR(constant, function) k##constant,
#include "base/collectives.def"
};
inline constexpr int kCollectives = 0
#define HOCKET_MPI_COLLECTIVE(...) +1
#define HOCKET_MPI_BARRIER(...) +1
#define HOCKET_MPI_PERSISTENT(...) +1
#define HOCKET_MPI_NEIGHBOR(...) +1
#include "base/collectives.def"
    ;
const char* mpi_name(Collective collective);  // "MPI_Bcast"

// The forms of a blocking collective, which follow each other in one order.
constexpr Collective shifted_by(Collective blocking, Collective first_of_form) {
  return static_cast<Collective>(static_cast<int>(blocking) + static_cast<int>(first_of_form) -
                                 static_cast<int>(Collective::kBarrier));
}
constexpr Collective nonblocking(Collective blocking) { return shifted_by(blocking, Collective::kIbarrier); }
constexpr Collective persistent(Collective blocking) { return shifted_by(blocking, Collective::kBarrierInit); }
// The same of those among neighbours.
constexpr Collective shifted_by_neighbours(Collective blocking, Collective first_of_form) {
  return static_cast<Collective>(static_cast<int>(blocking) + static_cast<int>(first_of_form) -
                                 static_cast<int>(Collective::kNeighborAllgather));
}
static_assert(nonblocking(Collective::kExscan) == Collective::kIexscan &&
              persistent(Collective::kExscan) == Collective::kExscanInit);

// What became of a call. The first two are carried out by hocket, kFailed too, with an error to the caller.
enum class Outcome : uint8_t {
  kCarriedOut,
  kSingleRank,         // on a communicator of one rank: nothing to communicate, done on the spot
  kFailed,             // hocket returned an error
  kMpisOwn,            // the MPI's own algorithm was chosen, by a table or by force
  kDisabled,           // HOCKET_DISABLE
  kNotSetUp,           // HOCKET_SETUP_CALLS not reached, or no call yet in which all ranks wait, nor a takeover
  kIntercommunicator,  // not looked at: two groups
  kOtherJob,           // has ranks outside this MPI_COMM_WORLD, which may know nothing of hocket
  kOlder,              // was there before the job began, in a program of sessions
  kNoTags,             // the wire has none left for another communicator of several nodes
  kSetUpFailed,        // the reason has been logged
  kUnsupported,        // a pair of type and operation that the MPI refuses
  kLongElements,       // of a reduction: longer than HOCKET_MAX_COMBINED_BYTES
  kFreed,              // the communicator, or the whole job, is at its end
  kDeviceMemory,       // may be a device's, and the MPI knows what to do with it
  kOwnOperation,       // started, by an operation that only the MPI can run
  kNotByEngines,       // started: between nodes, and NIC engines don't end it by themselves; or there is no track, or
                       // no topology
  kArguments,          // look wrong: the MPI shall say so in its own way
};
inline constexpr int kOutcomes = static_cast<int>(Outcome::kArguments) + 1;
const char* reason(Outcome outcome);
bool is_by_hocket(Outcome outcome);  // or was passed through

using CounterArray = std::array<uint64_t, kCollectives * kOutcomes>;

constexpr int counter_index(Collective collective, Outcome outcome) {
  return static_cast<int>(collective) * kOutcomes + static_cast<int>(outcome);
}

class Counters;

// Of calls without a communicator, and of communicators that are gone.
class CommonCounters {
 public:
  // Relaxed: the numbers order nothing, and are read when all calls are over.
  void add(Collective collective, Outcome outcome) {
    values_[counter_index(collective, outcome)].fetch_add(1, std::memory_order_relaxed);
  }
  void add(const Counters& counters);
  void read(CounterArray& sums) const;

 private:
  std::array<std::atomic<uint64_t>, kCollectives * kOutcomes> values_{};
};
extern CommonCounters common_counters;

// Of one communicator. It has room for those collectives only that are called on it: of many communicators most are
// hardly used.
class Counters {
 public:
  Counters() = default;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();
  void add(Collective collective, Outcome outcome) {
    // Acquire: pairs with the release of the thread that has made the row, which may end a request here.
    Row* row = rows_[static_cast<size_t>(collective)].load(std::memory_order_acquire);
    if (row == nullptr) [[unlikely]]
      row = make_row(collective);
    if (row != nullptr) [[likely]]
      ++(*row)[static_cast<size_t>(outcome)];
    else
      common_counters.add(collective, outcome);
  }
  void add_to(CounterArray& sums) const;

 private:
  friend class CommonCounters;
  // By counter_index() and how many, of what there is.
  template <typename Take>
  void visit(const Take& take) const;
  using Row = std::array<uint64_t, kOutcomes>;
  Row* make_row(Collective collective);  // nullptr: no memory
  std::array<std::atomic<Row*>, kCollectives> rows_{};
};

// The text for all ranks' sums.
std::string statistics_text(const CounterArray& sums, int ranks);
// Of windows' memory: how often long data in it were used as they lie, and how often a copy; "" if neither.
std::string windows_text(uint64_t in_place, uint64_t copied);

}  // namespace hocket::interposer
