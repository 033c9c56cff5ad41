// SPDX-License-Identifier: BSD-3-Clause
// What `hocket lab bench` was asked, and the table and the rows of JSON that it answers with.
//
// Thread safety: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/lab/series.h"
#include "bench/lab/task.h"
#include "bench/lab/variants.h"

namespace hocket::command {

struct BenchOptions {
  std::string collective;
  std::vector<int> nodes = {2, 4, 8, 16};
  int ranks_per_node = 1;
  std::vector<std::string> switches = {"redirect", "bridge"};
  std::vector<std::string> variants;  // none: kBarriers or kWithData
  uint32_t rounds = 10'000;
  uint32_t warm_ups = 100;
  uint64_t seed = 1;
  uint32_t slices = 5;
  double compute_us = 0;
  std::string impairment;
  bool is_checked = false;
  uint32_t cores = 0;  // to which ranks are bound; 0: all
  std::string wait = "spin";
  std::string timing;  // "": the collective's
  std::vector<std::string> types = {"int64"};
  std::string operation = "sum";
  std::vector<int> elements = {1};
  std::vector<uint64_t> bytes;  // of broadcasts by MPIs, instead of elements; of blocks
  std::vector<double> skews_us = {0};
  double settle_us = -1;  // less than 0: not said
  bool fetches_later = false;
  std::string compute = "burn";
  std::string json;
  std::string record;   // the file; "": nothing is recorded
  std::string command;  // as it was given, for that file

  uint32_t rounds_of_slice() const { return std::max(rounds / slices, 1U); }
  // Where cores are shared, ranks that have come to a call are done with their part of it only after their turns.
  // Longer, and all ways become slower alike: caches get cold.
  double settle_of(int nodes) const { return settle_us >= 0 ? settle_us : 25.0 * nodes; }
  bool is_barrier() const { return collective == "barrier"; }
};

// One line of the table for each variant.
struct Cell {
  std::string switch_name;
  int nodes = 2;
  std::string type;
  int elements = 0;
  uint64_t bytes = 0;
  double skew_us = 0;
};

lab_bench::Timing timing_of(const BenchOptions& options);

void print_head(const BenchOptions& options, const std::string& switch_name);
void print_row(const BenchOptions& options, const Cell& cell, const lab_bench::Variant& variant,
               const lab_bench::Series& series);
// What is measured: the first part of a row.
nlohmann::ordered_json subject_of(const BenchOptions& options, const Cell& cell, const lab_bench::Variant& variant);
nlohmann::ordered_json row_of(const BenchOptions& options, const Cell& cell, const lab_bench::Variant& variant,
                              const lab_bench::Series& series);

}  // namespace hocket::command
