// SPDX-License-Identifier: BSD-3-Clause
#include "tune/on_mpi.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/oversubscription.h"
#include "probe/interface.h"
#include "tune/compare.h"
#include "tune/survey.h"
#include "tune/written/network.h"
#include "tune/written/output.h"
#include "words/say.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr double kProbeShare = 0.2;
constexpr double kMostProbe_s = 60;
constexpr double kLeastShare = 0.3;  // of the budget, for the algorithms
// From 1 byte to 64 KiB at least: the time of a message and that of a KiB must both show.
constexpr uint64_t kLongestProbed = 64 << 10;
constexpr uint64_t kProbeStep = 16;

// A file that only this process and what it tells see: HOCKET_TABLE for the communicators to come.
class TableInUse {
 public:
  TableInUse() : file_(memfd_create("hocket-tune", 0)) {}
  ~TableInUse() {
    unsetenv("HOCKET_TABLE");
    if (file_ >= 0) close(file_);
  }
  TableInUse(const TableInUse&) = delete;
  TableInUse& operator=(const TableInUse&) = delete;

  bool set(const std::string& text) {
    if (file_ < 0 || ftruncate(file_, 0) != 0) return false;
    if (pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return false;
    return setenv("HOCKET_TABLE", ("/proc/self/fd/" + std::to_string(file_)).c_str(), 1) == 0;
  }

 private:
  int file_;
};

class Tuner {
 public:
  Tuner(bench::MpiRanks& ranks, const ClusterTuning& tuning, std::vector<ClusterShape> shapes, selection::Table base)
      : ranks_(ranks),
        world_(ranks.world()),
        tuning_(tuning),
        options_(tuning.options),
        shapes_(std::move(shapes)),
        base_(std::move(base)),
        progress_(tuning.options.budget_s),
        model_(base_.model()) {
    model_.cores = options_.cores;
  }

  // Throws std::runtime_error.
  int run() {
    survey_.mpi = ranks_.title();
    survey_.wire = ranks_.own_wire().name;
    if (has_nodes()) know_interface();
    // On a busy machine even the fewest samples of the interface may take all the time that there was.
    const double end_s = std::max(options_.budget_s, progress_.spent_s() + options_.budget_s * kLeastShare);
    double weights = 0;
    for (const ClusterShape& shape : shapes_) weights += weight_of(options_, shape.nodes * shape.ranks_a_node);
    for (const ClusterShape& shape : shapes_) {
      const double weight = weight_of(options_, shape.nodes * shape.ranks_a_node);
      const double until_s = progress_.spent_s() + std::max(end_s - progress_.spent_s(), 0.0) * weight / weights;
      weights -= weight;
      measure(shape, until_s);
    }
    return world_.rank() == 0 ? finish() : kSuccess;
  }

 private:
  bool speaks() const { return world_.rank() == 0; }
  bool has_nodes() const { return world_.placement().count() > 1; }

  void know_interface() {
    probe::Options options;
    options.budget_s = std::min(options_.budget_s * kProbeShare, kMostProbe_s);
    options.max_bytes = std::max(options_.max_bytes, kLongestProbed);
    options.step = kProbeStep;
    const auto say = [&](const std::string& what) {
      if (speaks()) progress_.say("the interface between nodes", what);
    };
    interface_ = probe::interface_of(probe::measure(options, world_, ranks_.own_wire(), ranks_.machines(), say));
    model_.wire_alpha_us = interface_.alpha_us;
    model_.wire_overhead_us = interface_.overhead_us;
    model_.wire_gap_us = interface_.gap_us;
    model_.wire_beta_us_per_kib = interface_.beta_us_per_kib;
    model_.wire_lanes = interface_.lanes;
    model_.wire_crowding = interface_.crowding;
    model_.one_machine = interface_.one_machine ? 1 : 0;
    // Whoever copies is in what was measured of the processors.
    const simulation::CostParameters unknown;
    model_.wire_dma = unknown.wire_dma;
    model_.wire_pio_bytes = unknown.wire_pio_bytes;
    model_.wire_miss_us_per_kib = unknown.wire_miss_us_per_kib;
  }

  // What has been found so far, and the base: what the parts of compositions are chosen by.
  void renew_table() {
    survey_.took_s = progress_.spent_s();
    const std::vector<MeasuredCell> cells = by_cell(survey_.measurements);
    Result<std::vector<selection::Rule>> rules = make_rules_of_mpi(cells, noise(), survey_.wire);
    Result<std::vector<selection::Rule>> others = make_rules(cells, noise());
    if (!rules.is_ok() || !others.is_ok())
      throw std::runtime_error((rules.is_ok() ? others : rules).status().message());
    rules_ = rules.take();
    rules_.insert(rules_.end(), others.value().begin(), others.value().end());
    const std::string fresh = text({});
    Result<selection::Table> table = selection::Table::parse(fresh, "the new table");
    if (!table.is_ok()) throw std::runtime_error(table.status().message());
    table_ = table.value().under(survey_.wire);
    if (!in_use_.set(fresh)) throw std::runtime_error("no memory for a table");
  }

  double noise() const { return noise_of(survey_.measurements); }

  std::string text(const Fit& fit) const {
    std::vector<selection::Rule> old = left_beside(rules_, base_.rules());
    return cluster_table_text({tuning_.merge, noise()}, fit, model_, survey_, rules_, old);
  }

  void measure(const ClusterShape& shape, double until_s) {
    if (speaks()) renew_table();
    const schedule::Nodes& placement = world_.placement();
    const auto rank = static_cast<uint32_t>(world_.rank());
    const bool takes_part = placement.node_of(rank) < shape.nodes && placement.place_of(rank) < shape.ranks_a_node;
    const std::unique_ptr<bench::MpiRanks> part = ranks_.split(takes_part ? 0 : -1);
    if (part != nullptr) measure_part(*part, until_s);
    // The others sleep until these have done.
    takes_part ? world_.synchronize() : world_.rest();
  }

  void measure_part(bench::MpiRanks& part, double until_s) {
    bench::World& world = part.world();
    const std::vector<TuneCell> cells = cells_for(options_, static_cast<uint32_t>(world.size()));
    survey_.cells += cells_of_rules(cells);
    const bench::Options bench = bench_options(cells);
    bench::Endpoint endpoint(world, &part.hockets_wire());
    if (!endpoint.open(bench)) throw std::runtime_error("no communicator for the ranks");
    Surveying surveying{world, endpoint, progress_, until_s};
    surveying.oversubscribed = bench::ranks_share_cores(world);
    surveying.nodes = std::make_shared<const schedule::Nodes>(world.placement());
    surveying.table = &table_;
    const std::unique_ptr<bench::Variant> mpi = part.variant(bench, /*hocket=*/false);
    surveying.mpi = mpi.get();
    surveying.report = [&](const Measurement& one) { survey_.measurements.push_back(one); };
    if (survey_cells(surveying, bench, cells)) return;
    endpoint.abandon();
    throw std::runtime_error("measuring failed");
  }

  int finish() {
    progress_.clear();
    if (survey_.measurements.empty()) return fail(kFailure, "the budget was too short to measure anything");
    survey_.cells_measured = by_cell(survey_.measurements).size();
    renew_table();
    const Fit fit = judge_model(table_, survey_.measurements);
    const Delivery to{tuning_.output, tuning_.json, tuning_.network.empty()};
    const Status status = deliver(to, text(fit), survey_, fit);
    if (!status.is_ok()) return fail(kFailure, status.message());
    say_what_became(options_, survey_, noise(), tuning_.output);
    MeasuredNetwork network{this_machine(), survey_.mpi, {}, fit, tuning_.merge, has_nodes()};
    network.fit.parameters = model_;
    const Status written = write_network(tuning_.network, network);
    return written.is_ok() ? kSuccess : fail(kFailure, written.message());
  }

  bench::MpiRanks& ranks_;
  bench::World& world_;
  const ClusterTuning& tuning_;
  TuneOptions options_;
  std::vector<ClusterShape> shapes_;
  selection::Table base_;
  Progress progress_;
  probe::Interface interface_;
  simulation::CostParameters model_;
  Survey survey_;  // on rank 0
  std::vector<selection::Rule> rules_;
  selection::Table table_;
  TableInUse in_use_;
};

template <typename Value>
std::string why_not(const Result<Value>& result) {
  return result.is_ok() ? "" : std::string(result.status().message());
}

// What rank 0 found wrong is said by it and known to all.
bool is_wrong_somewhere(bench::World& world, const std::string& why) {
  if (!why.empty() && world.rank() == 0) fail(kUsage, why);
  double wrong = why.empty() ? 0 : 1;
  world.maximum({&wrong, 1});
  return wrong != 0;
}

}  // namespace

Result<selection::Table> base_named(const std::string& name, std::optional<uint32_t> cores) {
  if (name == "none") return selection::Table();
  if (name != kShipped) return selection::Table::load(name);
  return selection::Table(cores ? selection::Table::shipped_for(*cores) : selection::Table::shipped());
}

int tune_on_mpi(bench::MpiRanks& ranks, const ClusterTuning& tuning) {
  bench::World& world = ranks.world();
  forget_forced_settings();
  Result<std::vector<ClusterShape>> shapes = shapes_of(tuning.shapes, world.placement());
  if (is_wrong_somewhere(world, why_not(shapes))) return kUsage;
  // Ranks may be bound to fewer cores than their node has, and nodes may differ.
  ClusterTuning agreed = tuning;
  agreed.options.cores = bench::cores_of_ranks(world);
  if (agreed.has_usual_budget) agreed.options.budget_s = usual_budget_s(agreed.options.cores);
  // Files of rank 0.
  const bool reads = world.rank() == 0;
  Result<selection::Table> base = base_named(reads ? tuning.merge : "none", agreed.options.cores);
  if (is_wrong_somewhere(world, why_not(base))) return kFailure;
  Status writable = reads ? check_writable("--output", tuning.output) : Status::ok();
  if (reads && writable.is_ok()) writable = check_network_path(tuning.network);
  if (is_wrong_somewhere(world, writable.is_ok() ? "" : std::string(writable.message()))) return kUsage;
  try {
    return Tuner(ranks, agreed, shapes.take(), base.take()).run();
  } catch (const std::exception& error) {
    fail(kFailure, error.what());
  }
  // The others may wait for this rank.
  ranks.abort(kFailure);
  return kFailure;
}

}  // namespace hocket::command
