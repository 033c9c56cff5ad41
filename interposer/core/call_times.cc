// SPDX-License-Identifier: BSD-3-Clause
#include "core/call_times.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "core/report/callers.h"

namespace hocket::interposer {
namespace {

// Beyond, nobody keeps who was waited for: that takes eight bytes a rank, on each.
constexpr int kMostRanks = 1 << 17;

double seconds(uint64_t us, int ranks) { return static_cast<double>(us) / 1e6 / ranks; }

}  // namespace

CallTimes call_times;

void CallTimes::begin_job(int ranks) {
  ranks_ = ranks <= kMostRanks ? ranks : 0;
  if (ranks_ != 0) waited_for_ = new (std::nothrow) std::atomic<uint64_t>[static_cast<size_t>(ranks_)]();
  began_ns_.store(now_ns(), std::memory_order_relaxed);
}

void CallTimes::add(Collective collective, const void* caller, uint64_t ns, const CallWait& wait) {
  // Relaxed: the numbers order nothing, and are read when all calls are over.
  times_[static_cast<size_t>(collective)].fetch_add(ns, std::memory_order_relaxed);
  const uint64_t waited_ns = std::min(wait.ns, ns);
  if (wait.is_known) timed_ns_.fetch_add(ns, std::memory_order_relaxed);
  if (waited_ns != 0) {
    waited_ns_.fetch_add(waited_ns, std::memory_order_relaxed);
    if (wait.late_rank >= 0 && wait.late_rank < ranks_ && waited_for_ != nullptr)
      waited_for_[static_cast<size_t>(wait.late_rank)].fetch_add(waited_ns, std::memory_order_relaxed);
  }
  sites_.add({caller_in_program(caller), collective, 1, ns, waited_ns});
}

std::vector<uint64_t> CallTimes::waited_for() const {
  std::vector<uint64_t> ns(static_cast<size_t>(ranks_));
  // Relaxed: as above.
  for (size_t rank = 0; rank < ns.size() && waited_for_ != nullptr; ++rank)
    ns[rank] = waited_for_[rank].load(std::memory_order_relaxed);
  return ns;
}

TimeArray CallTimes::end_job() {
  TimeArray times{};
  for (size_t i = 0; i < times_.size(); ++i) times[i] = times_[i].load(std::memory_order_relaxed);
  times[kCollectives] = now_ns() - began_ns_.exchange(0, std::memory_order_relaxed);
  return times;
}

std::string times_text(const TimeArray& sums, int ranks) {
  const uint64_t within = std::accumulate(sums.begin(), sums.end() - 1, uint64_t{0});
  if (within == 0 || sums[kCollectives] == 0) return {};
  char line[160];
  std::snprintf(line, sizeof line, "hocket: %.1f %% of the time in these calls, %.3f s of %.3f s a rank:",
                100.0 * static_cast<double>(within) / static_cast<double>(sums[kCollectives]), seconds(within, ranks),
                seconds(sums[kCollectives], ranks));
  std::string text = line;
  std::vector<size_t> order(kCollectives);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(sums[b], a) < std::pair(sums[a], b); });
  const char* separator = " ";
  for (const size_t collective : order) {
    if (sums[collective] == 0) break;
    std::snprintf(line, sizeof line, "%s%s %.3f s", std::exchange(separator, ", "),
                  mpi_name(static_cast<Collective>(collective)), seconds(sums[collective], ranks));
    text += line;
  }
  return text + "\n";
}

}  // namespace hocket::interposer
