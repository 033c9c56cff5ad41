// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/cells.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/lab/bench_lab.h"
#include "bench/lab/mpi_run.h"
#include "bench/lab/operations.h"
#include "bench/lab/run.h"
#include "bench/lab/series.h"
#include "lab/packets/recorder.h"
#include "words/estimate.h"
#include "words/progress.h"
#include "words/say.h"

namespace hocket::command {
namespace {

using lab_bench::Measured;
using lab_bench::Series;
using lab_bench::Task;
using lab_bench::Variant;
using nlohmann::ordered_json;
using schedule::Collective;

lab_bench::Work work_of(const BenchOptions& options, const Cell& cell) {
  lab_bench::Work work;
  work.collective = *schedule::collective_from_name(options.collective);
  if (options.is_barrier()) return work;
  work.operation = lab_bench::operation_named(options.operation).value_or(reduction::Operation::kSum);
  work.bytes = cell.bytes;
  if (work.bytes != 0) return work;
  work.type = lab_bench::type_named(cell.type);
  work.words = static_cast<uint8_t>(cell.elements);
  return work;
}

// What `measure` gives. If it is to be recorded, `recording` says whether all of it was.
template <typename Measure>
Result<Measured> recorded(const lab::Lab& lab, const BenchOptions& options, const Cell& cell, const Variant& variant,
                          Status& recording, const Measure& measure) {
  if (options.record.empty()) return measure();
  ordered_json about = {{"command", options.command}};
  about.update(subject_of(options, cell, variant));
  // What `hocket simulate --replay` makes the engines' tables of.
  if (variant.mpi.empty()) about.update({{"engines", variant.path}, {"schedule", variant.schedule}});
  about.update({{"rounds", options.rounds_of_slice()}, {"warm_ups", options.warm_ups}, {"seed", options.seed}});
  Result<lab::Recorder> recorder = lab::Recorder::start(lab, options.record, about);
  if (!recorder.is_ok()) return recorder.take_status();
  Result<Measured> measured = measure();
  recording = recorder.value().stop();
  return measured;
}

Result<Measured> measure_one(lab_bench::BenchLab& bench, const BenchOptions& options, const Variant& variant,
                             const Cell& cell, uint32_t slice, Status& recording) {
  HOCKET_TRY(bench.use(variant.engines));
  lab_bench::Run run;
  Task& task = run.task;
  task.ranks = static_cast<uint32_t>(cell.nodes * options.ranks_per_node);
  task.cores = options.cores;
  task.rounds = options.rounds_of_slice();
  task.warm_ups = options.warm_ups;
  task.seed = options.seed + slice;
  task.compute_us = options.compute_us;
  task.is_checked = options.is_checked && options.is_barrier();
  task.waiting = options.wait == "sleep" ? lab_bench::Waiting::kSleep : lab_bench::Waiting::kSpin;
  task.timing = timing_of(options);
  task.work = work_of(options, cell);
  task.settle_us = options.settle_of(cell.nodes);
  task.skew_us = cell.skew_us;
  task.fetches_later = options.fetches_later;
  task.burns = options.compute == "burn";
  task.initiator = task.work.collective == Collective::kBroadcast ? 0 : task.ranks - 1;
  if (!variant.mpi.empty())
    return recorded(bench.lab(), options, cell, variant, recording, [&] {
      return lab_bench::measure_mpi(bench.lab(),
                                    {variant.mpi, variant.has_hocket, variant.settings, options.ranks_per_node}, task);
    });
  run.make_driver = variant.make_driver;
  run.plan_of = [&](uint32_t rank) { return variant.plan_of(task.ranks, rank); };
  if (task.work.collective == Collective::kReduce) task.initiator = lab_bench::farthest_of(run.plan_of, task.ranks);
  return recorded(bench.lab(), options, cell, variant, recording, [&] { return lab_bench::measure(bench.lab(), run); });
}

bool fits(const Variant& variant, const Cell& cell) {
  return variant.only_size == 0 || variant.only_size == static_cast<uint32_t>(cell.nodes);
}

// What a slice of one variant takes, to compare cells with each other: the nodes share the cores.
double expected_of(const BenchOptions& options, const Cell& cell) {
  constexpr double kStart_s = 0.5;
  constexpr double kCall_us = 10, kByte_us = 1e-3;
  const double ranks = cell.nodes * options.ranks_per_node;
  const double blocks = lab_bench::has_blocks(*schedule::collective_from_name(options.collective)) ? ranks : 1;
  double call_us = ranks * blocks * (kCall_us + kByte_us * static_cast<double>(cell.bytes)) + cell.skew_us / 2;
  if (timing_of(options) == lab_bench::Timing::kLatency) call_us += options.settle_of(cell.nodes);
  call_us += options.compute_us;
  return kStart_s + (options.rounds_of_slice() + options.warm_ups) * call_us / 1e6;
}

std::string topic_of(const Cell& cell) {
  std::string topic = cell.switch_name + ", " + std::to_string(cell.nodes) + " nodes";
  if (!cell.type.empty()) topic += ", " + std::to_string(cell.elements) + " x " + cell.type;
  if (cell.bytes != 0) topic += ", " + std::to_string(cell.bytes) + " bytes";
  if (cell.skew_us != 0) topic += ", skew of " + std::to_string(std::lround(cell.skew_us)) + " us";
  return topic;
}

class CellRuns {
 public:
  CellRuns(const BenchOptions& options, const std::vector<Variant>& variants, ordered_json& rows)
      : options_(options), variants_(variants), rows_(rows), estimate_(expected_of_all()) {}

  int run();

 private:
  double expected_of_all() const;
  int run_on(const std::string& switch_name);
  int run_cell(lab_bench::BenchLab& bench, const Cell& cell);
  int run_slice(lab_bench::BenchLab& bench, const Cell& cell, uint32_t slice, std::vector<Series>& all);

  const BenchOptions& options_;
  const std::vector<Variant>& variants_;
  ordered_json& rows_;
  Status recording_;
  Estimate estimate_;
  Progress progress_;
};

double CellRuns::expected_of_all() const {
  double sum = 0;
  for (const std::string& name : options_.switches) {
    for (const Cell& cell : cells_of(options_, name)) {
      const auto count = std::count_if(variants_.begin(), variants_.end(), [&](auto& one) { return fits(one, cell); });
      sum += static_cast<double>(count) * options_.slices * expected_of(options_, cell);
    }
  }
  return sum;
}

int CellRuns::run_slice(lab_bench::BenchLab& bench, const Cell& cell, uint32_t slice, std::vector<Series>& all) {
  const std::string topic =
      topic_of(cell) + ", slice " + std::to_string(slice + 1) + " of " + std::to_string(options_.slices);
  for (size_t i = 0; i < variants_.size(); ++i) {
    const Variant& variant = variants_[i];
    if (!fits(variant, cell)) continue;
    progress_.say_at(estimate_.text(), topic, variant.name);
    const double begin_s = progress_.spent_s();
    const Result<Measured> measured = measure_one(bench, options_, variant, cell, slice, recording_);
    if (!measured.is_ok()) {
      progress_.clear();
      return fail(kFailure, variant.name + ": " + measured.status().message());
    }
    all[i].add(measured.value());
    estimate_.add(expected_of(options_, cell), progress_.spent_s() - begin_s);
  }
  return kSuccess;
}

// All variants in turn, a slice of the rounds at a time, so that what else the machine does meets all of them.
int CellRuns::run_cell(lab_bench::BenchLab& bench, const Cell& cell) {
  std::vector<Series> all(variants_.size());
  for (uint32_t slice = 0; slice < options_.slices; ++slice)
    if (const int code = run_slice(bench, cell, slice, all); code != kSuccess) return code;
  progress_.clear();
  for (size_t i = 0; i < variants_.size(); ++i) {
    if (!fits(variants_[i], cell)) continue;
    print_row(options_, cell, variants_[i], all[i]);
    rows_.push_back(row_of(options_, cell, variants_[i], all[i]));
  }
  std::fflush(stdout);
  if (is_plain_file(options_.json) && !save(options_.json, rows_))
    return fail(kFailure, "can't write to `" + options_.json + "`");
  return kSuccess;
}

int CellRuns::run_on(const std::string& switch_name) {
  const int most = *std::max_element(options_.nodes.begin(), options_.nodes.end());
  const lab::SwitchKind kind = switch_name == "redirect" ? lab::SwitchKind::kRedirect : lab::SwitchKind::kBridge;
  Result<lab_bench::BenchLab> bench = lab_bench::BenchLab::build(most, kind);
  if (!bench.is_ok()) return fail(kFailure, bench.status().message());
  if (!options_.impairment.empty()) {
    const Status status = bench.value().impair(options_.impairment);
    if (!status.is_ok()) return fail(kUsage, status.message());
  }
  print_head(options_, switch_name);
  std::fflush(stdout);
  for (const Cell& cell : cells_of(options_, switch_name))
    if (const int code = run_cell(bench.value(), cell); code != kSuccess) return code;
  return kSuccess;
}

int CellRuns::run() {
  for (const std::string& name : options_.switches)
    if (const int code = run_on(name); code != kSuccess) return code;
  if (!recording_.is_ok()) return fail(kFailure, recording_.message());
  return kSuccess;
}

}  // namespace

std::vector<Cell> cells_of(const BenchOptions& options, const std::string& switch_name) {
  std::vector<Cell> cells;
  for (const int nodes : options.nodes) {
    if (options.is_barrier()) {
      for (const double skew : options.skews_us) cells.push_back({switch_name, nodes, "", 0, 0, skew});
      continue;
    }
    for (const uint64_t bytes : options.bytes)
      for (const double skew : options.skews_us) cells.push_back({switch_name, nodes, "", 0, bytes, skew});
    if (!options.bytes.empty()) continue;
    for (const std::string& type : options.types)
      for (const int elements : options.elements)
        for (const double skew : options.skews_us) cells.push_back({switch_name, nodes, type, elements, 0, skew});
  }
  return cells;
}

bool is_plain_file(const std::string& path) {
  return !path.starts_with("/dev/") && std::filesystem::is_regular_file(path);
}

bool save(const std::string& path, const ordered_json& rows) {
  std::ofstream file(path, is_plain_file(path) ? std::ios::trunc : std::ios::app);
  file << rows.dump(1) << '\n' << std::flush;
  return file.good();
}

int run_cells(const BenchOptions& options, const std::vector<Variant>& variants, ordered_json& rows) {
  return CellRuns(options, variants, rows).run();
}

}  // namespace hocket::command
