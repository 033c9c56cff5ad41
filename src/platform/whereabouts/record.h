// SPDX-License-Identifier: BSD-3-Clause
// The record that a process keeps of where it is: in which function each of its threads is and since when, in which
// call of which communicator, and for whom it waits. It lies in a file of memory of its own, so that other processes
// of the user can read it while its owner can't answer (observer.h), and explains itself: names are in it.
//
// Every word may be written anew while it is read; the ones that belong together are written in such an order that a
// reader who finds `what` unchanged has read what belongs to it, but for calls that follow each other in nanoseconds.
//
// Thread safety: a line belongs to one thread; peers write WakeLine and WakeCount without a lock; everything else is
// written under a lock. Any process reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hocket::platform {

// A function, entered and perhaps left.
struct FunctionStamp {
  static constexpr uint32_t kIsIn = uint32_t{1} << 16, kHasPeer = uint32_t{1} << 17, kNumber = kIsIn - 1;
  std::atomic<uint32_t> what;      // 1 + the function's number, and these bits; 0: there was none
  std::atomic<int32_t> peer;       // of a message, as the program names it
  std::atomic<int32_t> tag;        // likewise
  std::atomic<int32_t> of_all;     // the peer's rank in the job; kUnknown
  std::atomic<uint64_t> since_ns;  // entered then, by the coarse monotonic clock

  static constexpr int32_t kUnknown = -1;
  static constexpr int32_t kAny = -2;  // a peer or tag

  bool is_in() const { return (what.load(std::memory_order_relaxed) & kIsIn) != 0; }
  bool has_peer() const { return (what.load(std::memory_order_relaxed) & kHasPeer) != 0; }
};

struct alignas(64) ThreadLine {
  static constexpr uint32_t kAwaited = 8;
  std::atomic<uint32_t> thread;  // as the kernel names it; 0: the line is free
  FunctionStamp other;           // outside of collectives
  alignas(64) FunctionStamp collective;
  // The last call that was carried out or is under way, on a communicator that has this number on all of its ranks.
  std::atomic<uint64_t> communicator;
  std::atomic<uint64_t> number;  // which of its calls
  std::atomic<uint64_t> bytes;   // as its ranks agree on them
  std::atomic<uint32_t> root;
  std::atomic<uint32_t> algorithm;  // 1 + its number; 0: unknown
  // What it waits for, once it has waited for a while: ranks of that communicator that have not come, as processes.
  alignas(64) std::atomic<uint64_t> waits_since_ns;  // 0: it doesn't
  std::atomic<uint32_t> awaited_ranks;               // how many; the first of them:
  std::array<std::atomic<uint32_t>, kAwaited> awaited;
  std::atomic<uint32_t> is_left;  // 1: the call is one that the MPI carries out, and `number` counts those
};

struct CommunicatorName {
  static constexpr size_t kTextBytes = 64;
  std::atomic<uint64_t> number;  // the same on all its ranks. Written last; 0: free
  std::atomic<uint64_t> calls;   // blocking ones of its owner that were left to the MPI, the current one too
  uint32_t size, rank;
  char text[kTextBytes];  // ends with 0
};

// By which peers of its node ask a process to poll its MPI (platform/waiting/wake_board.h).
struct alignas(64) WakeLine {
  std::atomic<uint64_t> key;       // identifies the record; 0: rings are not wanted
  std::atomic<uint32_t> rings;     // a futex word: goes up with each ring
  std::atomic<uint32_t> accesses;  // likewise, with those of peers that need this process
  std::atomic<uint32_t> sleepers;  // threads of the process that sleep until the next one
  std::atomic<int32_t> rung_from;  // 1 + the core from which it was last rung
  std::atomic<int32_t> sleeps_on;  // 1 + the core on which one of these went to sleep last
};

// Which rank of a node last marked each core (platform/waiting/core_marks.h). Cores whose numbers differ by a multiple
// of kCores share an entry.
struct CoreTable {
  static constexpr uint32_t kCores = 512;
  std::atomic<uint16_t> marks[kCores];  // the low bits of 1 + the rank's index on the node; 0: none
};

// In the record of the node's first rank, for all of them.
struct alignas(64) WakeCount {
  std::atomic<uint32_t> waiting;  // ranks that want to be rung
  std::atomic<uint32_t> members;  // ranks that have this mapped
  alignas(64) CoreTable cores;
};

struct Record {
  static constexpr uint64_t kMagic = 0x31'74'65'6b'63'6f'68;  // "hocket1"
  static constexpr uint32_t kThreads = 16, kCommunicators = 128, kFunctions = 512, kAlgorithms = 128, kGone = 64;
  static constexpr size_t kNameBytes = 32, kTextBytes = 64;
  using Name = char[kNameBytes];

  std::atomic<uint64_t> magic;  // written last
  uint32_t bytes;               // of a record: another layout, another size
  uint32_t process;             // as its owner names it
  int32_t rank, ranks;          // of the job; kUnknown
  char job[kTextBytes];         // what its processes have in common
  char host[kTextBytes];
  char library[kTextBytes];  // what calls come through
  // Sums over all threads.
  alignas(64) std::atomic<uint64_t> waited_ns;  // in collectives, for peers, in waits of more than microseconds
  std::atomic<uint64_t> late_lines;             // said of late ranks by this one,
  std::atomic<uint64_t> came_after_all;         // and of these, calls that went on
  std::atomic<uint64_t> late_case;              // what was said last, as a number, of calls that the MPI carries out,
  std::atomic<uint64_t> late_times;             // and how often in a row
  std::atomic<uint64_t> unlisted;               // communicators for which there was no room
  std::atomic<uint64_t> gone_communicators;     // how many were forgotten, and the numbers of the last:
  std::atomic<uint64_t> gone[kGone];
  std::atomic<uint64_t> ended;             // 1: the process has ended its part in the job
  std::atomic<uint64_t> unlisted_threads;  // for which there was no line
  WakeLine wake;
  WakeCount wake_count;
  ThreadLine threads[kThreads];
  CommunicatorName communicators[kCommunicators];
  Name functions[kFunctions];
  Name algorithms[kAlgorithms];
};

}  // namespace hocket::platform
