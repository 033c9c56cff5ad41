// SPDX-License-Identifier: BSD-3-Clause
// For benchmarks: both sides of a comparison in one process, by the way that every program's calls take.
//
// All ranks must switch at the same place between their calls, and leave it switched on before MPI_Finalize.
#include "shim/job/job.h"

#include "core/communicator.h"

using hocket::interposer::Mode;
namespace internal = hocket::interposer::internal;

#define HOCKET_EXPORT extern "C" __attribute__((visibility("default")))

// 0: calls are passed through to the MPI; 1: hocket carries them out again, if it did before. What holds now: 1 or 0.
HOCKET_EXPORT int hocket_mpi_set_enabled(int enabled) {
  // Relaxed: as the mode itself. True only while this function has switched off a job that is served.
  static std::atomic<bool> paused{false};
  const Mode now = hocket::interposer::mode();
  if (enabled == 0 && now == Mode::kServing) {
    paused.store(true, std::memory_order_relaxed);
    internal::mode.store(Mode::kDisabled, std::memory_order_relaxed);
    return 0;
  }
  if (enabled != 0 && now == Mode::kDisabled && paused.load(std::memory_order_relaxed)) {
    paused.store(false, std::memory_order_relaxed);
    internal::mode.store(Mode::kServing, std::memory_order_relaxed);
    return 1;
  }
  return now == Mode::kServing ? 1 : 0;
}

// How many calls of this process hocket has carried out so far, or left to the MPI by choice.
HOCKET_EXPORT unsigned long long hocket_mpi_carried_out() {
  using namespace hocket::interposer;
  const CounterArray counters = read_counters();
  unsigned long long sum = 0;
  for (int collective = 0; collective < kCollectives; ++collective)
    for (const Outcome outcome : {Outcome::kCarriedOut, Outcome::kSingleRank, Outcome::kMpisOwn})
      sum += counters[static_cast<size_t>(counter_index(static_cast<Collective>(collective), outcome))];
  return sum;
}
