// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/under_way.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "c_api/internal/pending.h"
#include "core/progress/progress_thread.h"

namespace hocket::interposer {
namespace {

struct Watched {
  TryLock lock;
  std::vector<Communicator*> all;
  uint32_t idle_looks = 0;  // of the program's threads, in a row
};

// Never destroyed: threads of the program may outlive static destruction.
Watched& watched_communicators() {
  static auto* watched = new Watched;
  return *watched;
}

ProgressPolicy the_policy;

// A program that starts one call after the other makes fewer in between.
constexpr uint32_t kMostIdleLooks = 64;

enum class By : uint8_t { kProgram, kMpi, kThread };

// What another thread has in hand, it moves itself. `one`: a Communicator or a PersistentHome. Who closes it takes its
// `comm` away with the lock held.
template <typename One>
bool advance_one(One& one, By by) {
  if (!one.lock.try_lock()) return false;
  bool has_moved = true;
  if (one.comm != nullptr && by == By::kProgram)
    c_api::advance(one.comm);
  else
    has_moved = one.comm != nullptr && c_api::advance_alone(one.comm);
  one.lock.unlock();
  return has_moved;
}

bool advance_both(Communicator& communicator, By by) {
  bool has_moved = advance_one(communicator, by);
  for_each_home(communicator, [&](PersistentHome& home) { has_moved = advance_one(home, by) || has_moved; });
  return has_moved;
}

// Those on which nothing is under way any more. Who starts a call raises `pending` first and then looks whether the
// communicator is watched; here it is the other way round, all in one order: one of both sees what the other has done.
void drop_idle(Watched& watched) {
  std::erase_if(watched.all, [](Communicator* one) {
    one->is_watched.store(false, std::memory_order_seq_cst);
    if (one->pending.load(std::memory_order_seq_cst) == 0) return true;
    one->is_watched.store(true, std::memory_order_seq_cst);
    return false;
  });
  internal::watched.store(static_cast<uint32_t>(watched.all.size()), std::memory_order_seq_cst);
  watched.idle_looks = 0;
}

Moves advance_all(By by) {
  Watched& watched = watched_communicators();
  if (!watched.lock.try_lock()) return Moves::kNothing;
  Moves moves = Moves::kNone;
  for (Communicator* one : watched.all) {
    if (one->pending.load(std::memory_order_relaxed) == 0) continue;
    moves = std::max(moves, advance_both(*one, by) ? Moves::kSomething : Moves::kNothing);
  }
  // Each look at the MPI comes here while a communicator is watched. The thread would not drop them while it is spared
  // its own looks by these.
  if (by != By::kThread) watched.idle_looks = moves == Moves::kNone ? watched.idle_looks + 1 : 0;
  if (watched.idle_looks >= kMostIdleLooks) drop_idle(watched);
  watched.lock.unlock();
  return moves;
}

void note_look() {
  internal::looks_made.store(internal::looks_made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Moves advance_by_thread() { return advance_all(By::kThread); }

void rest() {
  Watched& watched = watched_communicators();
  const std::lock_guard lock(watched.lock);
  drop_idle(watched);
}

}  // namespace

void begin_progress(const ProgressPolicy& policy) { the_policy = policy; }

void end_progress() { stop_progress_thread(); }

void forget_progress_thread() { forget_thread(); }

bool may_move_calls() { return the_policy.by != ProgressBy::kCalls || the_policy.is_hooked; }

void watch(Communicator& communicator, bool is_long) {
  note_look();
  if (!communicator.is_watched.load(std::memory_order_seq_cst)) {  // see drop_idle()
    Watched& watched = watched_communicators();
    const std::lock_guard lock(watched.lock);
    // Of many that come and go few are in use at a time.
    drop_idle(watched);
    if (!communicator.is_watched.exchange(true, std::memory_order_seq_cst)) watched.all.push_back(&communicator);
    internal::watched.store(static_cast<uint32_t>(watched.all.size()), std::memory_order_seq_cst);
  }
  if (the_policy.by == ProgressBy::kCalls) return;
  const bool is_eager = the_policy.by == ProgressBy::kThread;
  const Core core = the_policy.has_spare_cores || is_eager ? Core::kSpare
                    : the_policy.share_cores               ? Core::kOfSeveral
                                                           : Core::kOfRank;
  call_progress_thread({is_eager, core, is_long}, {advance_by_thread, rest});
}

void stop_watching(Communicator& communicator) {
  Watched& watched = watched_communicators();
  const std::lock_guard lock(watched.lock);
  std::erase(watched.all, &communicator);
  internal::watched.store(static_cast<uint32_t>(watched.all.size()), std::memory_order_relaxed);
}

void advance_under_way() {
  note_look();
  advance_all(By::kProgram);
}

void advance_in_mpi() {
  note_look();
  advance_all(By::kMpi);
}

}  // namespace hocket::interposer
