// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/table.h"

#include <unistd.h>

#include <cstdio>

namespace hocket::command {

using lab_bench::Measured;
using lab_bench::Series;
using lab_bench::Timing;
using lab_bench::Variant;
using nlohmann::ordered_json;

namespace {

const char* name_of(Timing timing) {
  switch (timing) {
    case Timing::kLatency:
      return "latency";
    case Timing::kHostTime:
      return "host-time";
    case Timing::kOverlap:
      return "overlap";
    default:
      return "back-to-back";
  }
}

// The columns that depend on what is timed.
std::vector<const char*> columns_of(Timing timing) {
  if (timing == Timing::kHostTime) return {"root", "others", "median"};
  if (timing == Timing::kOverlap) return {"call", "compute", "overlap %"};
  return {"p50", "p99", "p99.9"};
}

std::vector<double> values_of(Timing timing, const Series& series) {
  if (timing == Timing::kHostTime)
    return {series.median(&Measured::root_us), series.median(&Measured::others_us),
            series.median(&Measured::others_median_us)};
  if (timing == Timing::kOverlap)
    return {series.median(&Measured::call_us), series.median(&Measured::computation_us),
            series.median(&Measured::overlap) * 100};
  return {series.call_us(0.5), series.call_us(0.99), series.call_us(0.999)};
}

const char* mean_of(Timing timing) {
  switch (timing) {
    case Timing::kLatency:
      return "mean (median, lowest and highest slice)\nand quantiles of the latency, ";
    case Timing::kHostTime:
      return "mean of all ranks (median, lowest and highest slice),\nthe root's, the others' mean and median, ";
    case Timing::kOverlap:
      return "mean of call and computation (median, lowest and highest slice),\n"
             "of either alone, and the share of the call that is saved, ";
    default:
      return "mean of the slowest rank (median, lowest and highest slice),\nquantiles of rank 0's, ";
  }
}

}  // namespace

Timing timing_of(const BenchOptions& options) {
  if (options.timing == "overlap") return Timing::kOverlap;
  if (options.timing == "host-time") return Timing::kHostTime;
  return options.is_barrier() ? Timing::kBackToBack : Timing::kLatency;
}

void print_head(const BenchOptions& options, const std::string& switch_name) {
  const Timing timing = timing_of(options);
  std::printf("%s, %s, switch %s: microseconds; %u slices of %u calls: %s", options.collective.c_str(), name_of(timing),
              switch_name.c_str(), options.slices, options.rounds_of_slice(), mean_of(timing));
  if (options.ranks_per_node > 1) std::printf("%d ranks a node, ", options.ranks_per_node);
  std::printf("processor time of the whole machine and packets a call\n%5s", "nodes");
  if (!options.is_barrier()) std::printf("  %-6s %8s", "type", "elements");
  if (timing == Timing::kHostTime) std::printf(" %7s", "skew");
  std::printf("  %-30s %9s %9s %9s", "variant", "mean", "lowest", "highest");
  for (const char* column : columns_of(timing)) std::printf(" %9s", column);
  std::printf(" %9s %9s\n", "processor", "packets");
}

void print_row(const BenchOptions& options, const Cell& cell, const Variant& variant, const Series& series) {
  const Timing timing = timing_of(options);
  std::printf("%5d", cell.nodes);
  if (cell.bytes != 0)
    std::printf("  %-6s %8lu", "bytes", cell.bytes);
  else if (!options.is_barrier())
    std::printf("  %-6s %8d", cell.type.c_str(), cell.elements);
  if (timing == Timing::kHostTime) std::printf(" %7.0f", cell.skew_us);
  std::printf("  %-30s", variant.name.c_str());
  std::vector<double> values = {series.median(&Measured::mean_us), series.lowest(&Measured::mean_us),
                                series.highest(&Measured::mean_us)};
  for (const double value : values_of(timing, series)) values.push_back(value);
  values.push_back(series.mean(&Measured::processor_us));
  values.push_back(series.median(&Measured::packets));
  for (const double value : values) value < 0 ? std::printf(" %9s", "-") : std::printf(" %9.2f", value);
  std::printf("\n");
}

ordered_json subject_of(const BenchOptions& options, const Cell& cell, const Variant& variant) {
  ordered_json row = {
      {"collective", options.collective},
      {"timing", name_of(timing_of(options))},
      {"switch", cell.switch_name},
      {"nodes", cell.nodes},
      {"ranks_per_node", options.ranks_per_node},
      {"variant", variant.path},
      {"algorithm", variant.algorithm},
      {"wait", options.wait},
      {"cores", options.cores != 0 ? options.cores : static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN))},
      {"compute_us", options.compute_us},
      {"impairment", options.impairment}};
  if (cell.bytes != 0) {
    row["bytes"] = cell.bytes;
  } else if (!options.is_barrier()) {
    row["type"] = cell.type;
    row["operation"] = options.operation;
    row["elements"] = cell.elements;
    row["bytes"] = uint64_t{sizeof(uint64_t)} * static_cast<uint64_t>(cell.elements);
  }
  return row;
}

ordered_json row_of(const BenchOptions& options, const Cell& cell, const Variant& variant, const Series& series) {
  ordered_json row = subject_of(options, cell, variant);
  row.update({{"rounds", series.calls()},
              {"mean_us", series.median(&Measured::mean_us)},
              {"lowest_us", series.lowest(&Measured::mean_us)},
              {"highest_us", series.highest(&Measured::mean_us)},
              {"median_us", series.call_us(0.5)},
              {"p99_us", series.call_us(0.99)},
              {"p999_us", series.call_us(0.999)},
              {"longest_us", series.call_us(1)},
              {"processor_us", series.mean(&Measured::processor_us)},
              {"packets", series.median(&Measured::packets)},
              {"sent_bytes", series.median(&Measured::bytes)},
              {"root_packets", series.median(&Measured::root_packets)},
              {"root_sent_bytes", series.median(&Measured::root_bytes)}});
  if (timing_of(options) == Timing::kLatency) {
    row["settle_us"] = options.settle_of(cell.nodes);
    row["rank_us"] = series.rank_us();
  }
  if (timing_of(options) == Timing::kOverlap) {
    row["computes_by"] = options.compute;
    row["call_us"] = series.median(&Measured::call_us);
    row["computation_us"] = series.median(&Measured::computation_us);
    row["both_us"] = series.median(&Measured::both_us);
    row["overlap"] = series.median(&Measured::overlap);
  }
  if (timing_of(options) != Timing::kHostTime) return row;
  row["skew_us"] = cell.skew_us;
  row["fetches_later"] = options.fetches_later;
  row["root_us"] = series.median(&Measured::root_us);
  row["others_us"] = series.median(&Measured::others_us);
  row["others_median_us"] = series.median(&Measured::others_median_us);
  return row;
}

}  // namespace hocket::command
