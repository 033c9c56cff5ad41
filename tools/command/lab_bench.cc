// SPDX-License-Identifier: BSD-3-Clause
// hocket lab bench: the NIC engine's barriers against the host's, on the same wires.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command/command.h"
#include "command/lab_command.h"
#include "lab/build.h"
#include "lab/namespaces.h"
#include "lab/remove.h"
#include "lab/words.h"
#include "lab_bench/mpi_run.h"
#include "lab_bench/run.h"
#include "lab_bench/variants.h"
#include "nic/daemon.h"

namespace hocket::command {
namespace {

using lab_bench::Measured;
using lab_bench::Variant;
using nlohmann::ordered_json;

// Of a slice, of an MPI's own barriers: it takes a second or two to start, whatever is measured.
constexpr double kMpiSeconds = 1;

constexpr const char* kFooter = R"(
Ways to carry out a barrier:
  nic                  the engine in the kernel's packet path, at tc      nic-xdp       in the driver, where it can
  nic-chain            the wire taken as reliable, nothing asked again    nic-direct    each message acknowledged
  nic-broadcast        asks all by multicast; ALGORITHM if one is late    agent         the engine as a process
  mixed                every other node an agent                          agent-broadcast
  host-udp             the same messages by the rank itself               host-packet   over raw packets
  mpi:NAME             an MPI's own, as `hocket lab mpirun --mpi NAME` runs it: its median, not its mean
ALGORITHM: dissemination (the default), pairwise_exchange, linear, gather_broadcast/DEGREE.

Examples:
  hocket lab bench barrier --nodes 4,8 --variants nic,host-udp,mpi:mpich
  hocket lab bench barrier --nodes 8 --switch redirect --impair loss=1% --variants nic,agent --check --json lossy.json
It makes a lab of its own and takes it away again. scripts/nic_report.py makes tables of the JSON.)";

constexpr const char* kDefaults[] = {
    "nic", "nic:pairwise_exchange", "nic:gather_broadcast", "nic-chain", "nic-direct", "host-udp", "host-packet"};

struct BenchOptions {
  std::string collective;
  std::vector<int> nodes = {2, 4, 8, 16};
  std::vector<std::string> switches = {"redirect", "bridge"};
  std::vector<std::string> variants;  // none: kDefaults
  uint32_t rounds = 10'000;
  uint32_t warm_ups = 100;
  uint64_t seed = 1;
  uint32_t slices = 5;
  double compute_us = 0;
  std::string impairment;
  bool is_checked = false;
  std::string wait = "spin";
  std::string json;

  uint32_t rounds_of_slice() const { return std::max(rounds / slices, 1U); }
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// One variant on so many nodes: what its slices gave.
struct Series {
  std::vector<double> mean_us;
  std::vector<double> processor_us;
  std::vector<double> packets;
  std::vector<uint64_t> round_ns;
  std::vector<double> median_us;  // where rounds aren't known
  std::vector<double> p99_us;

  void add(const Measured& measured) {
    mean_us.push_back(measured.mean_us);
    processor_us.push_back(measured.processor_us);
    packets.push_back(measured.packets);
    median_us.push_back(measured.median_us);
    p99_us.push_back(measured.p99_us);
    round_ns.insert(round_ns.end(), measured.round_ns.begin(), measured.round_ns.end());
  }
  // -1: not known.
  double round_us(double share) const {
    if (round_ns.empty()) return share == 0.5 ? median_of(median_us) : share == 0.99 ? median_of(p99_us) : -1;
    std::vector<uint64_t> sorted = round_ns;
    const auto at = static_cast<ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return static_cast<double>(sorted[static_cast<size_t>(at)]) / 1000;
  }
  double lowest_us() const { return *std::min_element(mean_us.begin(), mean_us.end()); }
  double highest_us() const { return *std::max_element(mean_us.begin(), mean_us.end()); }
};

ordered_json row_of(const BenchOptions& options, const std::string& switch_name, int nodes, const Variant& variant,
                    const Series& series) {
  return {{"collective", options.collective},
          {"switch", switch_name},
          {"nodes", nodes},
          {"variant", variant.path},
          {"algorithm", variant.algorithm},
          {"wait", options.wait},
          {"compute_us", options.compute_us},
          {"impairment", options.impairment},
          {"rounds", series.round_ns.size()},
          {"mean_us", median_of(series.mean_us)},
          {"lowest_us", series.lowest_us()},
          {"highest_us", series.highest_us()},
          {"median_us", series.round_us(0.5)},
          {"p99_us", series.round_us(0.99)},
          {"p999_us", series.round_us(0.999)},
          {"longest_us", series.round_us(1)},
          {"processor_us", mean_of(series.processor_us)},
          {"packets", median_of(series.packets)}};
}

Result<Measured> measure_one(lab_bench::BenchLab& bench, const BenchOptions& options, const Variant& variant, int nodes,
                             uint32_t slice) {
  HOCKET_TRY(bench.use(variant.engines));
  if (!variant.mpi.empty())
    return lab_bench::measure_mpi(bench.lab(), variant.mpi, static_cast<uint32_t>(nodes), kMpiSeconds);
  lab_bench::Run run;
  run.ranks = static_cast<uint32_t>(nodes);
  run.rounds = options.rounds_of_slice();
  run.warm_ups = options.warm_ups;
  run.seed = options.seed + slice;
  run.compute_us = options.compute_us;
  run.is_checked = options.is_checked;
  run.waiting = options.wait == "sleep" ? lab_bench::Waiting::kSleep : lab_bench::Waiting::kSpin;
  run.make_driver = variant.make_driver;
  run.plan_of = [&](uint32_t rank) { return variant.plan_of(run.ranks, rank); };
  return lab_bench::measure(bench.lab(), run);
}

// All variants in turn, a slice of the rounds at a time, so that what else the machine does meets all of them.
int run_on_nodes(lab_bench::BenchLab& bench, const BenchOptions& options, const std::vector<Variant>& variants,
                 const std::string& switch_name, int nodes, ordered_json& rows) {
  std::vector<Series> all(variants.size());
  for (uint32_t slice = 0; slice < options.slices; ++slice) {
    for (size_t i = 0; i < variants.size(); ++i) {
      const Result<Measured> measured = measure_one(bench, options, variants[i], nodes, slice);
      if (!measured.is_ok()) return fail(kFailure, variants[i].name + ": " + measured.status().message());
      all[i].add(measured.value());
    }
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    const Series& series = all[i];
    std::printf("%5d  %-30s", nodes, variants[i].name.c_str());
    for (const double value :
         {median_of(series.mean_us), series.lowest_us(), series.highest_us(), series.round_us(0.5),
          series.round_us(0.99), series.round_us(0.999), mean_of(series.processor_us), median_of(series.packets)})
      value < 0 ? std::printf(" %9s", "-") : std::printf(" %9.2f", value);
    std::printf("\n");
    rows.push_back(row_of(options, switch_name, nodes, variants[i], series));
  }
  std::fflush(stdout);
  return kSuccess;
}

int run_on(const BenchOptions& options, const std::vector<Variant>& variants, const std::string& switch_name,
           ordered_json& rows) {
  const int most = *std::max_element(options.nodes.begin(), options.nodes.end());
  const lab::SwitchKind kind = switch_name == "redirect" ? lab::SwitchKind::kRedirect : lab::SwitchKind::kBridge;
  Result<lab_bench::BenchLab> bench = lab_bench::BenchLab::build(most, kind);
  if (!bench.is_ok()) return fail(kFailure, bench.status().message());
  if (!options.impairment.empty()) {
    const Status status = bench.value().impair(options.impairment);
    if (!status.is_ok()) return fail(kUsage, status.message());
  }
  std::printf(
      "%s, switch %s: microseconds; %u slices of %u calls: mean of the slowest rank (median, lowest and highest "
      "slice),\nquantiles of rank 0's, processor time of the whole machine and packets a call\n",
      options.collective.c_str(), switch_name.c_str(), options.slices, options.rounds_of_slice());
  std::printf("%5s  %-30s %9s %9s %9s %9s %9s %9s %9s %9s\n", "nodes", "variant", "mean", "lowest", "highest", "p50",
              "p99", "p99.9", "processor", "packets");
  for (const int nodes : options.nodes) {
    const int code = run_on_nodes(bench.value(), options, variants, switch_name, nodes, rows);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

// Why it can't be measured so; "": it can.
std::string problem_of(const std::string& text, const Variant& variant, const BenchOptions& options) {
  const bool is_impaired = !options.impairment.empty();
  if (is_impaired && variant.engines == lab_bench::Engines::kNone)
    return text +
           " makes no sure of its messages, and would wait for ever under --impair; --variants nic,nic-direct,agent do";
  const auto& switches = options.switches;
  if (!is_impaired && variant.engines == lab_bench::Engines::kDriver &&
      std::find(switches.begin(), switches.end(), "redirect") != switches.end())
    return text +
           " would not be met by packets: the redirect switch hands them over behind the driver; --switch bridge";
  return "";
}

int run_bench(const BenchOptions& options) {
  if (!std::isfinite(options.compute_us)) return fail(kUsage, "--compute-us: a number is needed");
  if (options.collective != "barrier")
    return fail(kUsage, "`" + options.collective + "` can't be measured here; what can be is barrier");
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const bool are_named = !options.variants.empty();
  std::vector<std::string> texts = options.variants;
  if (!are_named) texts.assign(std::begin(kDefaults), std::end(kDefaults));
  std::vector<Variant> variants;
  for (const std::string& text : texts) {
    Result<Variant> variant = lab_bench::parse_variant(text);
    if (!variant.is_ok()) return fail(kUsage, variant.status().message());
    const std::string problem = problem_of(text, variant.value(), options);
    if (!problem.empty() && are_named) return fail(kUsage, problem);
    if (problem.empty()) variants.push_back(variant.take());
  }
  std::ofstream file;
  if (!options.json.empty()) {
    // Before anything takes time.
    file.open(options.json);
    if (!file.good()) return fail(kUsage, "can't write to `" + options.json + "`, as --json asks");
  }
  ordered_json rows = ordered_json::array();
  int code = kSuccess;
  for (const std::string& name : options.switches) {
    code = run_on(options, variants, name, rows);
    if (code != kSuccess) break;
  }
  if (options.json.empty()) return code;
  // What has been measured is kept, also where something could not be.
  file << rows.dump(1) << '\n' << std::flush;
  return file.good() ? code : fail(kFailure, "can't write to `" + options.json + "`");
}

}  // namespace

void add_lab_bench(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("bench", "Compare the NIC engine's collectives with the host's");
  sub->footer(kFooter);
  auto options = std::make_shared<BenchOptions>();
  sub->add_option("collective", options->collective, "barrier")->required();
  sub->add_option("--nodes", options->nodes, "how many, one rank each (default: 2,4,8,16)")
      ->delimiter(',')
      ->check(CLI::Range(2, lab::kMostNodes));
  sub->add_option("--switch", options->switches, "bridge, redirect (default: both)")
      ->delimiter(',')
      ->check(CLI::IsMember({"bridge", "redirect"}));
  sub->add_option("--variants", options->variants,
                  "ways, each with :ALGORITHM or without (default: nic with each, and others that can be)")
      ->delimiter(',');
  sub->add_option("--rounds", options->rounds, "barriers that are measured (default: 10000)")
      ->check(CLI::Range(1, 100'000'000));
  sub->add_option("--slices", options->slices, "in so many parts, all variants in turn (default: 5)")
      ->check(CLI::Range(1, 1000));
  sub->add_option("--impair", options->impairment,
                  "loss=1%, duplicate=1%, corrupt=1%, delay=1ms, reorder=1%, several "
                  "by commas");
  sub->add_option("--warm-up", options->warm_ups, "barriers before (default: 100)");
  sub->add_option("--compute-us", options->compute_us, "ranks compute up to so long before each (default: 0)")
      ->check(CLI::Range(0.0, 1e6));
  sub->add_flag("--check", options->is_checked, "whether each barrier holds; the times are a little longer");
  sub->add_option("--wait", options->wait, "spin (looks and yields) or sleep (default: spin)")
      ->check(CLI::IsMember({"spin", "sleep"}));
  sub->add_option("--seed", options->seed, "of the order of nodes and of what is computed (default: 1)");
  sub->add_option("--json", options->json, "write an array of rows to this file");
  sub->callback([=, &invocation] { invocation.run = [=] { return run_bench(*options); }; });
}

}  // namespace hocket::command
