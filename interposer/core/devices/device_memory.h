// SPDX-License-Identifier: BSD-3-Clause
// Memory of devices, to which a program for a GPU-aware MPI passes pointers: whether an address is one of those, and
// copies from and to there. In a process without a driver of devices all this costs a look at one word.
//
// A driver may be loaded at any time, so whatever call comes next sees it (loaded_libraries.h). That an address is a
// device's is remembered by the range of its allocation, a few ranges a thread. If the program frees it and the
// address becomes host memory, the driver still copies correctly, only more slowly; after a copy that fails, the driver
// is asked anew. That an address is the host's is never remembered: a device's memory may come to
// lie there, and would be read. Only of the calling thread's own stack is it known without asking.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/devices/device_driver.h"

namespace hocket::interposer::device {

// HOCKET_DEVICE, and what becomes of a communicator's calls (docs/interposer.md).
enum class Wish : int32_t { kAutomatic, kStage, kPassThrough };

namespace internal {
// A word that is nullptr while there is nothing to ask and to look for. Acquire, with the release in device_memory.cc:
// what the word belongs to was there before.
extern std::atomic<const void* const*> watched;
Reach reach_of(const void* address);
bool must_be_staged(const void* address, size_t bytes);
}  // namespace internal

// Relaxed: the dynamic linker writes the word; what a thread sees late, the next call sees.
inline bool may_be_there() {
  const void* const* const watched = internal::watched.load(std::memory_order_acquire);
  return __builtin_expect(__atomic_load_n(watched, __ATOMIC_RELAXED) != nullptr, 0) != 0;
}

// Only the driver reads and writes what is there.
inline bool is_beyond_reach(const void* address) {
  return may_be_there() && internal::reach_of(address) == Reach::kDriver;
}

// The `bytes` there, of one allocation, are nothing to be given to hocket.
inline bool needs_staging(const void* address, size_t bytes) {
  return may_be_there() && bytes != 0 && internal::must_be_staged(address, bytes);
}

// Also of memory that turns out to be the host's. False: the driver has refused, which has been told on stderr.
bool copy(const Rows& rows, Direction direction);

// How `bytes` of a device's lie one after the other.
inline Rows one_row(const void* host, const void* device, size_t bytes) {
  return {static_cast<unsigned char*>(const_cast<void*>(host)),
          bytes,
          static_cast<unsigned char*>(const_cast<void*>(device)),
          bytes,
          bytes,
          1};
}

// Between MPI_Init and MPI_Finalize. `find_object`: a function of the MPI, or nullptr.
void begin(Wish wish, void* (*find_object)(const char* name));
void end();

// Whether this rank would leave its communicators' calls to the MPI, for the sake of devices' memory: what ranks tell
// each other when a communicator is set up.
enum class DeviceOffer : uint8_t {
  kStage,   // no driver, or an MPI that doesn't take its pointers, or a wish
  kEither,  // as it turns out
  kPassThrough,
};
DeviceOffer offer();

// Of this thread, by copy().
uint64_t copies_so_far();

}  // namespace hocket::interposer::device
