// SPDX-License-Identifier: BSD-3-Clause
// What is to be measured, and in which order.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tune/measure.h"
#include "words/median.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr uint32_t kElementBytes = 8;  // doubles; the type makes little difference to what is chosen
constexpr double kBytesOfWeight = 128 * 1024;
constexpr double kMostWeight = 8;
constexpr double kMostNoise = 1.5;

// How many blocks of the call's size a rank holds.
uint64_t blocks_of(schedule::Collective collective, uint32_t ranks) {
  return std::max({1u, schedule::input_blocks(collective, ranks), schedule::output_blocks(collective, ranks)});
}

std::vector<uint64_t> sizes_for(const TuneOptions& options, schedule::Collective collective, uint32_t ranks) {
  if (collective == schedule::Collective::kBarrier) return {0};
  if (!options.sizes.empty()) return options.sizes;
  // No rule may ask for their sizes: some that stand for all.
  if (!schedule::lengths_are_agreed(collective)) return {64, std::min<uint64_t>(options.max_bytes, 4096)};
  // Where a rank holds a block of each, longer blocks would only be copied.
  const uint64_t blocks = blocks_of(collective, ranks);
  const uint64_t most = blocks == 1 ? options.max_bytes : std::min(options.max_bytes, 4 * options.max_bytes / blocks);
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = kElementBytes; bytes <= most; bytes *= options.step) sizes.push_back(bytes);
  const uint64_t last = most / kElementBytes * kElementBytes;
  if (!sizes.empty() && last >= 2 * sizes.back()) sizes.push_back(last);
  return sizes;
}

// A collective, how many ranks on how many nodes, a size.
using Key = std::tuple<schedule::Collective, uint32_t, uint32_t, uint32_t, uint64_t>;
Key key_of(const Measurement& one) {
  const uint64_t bytes = schedule::lengths_are_agreed(one.collective) ? one.bytes : 0;
  return {one.collective, one.ranks, one.node_count(), one.ranks_a_node(), bytes};
}

}  // namespace

double usual_budget_s(uint32_t cores) { return std::clamp(30.0 * cores, 60.0, 600.0); }

std::vector<uint32_t> usual_ranks(uint32_t cores) {
  std::vector<uint32_t> ranks;
  for (uint32_t count = 2; count <= std::max(16u, 2 * cores); count *= 2) {
    if (count > cores && !ranks.empty() && ranks.back() < cores) ranks.push_back(cores);
    ranks.push_back(count);
  }
  return ranks;
}

double Measurement::us() const { return std::sqrt(isolated_us * back_to_back_us); }

std::vector<TuneCell> cells_for(const TuneOptions& options, uint32_t ranks) {
  std::vector<TuneCell> coarse;
  std::vector<TuneCell> fine;
  for (const schedule::Collective collective : options.collectives) {
    const std::vector<uint64_t> sizes = sizes_for(options, collective, ranks);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const double bytes = static_cast<double>(sizes[i] * blocks_of(collective, ranks));
      TuneCell cell{{collective, sizes[i]}, std::min(1 + bytes / kBytesOfWeight, kMostWeight)};
      (i % 3 == 0 || sizes.size() < 3 ? coarse : fine).push_back(cell);
    }
  }
  coarse.insert(coarse.end(), fine.begin(), fine.end());
  return coarse;
}

size_t cells_of_rules(const std::vector<TuneCell>& cells) {
  std::set<std::pair<schedule::Collective, uint64_t>> distinct;
  for (const TuneCell& cell : cells)
    distinct.emplace(cell.cell.collective, schedule::lengths_are_agreed(cell.cell.collective) ? cell.cell.bytes : 0);
  return distinct.size();
}

bench::Options bench_options(const std::vector<TuneCell>& cells) {
  bench::Options options;
  options.batch_us = 500;
  for (const TuneCell& cell : cells) {
    options.sizes.push_back(std::max<uint64_t>(cell.cell.bytes, 1));
    options.collectives.push_back(cell.cell.collective);
  }
  return options;
}

selection::Query query_of(const TuneOptions& options, uint32_t ranks, const RaceCell& cell) {
  return query_of(ranks, ranks > options.cores, nullptr, cell);
}

selection::Query query_of(uint32_t ranks, bool oversubscribed, const schedule::Nodes* nodes, const RaceCell& cell) {
  selection::Query query;
  query.collective = cell.collective;
  query.bytes = schedule::lengths_are_agreed(cell.collective) ? cell.bytes : 0;
  if (schedule::is_vector(cell.collective)) query.row_bytes = query.bytes * ranks;
  query.ranks = ranks;
  query.nodes = nodes;
  query.oversubscribed = oversubscribed;
  query.has_cores = !oversubscribed;
  // Where it is on, all communicators have a group, whether it gets through or not.
  query.why_no_multicast = why_no_multicast();
  query.element_bytes = cell.bytes == 0 ? 1 : static_cast<uint32_t>(bench::unit_bytes({}, cell.collective));
  return query;
}

double noise_of(const std::vector<Measurement>& measurements) {
  std::map<std::pair<Key, uint64_t>, const Measurement*> best;
  for (const Measurement& one : measurements) {
    const Measurement*& found = best[{key_of(one), one.bytes}];
    if (found == nullptr || one.us() < found->us()) found = &one;
  }
  std::vector<double> wobbles;
  for (const auto& [cell, one] : best) wobbles.push_back(one->wobble);
  return std::clamp(median_of(std::move(wobbles)), kNoise, kMostNoise);
}

// Ranks that share cores take longer for everything.
double weight_of(const TuneOptions& options, uint32_t ranks) {
  double weight = 0;
  for (const TuneCell& cell : cells_for(options, ranks)) weight += cell.weight;
  return weight * std::max(1.0, static_cast<double>(ranks) / options.cores);
}

std::vector<MeasuredCell> by_cell(const std::vector<Measurement>& measurements) {
  std::vector<MeasuredCell> cells;
  std::map<Key, size_t> places;
  // How many times each cell's entries stand for.
  std::vector<std::map<std::string, int>> sizes;
  for (const Measurement& one : measurements) {
    const Key key = key_of(one);
    const auto [place, is_new] = places.emplace(key, cells.size());
    const size_t index = place->second;
    if (is_new) {
      cells.push_back(
          {one.collective, one.ranks, one.oversubscribed, std::get<4>(key), {}, one.node_count(), one.ranks_a_node()});
      sizes.emplace_back();
    }
    // Where sizes don't count, the geometric mean over them.
    double& us = cells[index].us[one.variant];
    const int before = sizes[index][one.variant]++;
    us = before == 0 ? one.us() : std::exp((std::log(us) * before + std::log(one.us())) / (before + 1));
  }
  // A variant that was dropped at some size has no mean that could be compared.
  for (size_t i = 0; i < cells.size(); ++i) {
    int most = 0;
    for (const auto& [name, times] : sizes[i]) most = std::max(most, times);
    std::erase_if(cells[i].us, [&](const auto& entry) { return sizes[i][entry.first] < most; });
  }
  return cells;
}

}  // namespace hocket::command
