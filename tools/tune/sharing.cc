// SPDX-License-Identifier: BSD-3-Clause
#include "tune/sharing.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "platform/machine/core_place.h"
#include "platform/machine/topology.h"
#include "words/median.h"

namespace hocket::command {
namespace {

constexpr size_t kCopiedBytes = 16 << 10;
constexpr uint32_t kRounds = 2000;
constexpr double kMost_s = 0.25;  // of each measurement of lines, of which there are kSeries at most
constexpr int kSeries = 4;
constexpr size_t kLeastBuffer = 4 << 20, kMostBuffer = 16 << 20;
constexpr uint32_t kMemoryRounds = 5;

cpu_set_t mask_of(const std::vector<int>& processors) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : processors) CPU_SET(processor, &mask);
  return mask;
}

void bind_to(int processor) {
  const cpu_set_t mask = mask_of({processor});
  pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask);
}

struct alignas(128) Round {
  std::atomic<uint64_t> number{0};  // the writer's: release, with what it wrote; read with acquire by its readers
  uint64_t written_ns = 0;
};
struct alignas(128) Answer {
  std::atomic<uint64_t> number{0};  // a reader's: release, with its times; read with acquire by the writer
  uint64_t seen_ns = 0;
  uint64_t copied_ns = 0;
};

struct Seen {
  double seen_us = 0;
  double copied_us = 0;
};

// One core writes, the others wait for it, and then copy what it has written; of each round the slowest counts.
Seen measure_readers(int writer, const std::vector<int>& readers, double limit_s) {
  Round round;
  std::vector<Answer> answers(readers.size());
  std::vector<char> source(kCopiedBytes);
  std::vector<std::thread> threads;
  constexpr uint64_t kEnd = ~uint64_t{0};
  for (size_t i = 0; i < readers.size(); ++i)
    threads.emplace_back([&, i] {
      bind_to(readers[i]);
      std::vector<char> own(kCopiedBytes);
      for (uint64_t next = 1;; ++next) {
        uint64_t number = 0;
        while ((number = round.number.load(std::memory_order_acquire)) < next) {
        }
        if (number == kEnd) return;
        answers[i].seen_ns = now_ns();
        std::memcpy(own.data(), source.data(), kCopiedBytes);
        answers[i].copied_ns = now_ns();
        answers[i].number.store(next, std::memory_order_release);
      }
    });
  std::vector<double> seen_us;
  std::vector<double> copied_us;
  threads.emplace_back([&] {
    bind_to(writer);
    const uint64_t begin_ns = now_ns();
    const auto limit_ns = static_cast<uint64_t>(limit_s * 1e9);
    for (uint64_t next = 1; next <= kRounds && (next == 1 || now_ns() - begin_ns < limit_ns); ++next) {
      std::memset(source.data(), static_cast<int>(next & 0x7f), kCopiedBytes);
      round.written_ns = now_ns();
      round.number.store(next, std::memory_order_release);
      double seen = 0;
      double copied = 0;
      for (Answer& answer : answers) {
        while (answer.number.load(std::memory_order_acquire) < next) {
        }
        seen = std::max(seen, static_cast<double>(answer.seen_ns) - static_cast<double>(round.written_ns));
        copied = std::max(copied, static_cast<double>(answer.copied_ns - answer.seen_ns));
      }
      seen_us.push_back(seen / 1e3);
      copied_us.push_back(copied / 1e3);
    }
    round.number.store(kEnd, std::memory_order_release);
  });
  for (std::thread& thread : threads) thread.join();
  return {median_of(seen_us), median_of(copied_us)};
}

// What one of them takes for a KiB while all copy what no cache holds.
double measure_memory(const std::vector<int>& processors, uint64_t cache_kib) {
  const uint64_t share = 2 * cache_kib * 1024 / processors.size();
  const size_t bytes = std::clamp<size_t>(share, kLeastBuffer, kMostBuffer);
  std::atomic<uint32_t> arrived{0};  // relaxed: only when all are there counts
  std::vector<double> us_per_kib(processors.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < processors.size(); ++i)
    threads.emplace_back([&, i] {
      bind_to(processors[i]);
      const std::vector<char> source(bytes, 1);
      std::vector<char> destination(bytes, 2);
      std::vector<double> times;
      for (uint32_t round = 1; round <= kMemoryRounds; ++round) {
        arrived.fetch_add(1, std::memory_order_relaxed);
        while (arrived.load(std::memory_order_relaxed) < round * processors.size()) {
        }
        const uint64_t begin_ns = now_ns();
        std::memcpy(destination.data(), source.data(), bytes);
        times.push_back(static_cast<double>(now_ns() - begin_ns) / 1e3);
      }
      us_per_kib[i] = median_of(times) * 1024 / static_cast<double>(bytes);
    });
  for (std::thread& thread : threads) thread.join();
  return median_of(us_per_kib);
}

std::vector<int> first_allowed(uint32_t cores) {
  const cpu_set_t allowed = platform::read_cpu_budget().allowed;
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE && processors.size() < cores; ++processor)
    if (CPU_ISSET(processor, &allowed)) processors.push_back(processor);
  return processors;
}

}  // namespace

void put_into(const Sharing& found, simulation::CostParameters& parameters) {
  if (found.readers > 1) {
    parameters.hot_line_us = std::max(found.all_seen_us - found.seen_us, 0.0) / (found.readers - 1);
    if (found.kib > 0) parameters.source_us_per_kib = found.all_copied_us / found.kib / found.readers;
  }
  if (found.copiers > 1) parameters.memory_us_per_kib = found.memory_us_per_kib / found.copiers;
  double simulation::CostParameters::* const lines[] = {&simulation::CostParameters::other_cache_us,
                                                        &simulation::CostParameters::other_socket_us};
  double simulation::CostParameters::* const kibs[] = {&simulation::CostParameters::other_cache_us_per_kib,
                                                       &simulation::CostParameters::other_socket_us_per_kib};
  for (size_t i = 0; i < std::size(lines); ++i) {
    if (found.farther_seen_us[i] <= 0) continue;
    parameters.*lines[i] = std::max(found.farther_seen_us[i] - found.seen_us, 0.0);
    if (found.kib > 0) parameters.*kibs[i] = std::max(found.farther_copied_us[i] - found.copied_us, 0.0) / found.kib;
  }
}

Neighbours neighbours_of(const std::vector<int>& processors, const std::string& folder) {
  const platform::CorePlace home = platform::core_place_of(mask_of({processors[0]}), folder);
  std::set<int> cores = {platform::core_of(processors[0], folder)};
  Neighbours found;
  for (size_t i = 1; i < processors.size(); ++i) {
    // Threads of one core share more than a cache of the last level.
    if (!cores.insert(platform::core_of(processors[i], folder)).second) continue;
    const platform::CorePlace place = platform::core_place_of(mask_of({processors[i]}), folder);
    const bool same_socket = place.socket == home.socket;
    int& farther = found.farther[same_socket ? 0 : 1];
    if (same_socket && place.cache == home.cache)
      found.near.push_back(processors[i]);
    else if (farther < 0)
      farther = processors[i];
  }
  return found;
}

namespace {

// Lines and caches, as seen from the first processor.
void measure_lines(int home, const Neighbours& neighbours, double limit_s, Sharing& found) {
  found.kib = static_cast<double>(kCopiedBytes) / 1024;
  if (neighbours.near.size() >= 2) {
    const Seen all = measure_readers(home, neighbours.near, limit_s);
    found.readers = static_cast<uint32_t>(neighbours.near.size());
    found.all_seen_us = all.seen_us;
    found.all_copied_us = all.copied_us;
  }
  const int nearest = neighbours.near.empty() ? neighbours.farther[0] : neighbours.near[0];
  if (nearest < 0) return;
  const Seen one = measure_readers(home, {nearest}, limit_s);
  found.seen_us = one.seen_us;
  found.copied_us = one.copied_us;
  for (size_t i = 0; i < std::size(neighbours.farther); ++i) {
    if (neighbours.farther[i] < 0 || neighbours.farther[i] == nearest) continue;
    const Seen far = measure_readers(home, {neighbours.farther[i]}, limit_s);
    found.farther_seen_us[i] = far.seen_us;
    found.farther_copied_us[i] = far.copied_us;
  }
}

}  // namespace

simulation::CostParameters measure_sharing(uint32_t cores, double limit_s, const std::string& folder) {
  simulation::CostParameters parameters;
  parameters.cores = cores;
  const std::vector<int> processors = first_allowed(cores);
  const platform::CacheGroups groups = platform::cache_groups_of(mask_of(processors), folder);
  parameters.caches = groups.caches;
  parameters.sockets = groups.sockets;
  parameters.memory_after_kib = static_cast<double>(groups.cache_kib);
  if (processors.size() < 2) return parameters;
  Sharing found;
  measure_lines(processors[0], neighbours_of(processors, folder), std::min(limit_s / kSeries, kMost_s), found);
  // What no cache holds is not known where it isn't known what caches hold.
  if (groups.cache_kib > 0) {
    found.copiers = static_cast<uint32_t>(processors.size());
    found.memory_us_per_kib = measure_memory(processors, groups.cache_kib);
  }
  put_into(found, parameters);
  return parameters;
}

}  // namespace hocket::command
