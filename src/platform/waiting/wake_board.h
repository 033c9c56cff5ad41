// SPDX-License-Identifier: BSD-3-Clause
// Rings: how a rank asks a rank of its node that waits, and perhaps sleeps, to poll the MPI underneath.
//
// Each process has a line in its own record (platform/whereabouts/record.h), which its peers map through /proc when
// they first ring it. The record of the node's first rank counts the ranks that want to be rung, so that a peer that
// has something for another pays one load while no rank waits. No communicator is needed: the board is there from
// MPI_Init on.
//
//   sleeper:  seen = rings(); poll the MPI; sleep(seen, ...);      ringer:  act; ring(rank);
//
// The futex word is the number of rings itself, so a ring between the poll and the sleep ends the sleep at once.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/waiting/core_marks.h"
#include "platform/whereabouts/record.h"

namespace hocket::platform {

// Sent to peers, by which they find the record of a process.
struct WakeAddress {
  uint64_t key = 0;  // of the record; 0: there is none
  int32_t process = 0;
  int32_t descriptor = -1;
};

// How long a rank stays awake after a ring: for as long as it costs to be rung again, and twice as long each time that
// the next access comes soon after it has fallen asleep. Rings of ranks that only wait themselves don't count: such
// ranks would keep each other awake.
//
// Thread safety: one thread at a time.
class AwakeTime {
 public:
  static constexpr int64_t kShortestNs = 500'000;
  static constexpr int64_t kLongestNs = 50'000'000;

  // `accesses`: the number of rings by peers that need this rank.
  void rung(int64_t now_ns, uint32_t accesses) {
    if (accesses == accesses_) {
      until_ns_ = std::max(until_ns_, now_ns + kShortestNs);
      return;
    }
    accesses_ = accesses;
    if (until_ns_ <= now_ns) ns_ = now_ns - until_ns_ < ns_ ? std::min(2 * ns_, kLongestNs) : kShortestNs;
    until_ns_ = now_ns + ns_;
  }
  bool is_over(int64_t now_ns) const { return now_ns >= until_ns_; }

 private:
  int64_t ns_ = kShortestNs;
  int64_t until_ns_ = 0;
  uint32_t accesses_ = 0;
};

class WakeBoard {
 public:
  // `key`: a random number that becomes the record's.
  static WakeAddress publish(uint64_t key);

  // `peers`: of all ranks of the node, this one too, in the same order on all of them; `own`: its index;
  // `is_whole_job`: there are no others. nullptr: this rank has no record, or the first rank's can't be mapped.
  static std::unique_ptr<WakeBoard> join(std::vector<WakeAddress> peers, uint32_t own, bool is_whole_job);
  ~WakeBoard();
  // This rank is no longer one of those on the board. Threads that still use it do no harm.
  void retire();
  WakeBoard(const WakeBoard&) = delete;
  WakeBoard& operator=(const WakeBoard&) = delete;

  // Whether all ranks of the job have joined. Otherwise ranks that need this one may not ring it.
  bool is_complete() const;

  // How many ranks of the node want to be rung. Load it relaxed: it orders nothing.
  const std::atomic<uint32_t>& waiting() const { return first_->waiting; }
  // Asks the peer at this index, which is needed, or all, which may be, to poll, and wakes those that sleep.
  void ring(uint32_t peer);
  void ring_all();

  // This rank's own side. It wants to be rung in between:
  void enter() { first_->waiting.fetch_add(1, std::memory_order_relaxed); }
  void leave() { first_->waiting.fetch_sub(1, std::memory_order_relaxed); }
  // Acquire: what a peer did before it rang is visible.
  uint32_t rings() const { return own_->rings.load(std::memory_order_acquire); }
  // Those of ring(), as of the last rings(). Relaxed: an older number makes for a shorter time awake.
  uint32_t accesses() const { return own_->accesses.load(std::memory_order_relaxed); }
  // Until the number of rings isn't `seen` any more, or the time is over; true: the former. `also`: a futex word of
  // another kind of wake-up, which ends the sleep when it isn't 1 any more; nullptr: none. Where the kernel can't wait
  // for both (before 5.16), the sleep lasts no longer than kShortSleepNs.
  bool sleep(uint32_t seen, int64_t timeout_ns, const std::atomic<uint32_t>* also = nullptr);

  // Marks of the cores on which ranks of the node wait.
  CoreMarks& cores() { return cores_; }
  // Whether the last rank that rang was on the core on which the caller is: it came there meanwhile.
  bool is_on_ringers_core() const;

  static constexpr int64_t kShortSleepNs = 50'000;
  // A rank rings a peer no more often. A peer that was rung polls for longer than that.
  static constexpr int64_t kBetweenRingsNs = 200'000;
  static_assert(AwakeTime::kShortestNs > kBetweenRingsNs);

 private:
  WakeBoard(std::vector<WakeAddress> peers, uint32_t own, bool is_whole_job, Record* own_record, Record* first);
  WakeLine* find(uint32_t peer);
  void ring(uint32_t peer, bool is_access);

  struct Peer {
    WakeAddress address;
    std::atomic<Record*> record{nullptr};  // release, acquire: mapped when it is first rung
    std::atomic<bool> is_lost{false};      // relaxed: its record can't be mapped
    std::atomic<int64_t> rung_ns{0};       // relaxed: a ring more or less does no harm
  };
  std::unique_ptr<Peer[]> peers_;
  uint32_t size_;
  uint32_t own_index_;
  bool is_retired_ = false;
  bool is_whole_job_;
  WakeLine* own_;
  WakeCount* first_;
  CoreMarks cores_;
};

// A waiting rank's side of the board: which rings it has seen, how long it stays awake after them, and whether it wants
// to be rung.
//
// Thread safety: one thread at a time.
class RingListener {
 public:
  // Earlier rings no longer count. nullptr: there is no board.
  void listen_at(WakeBoard* board) {
    board_ = board;
    seen_ = board == nullptr ? 0 : board->rings();
    is_unnoted_ = false;
  }
  WakeBoard* board() const { return board_; }
  // Whether every rank that needs this one rings.
  bool is_complete() const { return board_ != nullptr && board_->is_complete(); }

  // Whether a peer has rung since the previous call. Reads no clock: note() follows.
  bool is_newly_rung() {
    if (board_ == nullptr) return false;
    const uint32_t rings = board_->rings();
    if (rings == seen_) [[likely]]
      return false;
    seen_ = rings;
    return is_unnoted_ = true;
  }
  // Only after a ring: whether the last ringer was on the caller's core.
  bool is_on_ringers_core() const { return board_->is_on_ringers_core(); }
  void note(int64_t now_ns) {
    if (is_unnoted_) awake_.rung(now_ns, board_->accesses());
    is_unnoted_ = false;
  }
  // A ring that has not been noted yet counts.
  bool stays_awake(int64_t now_ns) const { return is_unnoted_ || !awake_.is_over(now_ns); }

  // The rank wants to be rung until end(). True: it did not before and has to poll once more, since peers that saw no
  // waiting rank have not rung.
  bool want_rings() {
    if (wants_rings_ || board_ == nullptr) return false;
    board_->enter();
    return wants_rings_ = true;
  }
  void end() {
    if (wants_rings_) [[unlikely]]
      board_->leave();
    wants_rings_ = false;
  }
  // WakeBoard::sleep(), unless a peer has rung since the last is_newly_rung().
  bool sleep(int64_t timeout_ns, const std::atomic<uint32_t>* also = nullptr) {
    return board_->sleep(seen_, timeout_ns, also);
  }

 private:
  WakeBoard* board_ = nullptr;
  AwakeTime awake_;
  uint32_t seen_ = 0;
  bool is_unnoted_ = false;  // a ring seen since note()
  bool wants_rings_ = false;
};

}  // namespace hocket::platform
