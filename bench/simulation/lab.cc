// SPDX-License-Identifier: BSD-3-Clause
// How well the simulation predicts what `hocket lab bench` measures on more nodes than it was fitted to: a network of
// the kind of lab-redirect (docs/networks.md) is fitted to the calls on up to `--fitted` nodes, and all are predicted.
// Beside it stands the formula of Yu, Buntinas, Graham and Panda (2004), fitted to the same calls of dissemination:
// Tinit + (ceil(log2 N) - 1) Ttrig + Tadj, of which two numbers can be told apart.
//
//   simulation_lab redirect FILE ...     bench/results/one-machine/lab.json, for instance
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "selection/choice.h"
#include "simulate/simulation.h"
#include "simulation/network/network_file.h"
#include "words/collective_names.h"

namespace {

using namespace hocket;
using command::SimulatedEngine;
// What is fitted.
struct Model : simulation::Network {
  double wake_us = 0;  // latency: what the initiator takes longer, which has slept
};

constexpr uint32_t kMostFitted = 4;
// More ranks than that on a core, and its cache of 1 MiB (L2) does not hold what they need: found on one core.
constexpr uint32_t kCachedRanks = 7;

struct Row {
  schedule::Collective collective;
  std::string variant, algorithm;  // as they are shown
  std::string spec;                // as hocket's settings name it
  uint32_t nodes;
  uint32_t ranks_a_node;
  uint32_t cores;
  uint64_t bytes;
  double measured_us;
  std::string timing;
  double settle_us;  // latency: how much later the initiator begins
  SimulatedEngine engine;
};

SimulatedEngine engine_of(const std::string& variant) {
  if (variant == "nic") return SimulatedEngine::kNic;
  return variant == "hocket" ? SimulatedEngine::kMessages : SimulatedEngine::kUdp;
}

// The lab's words for trees: binomial, and gather_broadcast/8 for gather_broadcast:degree=8.
std::string spec_of(std::string algorithm) {
  if (algorithm.starts_with("mpich:")) return algorithm.substr(sizeof "mpich:" - 1);
  if (algorithm == "binomial") return "tree_mm:degree=2";
  if (const size_t slash = algorithm.find('/'); slash != std::string::npos) algorithm.replace(slash, 1, ":degree=");
  return algorithm;
}

bool read_rows(const char* path, const std::string& lab_switch, std::vector<Row>& rows) {
  std::ifstream stream(path);
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_array()) return false;
  for (const auto& one : json) {
    const std::string variant = one.value("variant", "");
    if (one.value("switch", "") != lab_switch) continue;
    if (variant != "nic" && variant != "host-udp" && variant != "hocket") continue;
    if (one.value("wait", "spin") != "spin" || !one.value("impairment", "").empty()) continue;
    if (one.value("compute_us", 0.0) != 0.0 || one.value("type", "int64") != "int64") continue;
    const std::string timing = one.value("timing", "");
    if (timing != "latency" && timing != "back-to-back" && timing != "host-time") continue;
    const Result<schedule::Collective> collective = command::read_collective(one.value("collective", ""));
    if (!collective.is_ok()) continue;
    const std::string algorithm = one.value("algorithm", "");
    const bool is_latency = timing == "latency";
    rows.push_back({collective.value(), variant, algorithm, spec_of(algorithm), one.value("nodes", 0u),
                    one.value("ranks_per_node", 1u), one.value("cores", 2u), one.value("bytes", uint64_t{0}),
                    one.value(timing == "back-to-back" ? "lowest_us" : "median_us", 0.0), timing,
                    is_latency ? one.value("settle_us", 0.0) : 0, engine_of(variant)});
  }
  return true;
}

double predict_us(const Row& row, const Model& network) {
  const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(row.nodes, row.ranks_a_node));
  command::SimulateOptions options;
  options.query.collective = row.collective;
  options.query.bytes = row.bytes;
  options.query.element_bytes = row.engine == SimulatedEngine::kMessages ? 1 : 8;
  options.query.ranks = row.nodes * row.ranks_a_node;
  options.query.nodes = &nodes;
  options.query.why_no_multicast = "";
  options.query.commutative = true;
  options.network = network;
  options.network.costs.cores = row.cores;
  options.engine = row.engine;
  options.situation.shares_cores = options.query.ranks > row.cores;
  options.query.oversubscribed = options.situation.shares_cores;
  const bool is_broadcast = row.collective == schedule::Collective::kBroadcast;
  if (row.timing == "latency")
    options.situation.late = {{is_broadcast ? 0 : options.query.ranks - 1, simulation::from_us(row.settle_us)}};
  if (row.timing == "back-to-back") options.calls = 60;
  options.runs = 9;  // ranks stand in different orders, and keep to some patterns of them
  const selection::Table table(network.costs);
  const Result<selection::Spec> spec = selection::parse_spec(row.collective, row.spec);
  if (!spec.is_ok()) return NAN;
  const Result<selection::Choice> choice = selection::choose(options.query, table, &spec.value());
  if (!choice.is_ok()) return NAN;
  const Result<command::Simulated> found = simulate_choice(options, choice.value());
  if (!found.is_ok()) return NAN;
  if (row.timing != "host-time")
    return found.value().median_us() - row.settle_us + (row.timing == "latency" ? network.wake_us : 0);
  const std::vector<double>& means = found.value().rank_mean_us;
  return std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
}

// Where a parameter is.
double& dial(Model& network, const std::string& name) {
  if (name == "wake_us") return network.wake_us;
#define HOCKET_COST_PRICE(word, ...) \
  if (name == #word) return network.costs.word;
#define HOCKET_COST_NUMBER(...)
#include "simulation/network/cost_parameters.def"
#define HOCKET_NETWORK_PRICE(word, ...) \
  if (name == #word) return network.more.word;
#define HOCKET_NETWORK_SHARE(...)
#define HOCKET_NETWORK_DIFFERENCE(...)
#define HOCKET_NETWORK_NUMBER(...)
#include "simulation/network/network_parameters.def"
  std::fprintf(stderr, "simulation_lab: `%s` is no parameter\n", name.c_str());
  std::abort();
}

// A parameter, or what a receiver takes for a message, which networks say as a difference.
double read(Model network, const std::string& name) {
  if (name == "udp_receive_us") return network.more.udp_overhead_us + network.more.udp_receive_more_us;
  if (name == "wire_receive_us") return network.costs.wire_overhead_us + network.more.wire_receive_more_us;
  return dial(network, name);
}

void write(Model& network, const std::string& name, double value) {
  const double udp_receive_us = read(network, "udp_receive_us"), wire_receive_us = read(network, "wire_receive_us");
  if (name == "udp_receive_us")
    network.more.udp_receive_more_us = value - network.more.udp_overhead_us;
  else if (name == "wire_receive_us")
    network.more.wire_receive_more_us = value - network.costs.wire_overhead_us;
  else
    dial(network, name) = value;
  if (name == "udp_overhead_us") network.more.udp_receive_more_us = udp_receive_us - value;
  if (name == "wire_overhead_us") network.more.wire_receive_more_us = wire_receive_us - value;
}

double distance(const std::vector<Row>& rows, const Model& network) {
  double sum = 0;
  for (const Row& row : rows) {
    const double off = std::log(predict_us(row, network) / row.measured_us);
    sum += off * off;
  }
  return sum;
}

// From each parameter a step up and down; when nothing helps any more, smaller steps.
double search(const std::vector<Row>& rows, const std::vector<std::string>& names, Model& best) {
  double least = distance(rows, best);
  for (double factor = 2; factor > 1.01;) {
    bool is_better = false;
    for (const std::string& name : names)
      for (const double step : {factor, 1 / factor}) {
        Model trial = best;
        write(trial, name, read(trial, name) * step);
        const double found = distance(rows, trial);
        if (found >= least) continue;
        least = found;
        best = trial;
        is_better = true;
      }
    if (!is_better) factor = std::sqrt(factor);
  }
  return least;
}

// From several places, since one of them may lead to a hollow of its own.
void fit(const std::vector<Row>& rows, const std::vector<std::string>& names, Model& best) {
  if (rows.empty()) return;
  double least = INFINITY;
  const Model begin = best;
  for (const double first : {0.5, 1.0, 1.6})
    for (const double others : {0.5, 1.0, 2.0}) {
      Model trial = begin;
      for (const std::string& name : names)
        write(trial, name, read(trial, name) * (&name == &names.front() ? first : others));
      const double found = search(rows, names, trial);
      if (found >= least) continue;
      least = found;
      best = trial;
    }
}

Model first_guess() {
  Model network;
  network.costs.one_machine = 1;
  network.costs.cores = 2;
  network.costs.switch_us = 1.4;
  network.costs.alpha_us = 0.1;
  network.costs.beta_us_per_kib = 0.0213;
  network.costs.gamma_us_per_kib = 0.0153;
  network.costs.wire_alpha_us = 0;
  network.costs.wire_gap_us = 0;
  network.costs.wire_overhead_us = 4;
  network.costs.wire_beta_us_per_kib = 0.2;
  network.more.wire_receive_more_us = 0;
  network.more.wire_look_us = 0.5;
  network.more.ranks_are_bound = 1;
  network.more.nic_on_ringing_core = 1;
  network.more.udp_overhead_us = 1.5;
  network.more.udp_receive_more_us = 0.1;
  network.more.udp_look_us = 0.3;
  network.wake_us = 1;
  network.more.udp_alpha_us = 0;
  network.more.udp_gap_us = 0;
  network.more.udp_beta_us_per_kib = 0;
  network.more.nic_doorbell_us = 0.5;
  network.more.nic_start_us = 0.3;
  network.more.nic_alpha_us = 0;
  network.more.nic_arrival_us = 0.5;
  network.more.nic_send_us = 0.5;
  network.more.nic_notify_us = 0;
  network.more.nic_look_us = 0.05;
  return network;
}

// Calls that tell how much longer switches take.
bool is_for_cold(const Row& row) { return row.cores == 1 && row.nodes > kCachedRanks; }

void print_formula(const std::vector<Row>& rows, const std::string& variant) {
  std::map<uint32_t, double> by_nodes;
  for (const Row& row : rows)
    if (row.algorithm == "dissemination" && row.variant == variant && row.cores > 1)
      by_nodes[row.nodes] = row.measured_us;
  if (!by_nodes.count(2) || !by_nodes.count(4)) return;
  const double first = by_nodes[2], each = by_nodes[4] - by_nodes[2];
  std::printf("\nThe paper's formula, %s, dissemination: %.2f + (ceil(log2 N) - 1) %.2f us\n", variant.c_str(), first,
              each);
  for (const auto& [nodes, measured_us] : by_nodes) {
    const double predicted_us = first + (std::ceil(std::log2(nodes)) - 1) * each;
    std::printf("%5u %12.2f %12.2f %+8.1f %%%s\n", nodes, measured_us, predicted_us,
                100 * (predicted_us / measured_us - 1), nodes <= kMostFitted ? "  fitted" : "");
  }
}

// Cells of several schemes: whether the fastest one is known, and how many pairs stand in the right order.
void print_orders(const std::vector<Row>& rows, const Model& network) {
  struct Scheme {
    std::string name;
    double measured_us, predicted_us;
  };
  std::map<std::string, std::vector<Scheme>> cells;
  for (const Row& row : rows) {
    if (row.engine != SimulatedEngine::kMessages || row.nodes <= kMostFitted) continue;
    const std::string cell = std::string(schedule::name(row.collective)) + ", " + std::to_string(row.nodes) + "x" +
                             std::to_string(row.ranks_a_node) + ", " + std::to_string(row.bytes) + " bytes";
    cells[cell].push_back({row.algorithm, row.measured_us, predict_us(row, network)});
  }
  constexpr double kAlike = 1.05;
  int pairs = 0, right = 0;
  for (auto& [cell, schemes] : cells) {
    const auto by_measured = [](const Scheme& a, const Scheme& b) { return a.measured_us < b.measured_us; };
    const auto by_predicted = [](const Scheme& a, const Scheme& b) { return a.predicted_us < b.predicted_us; };
    const Scheme best = *std::min_element(schemes.begin(), schemes.end(), by_measured);
    const Scheme chosen = *std::min_element(schemes.begin(), schemes.end(), by_predicted);
    for (const Scheme& one : schemes)
      for (const Scheme& other : schemes) {
        if (one.measured_us * kAlike >= other.measured_us) continue;
        ++pairs;
        right += one.predicted_us < other.predicted_us ? 1 : 0;
      }
    std::printf("%-30s fastest %-28s model's choice %-28s costs %.2f\n", cell.c_str(), best.name.c_str(),
                chosen.name.c_str(), chosen.measured_us / best.measured_us);
  }
  if (pairs > 0)
    std::printf("pairs of schemes further apart than 5 %%: %d of %d in the right order (%.0f %%)\n", right, pairs,
                100.0 * right / pairs);
}

struct Sums {
  double off = 0;
  int rows = 0, within = 0;

  void add(double part) {
    constexpr double kAim = 0.1;
    off += std::abs(part);
    ++rows;
    within += std::abs(part) <= kAim ? 1 : 0;
  }
  void print(const char* what) const {
    if (rows == 0) return;
    std::printf("%-42s off by %4.1f %% in the mean, %d of %d within 10 %%\n", what, 100 * off / rows, within, rows);
  }
};

// `warm`: fitted to few ranks; `cold`: the same, and what a switch takes where a core's cache does not hold its ranks.
void print_predictions(const std::vector<Row>& rows, const Model& warm, const Model& cold) {
  std::printf("%-10s %-9s %-20s %5s %5s %11s %9s %9s %9s %9s\n", "collective", "engine", "algorithm", "nodes", "cores",
              "measured us", "model us", "off", "cold us", "off");
  Sums fitted, predicted, predicted_cold;
  for (const Row& row : rows) {
    const double warm_us = predict_us(row, warm), cold_us = predict_us(row, cold);
    const double off = warm_us / row.measured_us - 1, off_cold = cold_us / row.measured_us - 1;
    const char* role = row.nodes <= kMostFitted ? "fitted" : is_for_cold(row) ? "cold fitted" : "";
    std::printf("%-10s %-9s %-20s %5u %5u %11.2f %9.2f %+7.1f %% %9.2f %+7.1f %% %s\n",
                std::string(schedule::name(row.collective)).c_str(), row.variant.c_str(), row.algorithm.c_str(),
                row.nodes, row.cores, row.measured_us, warm_us, 100 * off, cold_us, 100 * off_cold, role);
    if (row.nodes <= kMostFitted) {
      fitted.add(off);
      continue;
    }
    predicted.add(off);
    if (!is_for_cold(row)) predicted_cold.add(off_cold);
  }
  std::printf("\n");
  fitted.print("fitted, up to 4 nodes:");
  predicted.print("predicted from these:");
  predicted_cold.print("predicted with cold caches:");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "simulation_lab: which switch, and which files of `hocket lab bench --json`? For instance\n"
                 "  simulation_lab redirect bench/results/one-machine/lab.json\n");
    return 2;
  }
  std::vector<Row> rows;
  for (int i = 2; i < argc; ++i)
    if (!read_rows(argv[i], argv[1], rows)) {
      std::fprintf(stderr, "simulation_lab: %s is no JSON file of `hocket lab bench`\n", argv[i]);
      return 1;
    }
  std::vector<Row> by_host, by_nic, by_mpi;
  for (const Row& row : rows)
    if (row.nodes <= kMostFitted)
      (row.engine == SimulatedEngine::kNic   ? by_nic
       : row.engine == SimulatedEngine::kUdp ? by_host
                                             : by_mpi)
          .push_back(row);
  Model network = first_guess();
  for (const Row& row : rows)
    if (!std::isfinite(std::log(predict_us(row, network) / row.measured_us))) {
      std::fprintf(stderr, "simulation_lab: %s %s on %u nodes can't be predicted\n", row.variant.c_str(),
                   row.algorithm.c_str(), row.nodes);
      return 1;
    }
  const std::vector<std::string> of_host = {"switch_us", "udp_overhead_us", "udp_receive_us", "udp_look_us", "wake_us"};
  const std::vector<std::string> of_nic = {"nic_doorbell_us", "nic_start_us", "nic_arrival_us", "nic_send_us",
                                           "nic_look_us"};
  fit(by_host, of_host, network);
  fit(by_nic, of_nic, network);
  const std::vector<std::string> of_mpi = {"wire_overhead_us", "wire_receive_us", "wire_look_us",
                                           "wire_beta_us_per_kib"};
  fit(by_mpi, of_mpi, network);
  Model cold = network;
  cold.more.cached_ranks = kCachedRanks;
  cold.more.cold_us = network.costs.switch_us / 4;
  std::vector<Row> of_cold;
  for (const Row& row : rows)
    if (is_for_cold(row)) of_cold.push_back(row);
  fit(of_cold, {"cold_us"}, cold);
  print_predictions(rows, network, cold);
  print_orders(rows, network);
  for (const char* variant : {"nic", "host-udp"}) print_formula(rows, variant);
  std::printf("\n");
  for (const auto* names : {&of_host, &of_nic, &of_mpi})
    for (const std::string& name : *names) std::printf("%s %.4g\n", name.c_str(), read(network, name));
  std::printf("cached_ranks %u\ncold_us %.4g\n", cold.more.cached_ranks, cold.more.cold_us);
  return 0;
}
