// SPDX-License-Identifier: BSD-3-Clause
// hocket simulate: what a collective, or a schedule in GOAL, takes where nobody can measure it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/size_text.h"
#include "command/command.h"
#include "command/layout.h"
#include "command/replay.h"
#include "command/simulated_best.h"
#include "selection/cost_model.h"
#include "simulate/simulation.h"
#include "simulation/goal/loggops.h"
#include "simulation/network/network_file.h"
#include "words/collective_names.h"
#include "words/configuration.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr const char* kSimulateFooter = R"(
Examples:
  hocket simulate barrier dissemination --nodes 1024x1
  hocket simulate barrier dissemination --nodes 16x1 --engine nic --network lanai-9.1
  hocket simulate allreduce --nodes 64x8 --bytes 4K --best           every algorithm, the fastest first
  hocket simulate allreduce --nodes 64x8 --bytes 8..1M --best        the best at each size, and where it changes
  hocket simulate alltoall leader --nodes 64x8 --bytes 512 --network infinipath
  hocket simulate barrier dissemination --nodes 16x1 --calls 1000 --engine host-udp --network lab-redirect
  hocket simulate broadcast multicast --nodes 116x1 --multicast-loss 0.5 --runs 100
  hocket simulate allreduce ring --nodes 8x1 --bytes 64K --timeline ring.json    for ui.perfetto.dev
  hocket simulate --goal ring.goal --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535
  hocket simulate --replay run.jsonl        packets of `hocket lab bench barrier --nodes 4 ... --record run.jsonl`
What is simulated, and what is not: docs/simulation.md.)";

struct Words {
  std::string collective, algorithm, bytes = "8", engine = "messages", nic_mode = "collective", skew = "0", noise = "0",
                                     network;
  std::string goal, loggops = "L=2500,o=1500,g=1000,G=6,O=0,S=65535";
  ReplayOptions replay;
  LayoutOptions layout;
  uint32_t ranks = 0, element = 1;
  bool is_best = false, keep_order = false, as_json = false;
  std::optional<double> loss, multicast_loss;  // if not the network's
  std::vector<std::string> late;
  SimulateOptions options;
  std::optional<schedule::Nodes> nodes;
  std::vector<uint64_t> sizes;  // several
};

// By default what hocket's own choice rests on.
Result<simulation::Network> network_of(const std::string& word) {
  if (!word.empty()) return simulation::find_network(word);
  Result<selection::Table> table = table_in_use();
  if (!table.is_ok()) return table.take_status();
  simulation::Network network;
  network.costs = table.value().model();
  return network;
}

// RANK=TIME
Result<simulation::LateRank> read_late(const std::string& word, uint32_t ranks) {
  const size_t sign = word.find('=');
  const Result<uint64_t> rank = parse_size(word.substr(0, sign));
  const Result<double> by_us = simulation::parse_us(sign == std::string::npos ? "" : word.substr(sign + 1));
  constexpr double kMostLate_us = 1e9;
  if (!rank.is_ok() || !by_us.is_ok() || by_us.value() > kMostLate_us)
    return Status(Code::kInvalidArgument, "--late " + word + ": which rank, and by what? For example --late 3=500us");
  if (rank.value() >= ranks)
    return Status(Code::kInvalidArgument,
                  "--late " + word + ": not one of " + std::to_string(ranks) + " ranks, which count from 0");
  return simulation::LateRank{static_cast<uint32_t>(rank.value()), simulation::from_us(by_us.value())};
}

Status settle_network(Words& words) {
  Result<simulation::Network> network = network_of(words.network);
  if (!network.is_ok()) return network.take_status();
  words.options.network = network.take();
  if (words.loss) words.options.network.more.loss = words.options.network.more.nic_loss = *words.loss;
  if (words.multicast_loss) words.options.network.more.multicast_loss = *words.multicast_loss;
  Result<simulation::Distribution> skew = simulation::Distribution::parse(words.skew);
  if (!skew.is_ok()) return skew.take_status();
  Result<simulation::Distribution> noise = simulation::Distribution::parse(words.noise);
  if (!noise.is_ok()) return noise.take_status();
  words.options.situation.skew = skew.value();
  words.options.situation.noise = noise.value();
  words.options.nic_mode = words.nic_mode == "chain"    ? engines::nic::Mode::kChain
                           : words.nic_mode == "direct" ? engines::nic::Mode::kDirect
                                                        : engines::nic::Mode::kCollective;
  words.options.nic_asks_all = words.nic_mode == "broadcast";
  if (words.nic_mode != "collective" && words.engine != "nic")
    return {Code::kInvalidArgument, "--nic-mode goes with --engine nic"};
  words.options.engine = words.engine == "nic"        ? SimulatedEngine::kNic
                         : words.engine == "host-udp" ? SimulatedEngine::kUdp
                                                      : SimulatedEngine::kMessages;
  return Status::ok();
}

// The first; several are for --best.
Result<uint64_t> settle_bytes(Words& words, schedule::Collective collective) {
  if (words.bytes.find_first_of(",.") == std::string::npos) return parse_size(words.bytes);
  Result<std::vector<uint64_t>> sizes = read_sizes("--bytes", words.bytes);
  if (!sizes.is_ok()) return sizes.take_status();
  words.sizes = sizes.take();
  std::sort(words.sizes.begin(), words.sizes.end());
  words.sizes.erase(std::unique(words.sizes.begin(), words.sizes.end()), words.sizes.end());
  if (!words.is_best || collective == schedule::Collective::kBarrier)
    return Status(Code::kInvalidArgument, words.bytes + ": several sizes are for --best, and not for barriers");
  return words.sizes.front();
}

Status settle_call(Words& words) {
  const Result<schedule::Collective> collective = read_collective(words.collective);
  if (!collective.is_ok()) return {collective.status().code(), collective.status().message()};
  Result<std::optional<schedule::Nodes>> layout = layout_of(words.layout, words.ranks);
  if (!layout.is_ok()) return layout.take_status();
  words.nodes = layout.take();
  if (words.ranks == 0) return {Code::kInvalidArgument, "simulate how many ranks? For example --nodes 64x8"};
  const Result<uint64_t> bytes = settle_bytes(words, collective.value());
  if (!bytes.is_ok()) return {Code::kInvalidArgument, "--bytes " + std::string(bytes.status().message())};
  if (words.options.root >= words.ranks)
    return {Code::kInvalidArgument, "root " + std::to_string(words.options.root) + " is not one of " +
                                        std::to_string(words.ranks) + " ranks, which count from 0"};
  if (words.options.calls > 1 && (words.is_best || !words.late.empty() || !words.options.situation.skew.is_nothing()))
    return {Code::kInvalidArgument, "--calls goes without --best, --late and --skew"};
  for (const std::string& word : words.late) {
    const Result<simulation::LateRank> late = read_late(word, words.ranks);
    if (!late.is_ok()) return {late.status().code(), late.status().message()};
    words.options.situation.late.push_back(late.value());
  }
  selection::Query& query = words.options.query;
  query.collective = collective.value();
  query.bytes = query.collective == schedule::Collective::kBarrier ? 0 : bytes.value();
  query.element_bytes = words.element;
  query.ranks = words.ranks;
  query.nodes = words.nodes ? &*words.nodes : nullptr;
  query.why_no_multicast = query.node_count() > 1 ? "" : selection::kWithinANode;
  query.commutative = !words.keep_order;
  const simulation::CostParameters& costs = words.options.network.costs;
  query.oversubscribed = query.ranks_a_node() > costs.cores;
  words.options.situation.shares_cores = selection::shares_cores(query, costs);
  return Status::ok();
}

void print(const Words& words, const Simulated& found) {
  const selection::Query& query = words.options.query;
  std::printf("%s %s, %u ranks on %u nodes, %s bytes, by %s\n", words.collective.c_str(), found.algorithm.c_str(),
              query.ranks, query.node_count(), size_to_text(query.bytes).c_str(), words.engine.c_str());
  std::vector<double> ends = found.ends_us, ranks = found.rank_us;
  std::sort(ends.begin(), ends.end());
  std::sort(ranks.begin(), ranks.end());
  if (found.calls > 1)
    std::printf("  the message goes in %llu calls; of one of them:\n", static_cast<unsigned long long>(found.calls));
  std::printf("  last rank done    %14.3f us", found.median_us());
  if (ends.size() > 1) std::printf("   (%.3f to %.3f in %zu runs)", ends.front(), ends.back(), ends.size());
  if (found.last_come_us > 0) std::printf("   the last came at %.3f us", found.last_come_us);
  std::printf("\n  time in the call  %14.3f us in the median, %.3f to %.3f; of it waiting %.3f in the mean\n",
              ranks[ranks.size() / 2], ranks.front(), ranks.back(), found.waited_us);
  if (words.options.engine == SimulatedEngine::kNic)
    std::printf("  packets           %14llu, of these questions %llu; repeated %llu\n",
                static_cast<unsigned long long>(found.packets), static_cast<unsigned long long>(found.asked),
                static_cast<unsigned long long>(found.repeated));
  else
    std::printf("  between nodes     %14llu messages, %llu bytes; repeated %llu\n",
                static_cast<unsigned long long>(found.messages), static_cast<unsigned long long>(found.bytes),
                static_cast<unsigned long long>(found.repeated));
  if (found.multicasts > 0)
    std::printf("  multicasts        %14llu, missed %llu times\n", static_cast<unsigned long long>(found.multicasts),
                static_cast<unsigned long long>(found.missed));
  // It is not followed through engines.
  if (found.path_steps > 0 && words.options.engine != SimulatedEngine::kNic)
    std::printf("  longest path      %14u steps, %u messages with %llu bytes\n", found.path_steps, found.path_messages,
                static_cast<unsigned long long>(found.path_bytes));
  if (!found.awaited.empty()) std::printf("  waited for longest");
  for (const Awaited& one : found.awaited) std::printf("  rank %u (%.1f us)", one.rank, one.us);
  if (!found.awaited.empty()) std::printf("\n");
  std::printf("  events            %14llu\n", static_cast<unsigned long long>(found.events));
}

nlohmann::ordered_json json_of(const Simulated& found) {
  nlohmann::ordered_json awaited = nlohmann::ordered_json::array();
  for (const Awaited& one : found.awaited) awaited.push_back({{"rank", one.rank}, {"us", one.us}});
  return {{"algorithm", found.algorithm},
          {"end_us", found.median_us()},
          {"calls", found.calls},
          {"runs_us", found.ends_us},
          {"last_come_us", found.last_come_us},
          {"rank_us", found.rank_us},
          {"waited_us", found.waited_us},
          {"messages", found.messages},
          {"bytes", found.bytes},
          {"repeated", found.repeated},
          {"multicasts", found.multicasts},
          {"missed", found.missed},
          {"packets", found.packets},
          {"asked", found.asked},
          {"path_steps", found.path_steps},
          {"path_messages", found.path_messages},
          {"path_bytes", found.path_bytes},
          {"waited_for", awaited},
          {"events", found.events}};
}

void print_all(const std::vector<Simulated>& all) {
  std::printf("%-36s %14s %10s %12s %14s\n", "algorithm", "us", "of best", "messages", "bytes");
  for (const Simulated& found : all)
    std::printf("%-36s %14.3f %10.2f %12llu %14llu\n", found.algorithm.c_str(), found.whole_us(),
                all.front().whole_us() > 0 ? found.whole_us() / all.front().whole_us() : 1,
                static_cast<unsigned long long>(found.messages), static_cast<unsigned long long>(found.bytes));
}

int simulate_best(const Words& words) {
  const std::vector<Simulated> all = simulate_all(words.options);
  if (all.empty()) return fail(kFailure, "no algorithm can serve this call" + why_none(words.options));
  if (!words.as_json) {
    print_all(all);
    return kSuccess;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Simulated& found : all) list.push_back(json_of(found));
  std::printf("%s\n", list.dump(1).c_str());
  return kSuccess;
}

nlohmann::ordered_json json_of(const Words& words, const BestBySize& best) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const BestBySize::Size& size : best.sizes) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Simulated& found : size.all)
      all.push_back({{"algorithm", found.algorithm},
                     {"end_us", found.whole_us()},
                     {"messages", found.messages},
                     {"bytes", found.bytes}});
    sizes.push_back({{"bytes", size.bytes}, {"best", size.all.front().algorithm}, {"algorithms", all}});
  }
  nlohmann::ordered_json crossovers = nlohmann::ordered_json::array();
  for (const Crossover& one : best.crossovers)
    crossovers.push_back({{"before", one.before},
                          {"before_up_to", one.before_up_to},
                          {"best", one.best},
                          {"from", one.from},
                          {"best_us", one.best_us},
                          {"before_us", one.before_us}});
  const selection::Query& query = words.options.query;
  return {{"collective", words.collective}, {"ranks", query.ranks}, {"nodes", query.node_count()},
          {"engine", words.engine},         {"sizes", sizes},       {"crossovers", crossovers}};
}

void print(const Words& words, const BestBySize& best) {
  const selection::Query& query = words.options.query;
  std::printf("%s, %u ranks on %u node%s, by %s: the best of all algorithms at each size\n", words.collective.c_str(),
              query.ranks, query.node_count(), query.node_count() == 1 ? "" : "s", words.engine.c_str());
  std::printf("  %9s  %-32s %14s  %-32s %14s %8s\n", "bytes", "best", "us", "next", "us", "of best");
  for (const BestBySize::Size& size : best.sizes) {
    const Simulated& first = size.all.front();
    std::printf("  %9s  %-32s %14.3f", size_to_text(size.bytes).c_str(), first.algorithm.c_str(), first.whole_us());
    if (size.all.size() > 1)
      std::printf("  %-32s %14.3f %8.2f", size.all[1].algorithm.c_str(), size.all[1].whole_us(),
                  size.all[1].whole_us() / first.whole_us());
    std::printf("\n");
  }
  if (best.crossovers.empty()) std::printf("no crossover: one algorithm is the best at all of these sizes\n");
  for (const Crossover& one : best.crossovers)
    std::printf("from %llu bytes %s is the best, up to %llu %s (%.3f and %.3f us there)\n",
                static_cast<unsigned long long>(one.from), one.best.c_str(),
                static_cast<unsigned long long>(one.before_up_to), one.before.c_str(), one.best_us, one.before_us);
}

int simulate_best_by_size(const Words& words) {
  const Result<BestBySize> best = best_by_size(words.options, words.sizes);
  if (!best.is_ok()) return fail(kFailure, best.status().message());
  if (words.as_json)
    std::printf("%s\n", json_of(words, best.value()).dump(1).c_str());
  else
    print(words, best.value());
  return kSuccess;
}

int simulate_goal(const Words& words) {
  const Result<simulation::LogGops> parameters = simulation::parse_loggops(words.loggops);
  if (!parameters.is_ok()) return fail(kUsage, parameters.status().message());
  std::ifstream stream(words.goal);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return fail(kFailure, "can't read " + words.goal);
  const Result<simulation::Goal> goal = simulation::parse_goal(text.str(), words.goal);
  if (!goal.is_ok()) return fail(kFailure, goal.status().message());
  const Result<simulation::GoalTimes> times = simulation::simulate(goal.value(), parameters.value());
  if (!times.is_ok()) return fail(kFailure, times.status().message());
  const simulation::GoalTimes& found = times.value();
  if (words.as_json) {
    const nlohmann::ordered_json json = {{"goal", words.goal},          {"maximum_ns", found.maximum_ns},
                                         {"times_ns", found.finish_ns}, {"messages", found.messages},
                                         {"bytes", found.bytes},        {"events", found.events}};
    std::printf("%s\n", json.dump(1).c_str());
    return kSuccess;
  }
  std::printf("%s: %u ranks, the last done after %llu ns; %llu messages, %llu bytes, %llu events\n", words.goal.c_str(),
              goal.value().ranks, static_cast<unsigned long long>(found.maximum_ns),
              static_cast<unsigned long long>(found.messages), static_cast<unsigned long long>(found.bytes),
              static_cast<unsigned long long>(found.events));
  return kSuccess;
}

int simulate(Words& words) {
  if (!words.goal.empty()) return simulate_goal(words);
  if (!words.replay.file.empty())
    return simulate_replay(words.replay, words.collective, words.algorithm, words.as_json);
  if (words.collective.empty()) return fail(kUsage, "simulate which collective, or which schedule (--goal FILE)?");
  if (const Status status = settle_network(words); !status.is_ok()) return fail(kUsage, status.message());
  if (const Status status = settle_call(words); !status.is_ok()) return fail(kUsage, status.message());
  if (words.is_best) {
    if (!words.algorithm.empty() || !words.options.trace.empty())
      return fail(kUsage, "--best is of all algorithms: name none, and draw no timeline");
    return words.sizes.empty() ? simulate_best(words) : simulate_best_by_size(words);
  }
  std::optional<selection::Spec> spec;
  if (!words.algorithm.empty()) {
    Result<selection::Spec> parsed = selection::parse_spec(words.options.query.collective, words.algorithm);
    if (!parsed.is_ok()) return fail(kUsage, parsed.status().message());
    if (parsed.value().is_mpis) return fail(kUsage, "mpi: the MPI's own algorithm is no schedule");
    spec = parsed.take();
  }
  const Result<Simulated> found = simulate_spec(words.options, spec ? &*spec : nullptr);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  if (words.as_json)
    std::printf("%s\n", json_of(found.value()).dump(1).c_str());
  else
    print(words, found.value());
  return kSuccess;
}

}  // namespace

void add_simulate(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("simulate", "Simulate a collective on a cluster that need not be there");
  sub->footer(kSimulateFooter);
  auto words = std::make_shared<Words>();
  sub->add_option("collective", words->collective, selection::names_of_collectives())->type_name("COLLECTIVE");
  sub->add_option("algorithm", words->algorithm, "its name and parameters (default: what the model chooses)")
      ->type_name("ALGORITHM");
  sub->add_option("--ranks", words->ranks, "on one node")->check(CLI::Range(1u, 1u << 20));
  add_layout(*sub, words->layout);
  sub->add_option("--bytes", words->bytes,
                  "of the message, or of a block where there is one a rank; with --best also several: 8,64,1K..1M")
      ->capture_default_str();
  sub->add_option("--root", words->options.root, "the rank that has, or gets, all")->capture_default_str();
  sub->add_option("--engine", words->engine, "what carries messages between nodes")
      ->check(CLI::IsMember({"messages", "host-udp", "nic"}))
      ->capture_default_str();
  sub->add_option("--nic-mode", words->nic_mode,
                  "of --engine nic: members ask for what is missing, or count on the wire (chain), or acknowledge each "
                  "message (direct), or one asks all by multicast (broadcast)")
      ->check(CLI::IsMember({"collective", "chain", "direct", "broadcast"}))
      ->capture_default_str();
  sub->add_option("--network", words->network,
                  "a file, or one of those of docs/networks.md (default: the table's model)")
      ->type_name("NETWORK");
  sub->add_option("--skew", words->skew, "how late ranks come: 50us, uniform:0..1ms, exponential:20us, normal:9us,2us")
      ->capture_default_str();
  sub->add_option("--late", words->late, "this rank comes so much later: 3=500us; several by commas")
      ->type_name("RANK=TIME")
      ->delimiter(',');
  sub->add_option("--noise", words->noise, "what each step of a processor takes longer, likewise")
      ->capture_default_str();
  sub->add_option("--loss", words->loss, "part of the messages, or of NIC engines' packets, that get lost")
      ->check(CLI::Range(0.0, 0.99));
  sub->add_option("--multicast-loss", words->multicast_loss, "part of the receivers that miss a multicast")
      ->check(CLI::Range(0.0, 1.0));
  sub->add_option("--seed", words->options.situation.seed)->capture_default_str();
  sub->add_option("--runs", words->options.runs, "with one seed after the other")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  sub->add_option("--calls", words->options.calls,
                  "so many one after the other; times are of one of them, all else of all")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  sub->add_flag("--keep-order", words->keep_order, "for an operation that does not commute");
  sub->add_flag("--best", words->is_best, "all algorithms, the fastest first; of several sizes the best at each");
  sub->add_option("--timeline", words->options.trace, "write the last run for ui.perfetto.dev")->type_name("FILE");
  sub->add_option("--goal", words->goal, "simulate this schedule as LogGOPSim does")->type_name("FILE");
  sub->add_option("--loggops", words->loggops, "with --goal: its parameters, in ns")->capture_default_str();
  sub->add_option("--replay", words->replay.file, "do a recording of `hocket lab record` again, and compare packets")
      ->type_name("FILE");
  sub->add_option("--group", words->replay.group, "with --replay: which of its groups of NIC engines")->type_name("ID");
  sub->add_flag("--json", words->as_json, "the same, and each rank's time, for a program to read");
  sub->callback([=, &invocation] { invocation.run = [=] { return simulate(*words); }; });
}

}  // namespace hocket::command
