// SPDX-License-Identifier: BSD-3-Clause
#include "bench/evenness.h"

#include "base/clock.h"

namespace hocket::bench {
namespace {

constexpr size_t kMeetings = 200;
// Ranks come at different times, as after a call.
constexpr uint64_t kMostWork_ns = 20'000;

void work(size_t meeting, int rank) {
  const uint64_t draw = (meeting * 7919 + static_cast<uint64_t>(rank) * 104729) * 2654435761u;
  const uint64_t end_ns = now_ns() + draw % kMostWork_ns;
  while (now_ns() < end_ns) {
  }
}

}  // namespace

Summary time_between_first_and_last(World& world) {
  std::vector<double> last_us;
  std::vector<double> first_us;
  for (size_t meeting = 0; meeting < kMeetings; ++meeting) {
    work(meeting, world.rank());
    world.synchronize();
    last_us.push_back(static_cast<double>(now_ns()) / 1000);
    first_us.push_back(-last_us.back());
  }
  world.maximum(last_us);
  world.maximum(first_us);
  std::vector<double> between_us;
  for (size_t meeting = 0; meeting < kMeetings; ++meeting) between_us.push_back(last_us[meeting] + first_us[meeting]);
  return summarize(between_us, kMeetings);
}

}  // namespace hocket::bench
