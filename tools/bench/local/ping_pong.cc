// SPDX-License-Identifier: BSD-3-Clause
#include "bench/local/ping_pong.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "bench/local/ranks.h"
#include "platform/machine/topology.h"
#include "supervision/cores.h"

namespace hocket::command {
namespace {

constexpr uint64_t kTripsPerSample = 1000;
constexpr uint64_t kMostSamples = 4000;

struct Table {
  // Each is written by one side and awaited by the other: its release pairs with the other's acquire.
  alignas(64) std::atomic<uint64_t> ping{0};
  alignas(64) std::atomic<uint64_t> pong{0};
  double samples_us[kMostSamples] = {};
};

void serve(Table& table, uint64_t samples) {
  uint64_t trip = 0;
  for (uint64_t sample = 0; sample < samples; ++sample) {
    const uint64_t begin = now_ns();
    for (uint64_t i = 0; i < kTripsPerSample; ++i) {
      table.ping.store(++trip, std::memory_order_release);
      while (table.pong.load(std::memory_order_acquire) != trip) {
      }
    }
    table.samples_us[sample] = static_cast<double>(now_ns() - begin) / 1000 / kTripsPerSample;
  }
}

void answer(Table& table, uint64_t samples) {
  for (uint64_t trip = 1; trip <= samples * kTripsPerSample; ++trip) {
    while (table.ping.load(std::memory_order_acquire) != trip) {
    }
    table.pong.store(trip, std::memory_order_release);
  }
}

}  // namespace

bench::Row ping_pong(const bench::Options& options) {
  bench::Row row;
  row.collective = "pingpong";
  row.ranks = 2;
  row.bytes = 8;
  row.variant = "cache line";
  row.timing = bench::name(bench::Timing::kBackToBack);
  if (platform::read_cpu_budget().usable() < 2) {
    row.summary.why_not = "pingpong needs two cores";
    return row;
  }
  void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    row.summary.why_not = "pingpong got no shared memory";
    return row;
  }
  Table& table = *new (memory) Table;
  const uint64_t samples = std::clamp<uint64_t>(options.iterations / kTripsPerSample, 100, kMostSamples);
  const int code = fork_ranks(2, [&](int rank) {
    supervision::bind_to_core(rank);
    rank == 0 ? serve(table, samples) : answer(table, samples);
    return 0;
  });
  if (code == 0)
    row.summary = bench::summarize({table.samples_us, table.samples_us + samples}, samples * kTripsPerSample);
  else
    row.summary.why_not = "pingpong failed";
  munmap(memory, sizeof(Table));
  return row;
}

}  // namespace hocket::command
