// Sleeping until a peer has written something, and waking whoever sleeps: a futex in shared memory.
//
// The waiter announces itself, looks once more, then sleeps; the waker writes, then looks for sleepers. One of the two
// must see the other, which takes a full barrier on both sides. The waker is on every fast path, so its side is a
// compiler barrier only, and the sleeper makes all running peers execute a barrier for it (membarrier,
// MEMBARRIER_CMD_GLOBAL_EXPEDITED); where the kernel or a container refuses that, wakers pay for a fence.
// tests/model/parking.pml is a model of this protocol.
#pragma once

#include <atomic>
#include <cstdint>

namespace hocket::platform {

// Lies in memory shared by the processes; zero is its initial state.
struct alignas(64) ParkingPlace {
  std::atomic<uint32_t> parked{0};  // futex word: 1 while the owner sleeps or is about to
};
static_assert(sizeof(ParkingPlace) == 64);

// Asks the kernel once for cheap wakers. True: this process takes part (it may be a waker of peers that use the
// heavy barrier). False: its peers must be told, and fences used.
bool register_asymmetric_barrier();

// The sleeper's side: orders the announcement before the second look, against wakers in other processes.
// `asymmetric`: all wakers have registered.
void sleeper_barrier(bool asymmetric);

// The waker's side, between writing and looking for sleepers.
inline void waker_barrier(bool asymmetric) {
  if (asymmetric) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

// Sleeps while `place.parked` is 1, at most `timeout_ns`. True if woken (or parked was not 1), false on timeout.
bool park(ParkingPlace& place, int64_t timeout_ns);

// Wakes the owner if it sleeps. Cheap (one load) if it doesn't.
void unpark(ParkingPlace& place);

}  // namespace hocket::platform
