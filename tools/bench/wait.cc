// SPDX-License-Identifier: BSD-3-Clause
// What waiting costs: the CPU time that ranks use in a barrier which rank 0 enters late.
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "bench/bench.h"

namespace hocket::bench {
namespace {

// Of the whole process: threads that an MPI keeps for itself count, too.
double cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) { return static_cast<double>(time.tv_sec) * 1e6 + time.tv_usec; };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void sleep_for(double seconds) {
  timespec time{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  nanosleep(&time, nullptr);
}

}  // namespace

Row measure_wait(const Options& options, World& world, Variant& variant) {
  constexpr int kTimes = 3;
  Row row;
  row.collective = "wait";
  row.ranks = world.size();
  row.nodes = static_cast<int>(world.placement().count());
  row.ranks_a_node = static_cast<int>(world.placement().most());
  row.variant = variant.name();
  row.timing = name(Timing::kIsolated);
  row.summary.why_not = variant.activate(Collective::kBarrier);
  if (!row.summary.why_not.empty()) return row;
  variant.run({});
  std::vector<double> used_us;
  double most_percent = 0;
  for (int time = 0; time < kTimes; ++time) {
    world.synchronize();
    const bool late = world.rank() == 0;
    const double cpu_begin = cpu_us();
    const uint64_t begin = now_ns();
    if (late) sleep_for(options.late_s);
    const int code = variant.run({});
    const double wall_us = static_cast<double>(now_ns() - begin) / 1000;
    // The late rank has not waited.
    double values[2] = {late ? 0 : cpu_us() - cpu_begin, code == 0 ? 0.0 : 1.0};
    world.maximum(values);
    if (values[1] != 0) {
      row.summary.why_not = code != 0 ? variant.error(code) : "it failed on another rank";
      return row;
    }
    used_us.push_back(values[0]);
    double percent = late ? 0 : values[0] / wall_us * 100;
    world.maximum({&percent, 1});
    most_percent = std::max(most_percent, percent);
  }
  row.summary = summarize(used_us, kTimes);
  row.cpu_percent = most_percent;
  return row;
}

}  // namespace hocket::bench
