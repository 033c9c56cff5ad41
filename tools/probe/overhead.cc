// SPDX-License-Identifier: BSD-3-Clause
// The processor time of a message at either end: of many sent one after the other, and of many that have arrived while
// the receiver slept, so that it only has to take them.
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "probe/site.h"

namespace hocket::probe {
namespace {

// Few enough for the buffers of most connections.
constexpr uint64_t kMost = 64;
constexpr uint64_t kMostBytes = 32 << 10;
// The sender begins when the receiver sleeps, which sleeps until all have arrived.
constexpr long kPause_us = 300;
constexpr long kSleep_us = 3000;
constexpr long kFirstPause_us = 50;

void sleep_us(long us) {
  const timespec time{0, us * 1000};
  nanosleep(&time, nullptr);
}

// The time within the calls of `begin` and of looks after what it began. Between these the rank sleeps, longer each
// time, so that looking in vain counts for little.
template <typename Begin>
double time_in_calls(Messages& messages, const Begin& begin) {
  double begin_us = now_us();
  begin();
  bool done = messages.test();
  double sum_us = now_us() - begin_us;
  for (long pause_us = kFirstPause_us; !done; pause_us = std::min(2 * pause_us, kSleep_us)) {
    sleep_us(pause_us);
    begin_us = now_us();
    done = messages.test();
    sum_us += now_us() - begin_us;
  }
  return sum_us;
}

}  // namespace

Overhead measure_overhead(Site& site, uint64_t bytes) {
  const uint64_t count = std::clamp<uint64_t>(kMostBytes / bytes, 4, kMost);
  const bool takes_part = site.is_in_pair(1);
  std::vector<std::byte> memory(takes_part ? count * bytes : 0, std::byte{1});
  Messages messages = site.messages();
  char token = 0;
  const auto send_all = [&](uint32_t partner) {
    messages.receive(partner, &token, 1);
    messages.wait_all();
    sleep_us(kPause_us);
    return time_in_calls(messages, [&] {
      for (uint64_t i = 0; i < count; ++i) messages.send(partner, memory.data() + i * bytes, bytes);
    });
  };
  const auto receive_all = [&](uint32_t partner) {
    messages.send(partner, &token, 1);
    messages.wait_all();
    for (uint64_t i = 0; i < count; ++i) messages.receive(partner, memory.data() + i * bytes, bytes);
    sleep_us(kSleep_us);
    return time_in_calls(messages, [] {});
  };
  const std::vector<Time> times = site.stopwatch.phases(takes_part, 2, [&](double* us) {
    const bool sends = site.node() == 0;
    us[sends ? 0 : 1] = sends ? send_all(site.partner()) : receive_all(site.partner());
  });
  const auto each = static_cast<double>(count);
  return {bytes, times[0].us / each, times[1].us / each};
}

}  // namespace hocket::probe
