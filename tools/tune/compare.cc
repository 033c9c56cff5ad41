// SPDX-License-Identifier: BSD-3-Clause
#include "tune/compare.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/endpoint.h"
#include "bench/local/ranks.h"
#include "selection/matching.h"
#include "supervision/cores.h"
#include "tune/channel.h"
#include "words/configuration.h"
#include "words/say.h"

namespace hocket::command {
namespace {

struct Contender {
  std::string name;  // as it was given
  selection::Table table;
};

struct ComparedCell {
  RaceCell cell;
  uint32_t ranks = 0;
  std::string choice[2];
  bool same = false;
  double isolated_us[2] = {0, 0};
  double back_to_back_us[2] = {0, 0};

  bool measured() const { return isolated_us[0] > 0 && isolated_us[1] > 0; }
  // First over second: above 1 the second is faster.
  double ratio() const {
    return std::sqrt(isolated_us[0] / isolated_us[1] * (back_to_back_us[0] / back_to_back_us[1]));
  }
};

// The next communicator takes this table.
void set_table(const std::string& name) {
  if (name == kShipped)
    unsetenv("HOCKET_TABLE");
  else
    setenv("HOCKET_TABLE", name.c_str(), 1);
}

std::vector<ComparedCell> cells_of(const TuneOptions& options, uint32_t ranks, const Contender (&contenders)[2]) {
  std::vector<ComparedCell> cells;
  for (const TuneCell& cell : cells_for(options, ranks)) {
    ComparedCell compared;
    compared.cell = cell.cell;
    compared.ranks = ranks;
    const selection::Query query = query_of(options, ranks, cell.cell);
    for (int i = 0; i < 2; ++i) {
      const selection::Match match = selection::find_match(query, contenders[i].table, nullptr);
      if (match.spec.algorithm != nullptr) compared.choice[i] = selection::to_text(match.spec);
    }
    compared.same = compared.choice[0] == compared.choice[1];
    cells.push_back(std::move(compared));
  }
  return cells;
}

// What one of the forked ranks does.
int measure_rank(const TuneOptions& options, const Contender (&contenders)[2], const std::vector<ComparedCell>& cells,
                 LocalWorld& world, Progress& progress, double until_s, Channel& channel) {
  const bench::Options bench = bench_options(cells_for(options, static_cast<uint32_t>(world.size())));
  bench::Endpoint endpoint(world);
  set_table(contenders[0].name);
  if (!endpoint.open(bench)) return 1;
  set_table(contenders[1].name);
  hocket_comm_t* const second = endpoint.open_another();
  if (second == nullptr) return 1;
  bench::HocketVariant variants[] = {{endpoint, bench, ""}, {endpoint, bench, "", second}};
  for (bench::HocketVariant& variant : variants) variant.never_forces();
  bench::Variant* const pointers[] = {&variants[0], &variants[1]};
  auto left =
      static_cast<double>(std::count_if(cells.begin(), cells.end(), [](const auto& cell) { return !cell.same; }));
  for (const ComparedCell& cell : cells) {
    if (cell.same) continue;
    double share_s = world.rank() == 0 ? std::max((until_s - progress.spent_s()) / left, 0.0) : 0;
    world.maximum({&share_s, 1});
    if (share_s <= 0) return 0;
    left -= 1;
    if (world.rank() == 0)
      progress.say(std::to_string(cell.ranks) + " ranks, " + std::string(name(cell.cell.collective)),
                   size_to_text(cell.cell.bytes) + " bytes");
    try {
      for (const RaceResult& result : race(bench, cell.cell, world, endpoint.buffers(), pointers, share_s, false))
        if (world.rank() == 0)
          channel.report({cell.cell.collective, cell.ranks, false, cell.cell.bytes, std::to_string(result.variant),
                          result.isolated_us, result.back_to_back_us, result.calls, result.wobble});
    } catch (const std::exception& error) {
      endpoint.abandon();
      return fail(kFailure, error.what());
    }
  }
  return 0;
}

void take_over(const std::vector<Measurement>& found, std::vector<ComparedCell>& cells) {
  for (const Measurement& one : found)
    for (ComparedCell& cell : cells) {
      if (cell.cell.collective != one.collective || cell.ranks != one.ranks || cell.cell.bytes != one.bytes) continue;
      const int side = one.variant == "0" ? 0 : 1;
      cell.isolated_us[side] = one.isolated_us;
      cell.back_to_back_us[side] = one.back_to_back_us;
    }
}

struct Tally {
  size_t cells = 0;
  size_t same = 0;
  size_t measured = 0;
  size_t first_better = 0;  // by more than noise
  size_t second_better = 0;
  double ratio_measured = 1;  // geometric means of first / second
  double ratio_all = 1;       // those with the same choice counting as 1
};

Tally tally_of(const std::vector<ComparedCell>& cells) {
  Tally tally;
  double sum = 0;
  for (const ComparedCell& cell : cells) {
    ++tally.cells;
    if (cell.same) ++tally.same;
    if (!cell.measured()) continue;
    ++tally.measured;
    sum += std::log(cell.ratio());
    if (cell.ratio() > kNoise) ++tally.second_better;
    if (cell.ratio() < 1 / kNoise) ++tally.first_better;
  }
  if (tally.measured > 0) tally.ratio_measured = std::exp(sum / static_cast<double>(tally.measured));
  if (tally.measured + tally.same > 0)
    tally.ratio_all = std::exp(sum / static_cast<double>(tally.measured + tally.same));
  return tally;
}

void print_text(const Contender (&contenders)[2], const std::vector<ComparedCell>& cells) {
  std::printf(
      "A: %s\nB: %s\nMicroseconds, isolated and back-to-back; A/B of their geometric means: above 1 B is faster.\n",
      contenders[0].name.c_str(), contenders[1].name.c_str());
  std::printf("\n%-20s %5s %8s  %-30s %9s %9s  %-30s %9s %9s %7s\n", "collective", "ranks", "bytes", "A", "isolated",
              "b-to-b", "B", "isolated", "b-to-b", "A/B");
  for (const ComparedCell& cell : cells) {
    if (!cell.measured()) continue;
    std::printf("%-20s %5u %8s  %-30s %9.4g %9.4g  %-30s %9.4g %9.4g %7.2f\n",
                std::string(name(cell.cell.collective)).c_str(), cell.ranks, size_to_text(cell.cell.bytes).c_str(),
                cell.choice[0].c_str(), cell.isolated_us[0], cell.back_to_back_us[0], cell.choice[1].c_str(),
                cell.isolated_us[1], cell.back_to_back_us[1], cell.ratio());
  }
  const Tally tally = tally_of(cells);
  std::printf("\n%zu cells: %zu with the same choice, %zu measured", tally.cells, tally.same, tally.measured);
  if (const size_t missing = tally.cells - tally.same - tally.measured; missing > 0)
    std::printf(", %zu not measured within the budget", missing);
  std::printf("\nof the measured, by more than %.0f %%: A faster in %zu, B faster in %zu\n", (kNoise - 1) * 100,
              tally.first_better, tally.second_better);
  std::printf("A/B, geometric mean: %.3f of the measured, %.3f of all (same choices counting as 1)\n",
              tally.ratio_measured, tally.ratio_all);
}

void print_json(const Contender (&contenders)[2], const std::vector<ComparedCell>& cells) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ComparedCell& cell : cells) {
    nlohmann::ordered_json row = {{"collective", name(cell.cell.collective)},
                                  {"ranks", cell.ranks},
                                  {"bytes", cell.cell.bytes},
                                  {"a", cell.choice[0]},
                                  {"b", cell.choice[1]},
                                  {"same", cell.same}};
    if (cell.measured()) {
      row["isolated_us"] = cell.isolated_us;
      row["back_to_back_us"] = cell.back_to_back_us;
      row["ratio"] = cell.ratio();
    }
    rows.push_back(std::move(row));
  }
  const Tally tally = tally_of(cells);
  const nlohmann::ordered_json all = {{"a", contenders[0].name},
                                      {"b", contenders[1].name},
                                      {"cells", rows},
                                      {"same", tally.same},
                                      {"measured", tally.measured},
                                      {"a_better", tally.first_better},
                                      {"b_better", tally.second_better},
                                      {"ratio_measured", tally.ratio_measured},
                                      {"ratio_all", tally.ratio_all}};
  std::printf("%s\n", all.dump(1).c_str());
}

}  // namespace

Result<selection::Table> table_named(const std::string& name) {
  if (name == kShipped) return selection::Table(shipped_table());
  return selection::Table::load(name);
}

int compare_tables(const TuneOptions& options, const std::string& first, const std::string& second, bool json,
                   Progress& progress) {
  forget_forced_settings();
  Contender contenders[2] = {{first, {}}, {second, {}}};
  for (Contender& contender : contenders) {
    Result<selection::Table> table = table_named(contender.name);
    if (!table.is_ok()) return fail(kFailure, table.status().message());
    contender.table = table.take();
  }
  std::vector<ComparedCell> all;
  double weights = 0;
  for (const uint32_t ranks : options.ranks) weights += weight_of(options, ranks);
  for (const uint32_t ranks : options.ranks) {
    std::vector<ComparedCell> cells = cells_of(options, ranks, contenders);
    const double weight = weight_of(options, ranks);
    const double until_s = progress.spent_s() + std::max(progress.left_s(), 0.0) * weight / weights;
    weights -= weight;
    Channel channel;
    SharedBoard board(static_cast<int>(ranks));
    if (!channel.ok() || !board.ok()) return fail(kFailure, "no shared memory for the ranks");
    const int code = fork_ranks(static_cast<int>(ranks), [&](int rank) {
      if (ranks <= options.cores) supervision::bind_to_core(rank);
      LocalWorld world(board, rank);
      return measure_rank(options, contenders, cells, world, progress, until_s, channel);
    });
    progress.clear();
    if (code != 0) return kFailure;
    take_over(channel.read(), cells);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  json ? print_json(contenders, all) : print_text(contenders, all);
  return kSuccess;
}

}  // namespace hocket::command
