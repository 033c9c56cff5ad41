// SPDX-License-Identifier: BSD-3-Clause
// All cells, one after the other.
#include <cstdio>
#include <exception>

#include "bench/bench.h"

namespace hocket::bench {
namespace {

std::vector<Cell> cells_of(const Options& options, Collective collective) {
  std::vector<Cell> cells;
  for (Timing timing : options.timings) {
    if (collective == Collective::kBarrier) {
      cells.push_back(cell_of(options, collective, 0, timing));
      continue;
    }
    uint64_t last_bytes = 0;
    for (uint64_t bytes : options.sizes) {
      const Cell cell = cell_of(options, collective, bytes, timing);
      // A size below one element has no cell of its own, nor have two sizes of the same count.
      if (cell.count == 0 || cell.bytes == last_bytes) continue;
      last_bytes = cell.bytes;
      cells.push_back(cell);
    }
  }
  return cells;
}

Row row_of(const Cell& cell, const World& world, const Halo& halo, const Variant& variant, Summary summary) {
  Row row;
  if (schedule::is_among_neighbors(cell.collective)) {
    row.grid = halo.grid;
    row.periodic = halo.periodic;
    row.stencil = halo.stencil;
  }
  row.collective = name(cell.collective);
  row.ranks = world.size();
  row.nodes = static_cast<int>(world.placement().count());
  row.ranks_a_node = static_cast<int>(world.placement().most());
  row.bytes = cell.bytes;
  row.variant = variant.name();
  row.timing = name(cell.timing);
  row.summary = std::move(summary);
  return row;
}

bool complain(const std::string& problem) {
  std::fflush(stdout);
  std::fprintf(stderr, "hocket bench: %s\n", problem.c_str());
  return false;
}

}  // namespace

bool Suite::run(Collective collective, std::span<Variant* const> variants) {
  const std::vector<Cell> cells = cells_of(options_, collective);
  for (size_t i = 0; i < cells.size(); ++i) {
    reporter_.progress("[" + std::to_string(i + 1) + "/" + std::to_string(cells.size()) + "] " +
                       std::string(name(collective)) + " " + std::to_string(cells[i].bytes) + " bytes, " +
                       std::string(name(cells[i].timing)));
    std::vector<Row> rows;
    try {
      std::vector<Summary> summaries = measure(options_, cells[i], world_, buffers_, variants);
      for (size_t v = 0; v < variants.size(); ++v)
        rows.push_back(row_of(cells[i], world_, options_.halo, *variants[v], std::move(summaries[v])));
    } catch (const std::exception& error) {
      return complain(error.what());
    }
    reporter_.cell(rows);
  }
  return true;
}

bool Suite::run_wait(std::span<Variant* const> variants) {
  std::vector<Row> rows;
  for (Variant* variant : variants) {
    reporter_.progress("waiting for a late rank, " + variant->name());
    rows.push_back(measure_wait(options_, world_, *variant));
    if (rows.back().summary.iterations == 0) return complain(rows.back().summary.why_not);
  }
  reporter_.cell(rows);
  return true;
}

int Suite::finish() {
  if (!reporter_.has_rows()) {
    if (world_.rank() == 0) complain("nothing was measured: every size is shorter than an element, or no variant runs");
    return 1;
  }
  const std::string problem = reporter_.finish();
  return problem.empty() || complain(problem) ? 0 : 1;
}

}  // namespace hocket::bench
