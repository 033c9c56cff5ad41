// SPDX-License-Identifier: BSD-3-Clause
#include "tune/race.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/clock.h"

namespace hocket::command {
namespace {

// Results of longer messages were seen to be right when shorter ones were; here only that the call succeeds is checked.
constexpr uint64_t kMostBytesChecked = 64 * 1024;
// At the first glance, a few single calls: this many times as slow as good ones, and slower by this much, is hopeless.
constexpr double kHopeless = 5;
constexpr double kHopeless_us = 10;
// What stays in the race after 2, 4, 8, ... rounds: a variant whose best time is within this factor of the leader's
// median. What comes between makes times longer and never shorter, so that one bad moment throws none out.
constexpr double kStays[] = {1.6, 1.3, 1.15, 1.1};
constexpr size_t kAlwaysStay = 3;
constexpr uint64_t kFewestRounds = 3;
constexpr uint64_t kMostRounds = 256;

class Race {
 public:
  Race(const bench::Options& options, const RaceCell& cell, bench::World& world, const bench::Buffers& buffers,
       std::span<bench::Variant* const> variants)
      : options_(options),
        world_(world),
        isolated_cell_(bench::cell_of(options, cell.collective, cell.bytes, bench::Timing::kIsolated)),
        back_to_back_cell_(bench::cell_of(options, cell.collective, cell.bytes, bench::Timing::kBackToBack)),
        isolated_(options_, isolated_cell_, world, buffers, variants),
        back_to_back_(options_, back_to_back_cell_, world, buffers, variants) {}

  std::vector<RaceResult> run(double share_s, bool drops) {
    const uint64_t begin_ns = now_ns();
    begin(drops);
    size_t prunings = 0;
    for (uint64_t round = 0; round < kMostRounds; ++round) {
      if (round >= kFewestRounds && seconds_since(begin_ns) >= share_s) break;
      isolated_.round(round % 2 == 1);
      back_to_back_.round(round % 2 == 1);
      if (drops && round > 0 && std::has_single_bit(round + 1)) prune(prunings++);
    }
    std::vector<RaceResult> results;
    for (size_t i = 0; i < isolated_.size(); ++i)
      if (isolated_.calls(i) > 0) results.push_back(result(i));
    return results;
  }

 private:
  void drop(size_t index, const std::string& why) {
    isolated_.drop(index, why);
    back_to_back_.drop(index, why);
  }

  void begin(bool drops) {
    std::vector<std::pair<double, size_t>> glances;
    for (size_t i = 0; i < isolated_.size(); ++i) {
      isolated_.verify(i, isolated_cell_.bytes <= kMostBytesChecked);
      if (isolated_.is_running(i))
        glances.emplace_back(isolated_.probe_us(i), i);
      else
        back_to_back_.drop(i, "it refuses");
    }
    std::sort(glances.begin(), glances.end());
    // Among many not against the very best, which may have been lucky: single calls of ranks on few cores may be.
    const size_t good = glances.size() > kAlwaysStay ? kAlwaysStay - 1 : 0;
    const double good_us = glances.empty() ? 0 : glances[good].first;
    for (auto& [us, index] : glances) {
      // A second glance, at another moment: something may have come between all calls of the first.
      if (drops && is_hopeless(us, good_us)) us = std::min(us, isolated_.probe_us(index));
      if (drops && is_hopeless(us, good_us))
        drop(index, "it is slow at the first glance");
      else
        back_to_back_.calibrate(index);
    }
  }

  static bool is_hopeless(double us, double good_us) { return us > good_us * kHopeless && us > good_us + kHopeless_us; }

  void prune(size_t pruning) {
    std::vector<std::pair<double, size_t>> standing;
    for (size_t i = 0; i < isolated_.size(); ++i)
      if (isolated_.is_running(i)) standing.emplace_back(result(i).us(), i);
    std::sort(standing.begin(), standing.end());
    const double factor = kStays[std::min(pruning, std::size(kStays) - 1)];
    for (size_t place = kAlwaysStay; place < standing.size(); ++place)
      if (least_us(standing[place].second) > standing.front().first * factor)
        drop(standing[place].second, "others are faster");
  }

  double least_us(size_t index) { return std::sqrt(isolated_.least_us(index) * back_to_back_.least_us(index)); }

  RaceResult result(size_t index) {
    return {index, isolated_.median_us(index), back_to_back_.median_us(index),
            isolated_.calls(index) + back_to_back_.calls(index),
            std::sqrt(isolated_.wobble(index) * back_to_back_.wobble(index))};
  }

  double seconds_since(uint64_t begin_ns) {
    double seconds = static_cast<double>(now_ns() - begin_ns) / 1e9;
    world_.maximum({&seconds, 1});
    return seconds;
  }

  const bench::Options& options_;
  bench::World& world_;
  bench::Cell isolated_cell_;
  bench::Cell back_to_back_cell_;
  bench::Contest isolated_;
  bench::Contest back_to_back_;
};

}  // namespace

double RaceResult::us() const { return std::sqrt(isolated_us * back_to_back_us); }

std::vector<RaceResult> race(const bench::Options& options, const RaceCell& cell, bench::World& world,
                             const bench::Buffers& buffers, std::span<bench::Variant* const> variants, double share_s,
                             bool drops) {
  return Race(options, cell, world, buffers, variants).run(share_s, drops);
}

}  // namespace hocket::command
