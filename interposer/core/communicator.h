// SPDX-License-Identifier: BSD-3-Clause
// What hocket knows of one MPI communicator, from its first collective until it is freed; without a word
// about handles, which differ from MPI to MPI.
//
// Thread safety: one communicator by one thread at a time, as MPI demands of its collectives. A non-blocking one may be
// waited for by other threads meanwhile: while `pending` isn't 0, a thread that uses `comm` holds `lock`. The list of
// all of them is locked.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "c_api/internal/call.h"
#include "c_api/internal/neighbourhood.h"
#include "c_api/internal/takeover.h"
#include "core/devices/device_trial.h"
#include "core/statistics.h"
#include "core/try_lock.h"
#include "hocket/hocket.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::interposer {

enum class Phase : uint8_t {
  kReady,     // `comm` carries calls out
  kCounting,  // set up at call number `setup_calls`, or the first after it that waits for all ranks; or takes over
  kAlone,     // one rank
  kRefused,   // for good, because of `refusal`
  kOwing,     // as kReady; ranks have still to tell each other their neighbours, in a call in which all wait
  kOnTrial,   // as kReady, until the MPI underneath turns out to be needed for devices' memory
};

// Who carries out non-blocking calls of a communicator.
enum class Begins : uint8_t {
  kNowhere,    // the MPI
  kByEngines,  // NIC engines, those that they end by themselves
  kByRanks,    // its ranks, which share memory
};

// A communicator of hocket's beside the one for all other calls, of the same ranks: persistent calls have tracks of
// their own there, as MPI lets ranks start them in any order.
struct PersistentHome {
  hocket_comm_t* comm = nullptr;
  hocket_neighbourhood_t* neighbourhood = nullptr;  // as Neighbourhood has one, where a call needed it
  std::atomic<uint64_t> free_tracks{0};  // bit i: this rank doesn't use track i + 1. Relaxed: ranks agree on tracks
  TryLock lock;                          // of `comm`
};
// Of a communicator with a topology, from the first call among neighbours on.
struct Neighbourhood {
  hocket_neighbourhood_t* handle = nullptr;  // nullptr: there is none, and won't be
  // Of one rank instead: its blocks go to itself, or nowhere.
  std::shared_ptr<const schedule::Neighbours> alone;
  // Of each neighbour, whether there is one: beyond the edge of a grid there isn't.
  std::vector<uint8_t> has_source, has_destination;
  std::vector<size_t> numbers;  // room for counts and displacements of both sides
};

inline constexpr size_t kMostHomes = 20;  // of one communicator

// nullptr: no call is left to the MPI's own algorithm.
struct LeftToMpi {
  std::unique_ptr<const c_api::ByMpi> blocking;
  // By force only: what tables say of the MPI's blocking calls tells nothing of those that are started.
  std::unique_ptr<const c_api::ByMpi> started;
};

// Persistent calls of one communicator.
struct Persistent {
  std::atomic<uint32_t> calls{0};  // that have been initialised and not freed
  // Stored with release when they are there, and deleted with the communicator.
  std::array<std::atomic<PersistentHome*>, kMostHomes> homes{};
};

// While it is kCounting.
struct Counting {
  int64_t calls = 0;
  int questions = 0;              // asked of all ranks alike, whether they wait for each other
  uint64_t calls_on_the_way = 0;  // of those that it may be set up in, how many wait for nobody
  std::unique_ptr<c_api::Takeover> takeover;
  bool is_takeover_ruled_out = false;  // on all ranks
  bool is_of_several_jobs = false;
};

struct Communicator {
  Phase phase = Phase::kCounting;
  Outcome refusal = Outcome::kArguments;
  bool failure_reported = false;
  int rank = 0;
  int size = 0;
  hocket_comm_t* comm = nullptr;
  platform::CommunicatorName* noted = nullptr;  // in this process's record, of the MPI's own calls
  Counters counters;
  Counting counting;
  std::unique_ptr<size_t[]> numbers;
  DeviceTrial trial;
  LeftToMpi by_mpi;
  Begins begins = Begins::kNowhere;
  TryLock lock;
  // Non-blocking calls that are not over: raise() and lower() below.
  std::atomic<uint32_t> pending{0};
  Persistent persistent;
  std::unique_ptr<Neighbourhood> neighbourhood;  // nullptr: no call has needed it yet
  std::atomic<bool> is_watched{false};           // by core/progress/under_way.h
  std::atomic<bool> is_closed{false};            // errors are raised by world_comm()
  bool is_gone = false;                          // the MPI's side of it

  Communicator() = default;
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
};

// `visit(home)` for each that there is.
template <typename Visit>
void for_each_home(const Communicator& communicator, const Visit& visit) {
  for (const auto& place : communicator.persistent.homes) {
    PersistentHome* const home = place.load(std::memory_order_acquire);
    if (home == nullptr) return;
    visit(*home);
  }
}

// By the thread that starts a non-blocking call, in one order with its look whether the communicator is watched (see
// core/progress/under_way.cc).
inline void raise_pending(Communicator& communicator) { communicator.pending.fetch_add(1, std::memory_order_seq_cst); }
// By the one that has seen its end and doesn't use the communicator any more. Release: pairs with the acquire in
// BesidePending. `is_shared`: threads of the program may be in the MPI at the same time.
inline void lower_pending(Communicator& communicator, bool is_shared) {
  if (is_shared)
    communicator.pending.fetch_sub(1, std::memory_order_release);
  else
    communicator.pending.store(communicator.pending.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

// A blocking call on a communicator on which others may look after non-blocking ones at the same time.
class BesidePending {
 public:
  explicit BesidePending(Communicator& communicator)
      : lock_(communicator.pending.load(std::memory_order_acquire) != 0 ? &communicator.lock : nullptr) {
    if (lock_ == nullptr) [[likely]]
      return;
    lock_->lock();
  }
  ~BesidePending() {
    if (lock_ == nullptr) [[likely]]
      return;
    lock_->unlock();
  }
  BesidePending(const BesidePending&) = delete;
  BesidePending& operator=(const BesidePending&) = delete;

 private:
  TryLock* const lock_;
};

// Room for the counts and displacements of a call, four numbers a rank; kept until the communicator goes. nullptr: no
// memory. Earlier contents are lost with the next call.
inline size_t* numbers_of(Communicator& communicator) {
  if (communicator.numbers == nullptr) [[unlikely]]
    communicator.numbers.reset(new (std::nothrow) size_t[4 * static_cast<size_t>(communicator.size)]);
  return communicator.numbers.get();
}

// Whether each of `size` ranks has something.
inline bool have_all(const size_t* counts, int size) {
  return std::find(counts, counts + size, size_t{0}) == counts + size;
}

// How its ranks tell each other what they have to, beside its calls.
struct Exchange {
  // Blocks; 0 for success.
  int (*allgather)(const void* send, void* receive, size_t bytes, void* user);
  void* user;
  // Without waiting for anybody, after so many calls; where there is none or the answer is nullptr they can't, on all
  // ranks alike.
  std::unique_ptr<c_api::Takeover> (*begin_takeover)(uint64_t calls, void* user) = nullptr;
  // How many that wait for nobody come before: many communicators are made for a few, and a takeover takes some time.
  uint64_t calls_before_takeover = 0;
  uint64_t settings = 0;  // digest_of() this job's
};

// A communicator that has been seen for the first time, in the list.
Communicator* open_communicator(int rank, int size);
void refuse(Communicator& communicator, Outcome why);

// Whether the next call may be the one that sets it up.
inline bool may_set_up_now(const Communicator& communicator, int64_t setup_calls) {
  return communicator.phase == Phase::kCounting && communicator.counting.calls + 1 >= setup_calls;
}

// Whether a call that waits for nobody is only counted, on all ranks alike. Counts it then.
inline bool count_on_the_way(Communicator& communicator, int64_t setup_calls, uint64_t calls_before_takeover) {
  Counting& counting = communicator.counting;
  const bool is_due = counting.calls + 1 >= setup_calls;
  if (is_due && (counting.is_takeover_ruled_out || counting.calls_on_the_way >= calls_before_takeover)) return false;
  ++counting.calls;
  if (is_due) ++counting.calls_on_the_way;
  return true;
}

// The next call on a communicator that isn't ready: counts it, and sets the communicator up when its time has come, in
// a call in which all ranks wait for each other. Collective in effect, as all ranks count alike. In calls that wait for
// nobody, after the first few, ranks tell each other what they have to, where they can, and the communicator takes over
// as soon as all have heard that (communicator/setup/takeover.h). kCarriedOut: it is ready now; kFailed: what the user
// has asked for can't be done, which has been told on stderr; otherwise why it isn't ready.
Outcome prepare(Communicator& communicator, int64_t setup_calls, bool waits_for_all, const Exchange& exchange);

// Other communicators need this one until close_all(), whoever closes it. One in a process.
void keep_to_the_end(hocket_comm_t* comm);
// Ends its life within hocket, on this rank alone, without waiting for peers. What peers may still use is kept until
// they are done. Calls that still come are passed through.
void close_communicator(Communicator& communicator);
// The same, and waits until all ranks have come to it.
void close_with_peers(Communicator& communicator);
// The MPI has freed the communicator: hocket's part is freed when its non-blocking calls have completed.
void forget_communicator(Communicator* communicator);
// All that are left, whatever ranks have closed before, and waits until all ranks have come to this. `progress_mpi`:
// peers may still need this rank's MPI.
void close_all(void (*progress_mpi)());

// The sums of this process over all communicators.
CounterArray read_counters();

}  // namespace hocket::interposer
