// SPDX-License-Identifier: BSD-3-Clause
// Sleeping until a peer has written something, and waking a sleeper: a futex in shared memory.
//
// The waiter announces itself, looks once more, then sleeps; the waker writes, then looks for sleepers. One of the two
// must see the other, which takes a full barrier on both sides. The waker is on every fast path, so its side is a
// compiler barrier only, and the sleeper makes all running peers execute a barrier for it (membarrier,
// MEMBARRIER_CMD_GLOBAL_EXPEDITED); where the kernel or a container refuses that, wakers pay for a fence.
// tests/model/parking.pml is a model of this protocol.
//
//   waiter:  parked = 1 (relaxed);                 waker:  write (release);
//            sleeper_barrier(asymmetric);                  waker_barrier(asymmetric);
//            if (nothing there) park(place, ns);           unpark(place);
//            parked = 0 (relaxed);
//
// The waker's own release makes its data visible; a waker that still finds 1 afterwards wakes no thread, which does no
// harm.
//
// Thread safety: one thread waits at a place at a time; any thread of any process that maps it may unpark it.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/sanitizer.h"

namespace hocket::platform {

// Lies in memory shared by the processes; zero is its initial state.
struct alignas(64) ParkingPlace {
  std::atomic<uint32_t> parked{0};  // futex word: 1 while the owner sleeps or is about to
};
static_assert(sizeof(ParkingPlace) == 64);

// Asks the kernel once for cheap wakers. True: this process takes part (it may be a waker of peers that use the
// heavy barrier). False: it must tell its peers, which then use fences. A forked child has to ask again. Takes no time
// while the process has one thread, and some ten milliseconds once it has had more: the kernel then waits for all
// processors. Asking again takes none.
bool register_asymmetric_barrier();

// A barrier against all other threads. The thread sanitizer knows no fences; a read-modify-write is one on every
// machine it runs on, and a relaxed one on a private word hides no missing order from it.
inline void full_barrier() {
#ifdef HOCKET_THREAD_SANITIZER
  std::atomic<uint32_t> word{0};
  word.fetch_add(1, std::memory_order_relaxed);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// The sleeper's side: orders the announcement before the second look, against wakers in other processes.
// `asymmetric`: all wakers have registered.
void sleeper_barrier(bool asymmetric);

// The waker's side, between writing and looking for sleepers.
inline void waker_barrier(bool asymmetric) {
  if (asymmetric) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full_barrier();
  }
}

// Sleeps while `place.parked` is 1, at most `timeout_ns`. True if woken (or parked was not 1, or a signal came),
// false on timeout.
bool park(ParkingPlace& place, int64_t timeout_ns);

// The system call of unpark.
void wake(ParkingPlace& place);

// Wakes the owner if it sleeps. Cheap (one load) if it doesn't.
inline void unpark(ParkingPlace& place) {
  // Relaxed: ordered by waker_barrier. Partner: the waiter's store of 1, before its sleeper_barrier.
  if (place.parked.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake(place);
}

}  // namespace hocket::platform
