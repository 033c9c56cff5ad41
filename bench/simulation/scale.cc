// SPDX-License-Identifier: BSD-3-Clause
// How simulations grow with the number of ranks: seconds for making a job of the plans of all ranks and for running it,
// events, and the most memory. A process of its own for each line, so that none's memory is another's.
//
//   simulation_scale [RANKS ...]         1000, 10000, 100000 and 1000000, if none is named
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "algorithms/algorithm.h"
#include "simulation/engine/engine.h"

namespace {

using hocket::schedule::Collective;
using hocket::schedule::Nodes;
namespace simulation = hocket::simulation;

struct Case {
  Collective collective;
  const char* algorithm;
  uint32_t ranks_a_node;
};
constexpr Case kCases[] = {{Collective::kBarrier, "dissemination", 1}, {Collective::kAllreduce, "leader", 16}};
constexpr uint64_t kCount = 1;
constexpr uint64_t kElementBytes = 8;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Nodes nodes_of(uint32_t ranks, uint32_t ranks_a_node) {
  std::vector<uint32_t> ranks_on(ranks / ranks_a_node, ranks_a_node);
  if (ranks % ranks_a_node != 0) ranks_on.push_back(ranks % ranks_a_node);
  return Nodes::in_blocks(ranks_on);
}

int measure(const Case& what, uint32_t ranks) {
  const auto* algorithm = hocket::algorithms::find(what.collective, what.algorithm);
  const auto skew = simulation::Distribution::parse("uniform:0..1ms");
  if (algorithm == nullptr || !skew.is_ok()) return 1;
  const auto start = std::chrono::steady_clock::now();
  const Nodes nodes = nodes_of(ranks, what.ranks_a_node);
  simulation::JobWriter writer(ranks, &nodes, kCount, kElementBytes, /*finds_misses=*/false);
  hocket::schedule::Shape shape;
  shape.size = ranks;
  shape.nodes = &nodes;
  for (shape.rank = 0; shape.rank < ranks; ++shape.rank) writer.add(hocket::algorithms::make_plan(*algorithm, shape));
  const double adding = seconds_since(start);
  const simulation::Job job = writer.finish();
  const double making = seconds_since(start);

  const auto begin = std::chrono::steady_clock::now();
  const simulation::Network network;
  simulation::Situation situation;
  situation.skew = skew.value();
  simulation::Engine engine(job, network, situation);
  const simulation::Outcome outcome = engine.run();
  const double running = seconds_since(begin);

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-10s %-14s %5u %9u %11zu %8.2f %8.2f %8.2f %12llu %10.2f %9.1f   %.3f\n",
              hocket::schedule::name(what.collective).data(), what.algorithm, what.ranks_a_node, ranks,
              job.steps.size(), making, adding, running, static_cast<unsigned long long>(outcome.events),
              static_cast<double>(outcome.events) / running / 1e6, static_cast<double>(usage.ru_maxrss) / 1024,
              static_cast<double>(outcome.end) / simulation::kPerMicrosecond);
  std::fflush(stdout);
  return outcome.is_finished ? 0 : 1;
}

bool measure_apart(const Case& what, uint32_t ranks) {
  const pid_t child = fork();
  if (child == 0) _exit(measure(what, ranks));
  int status = 1;
  const bool is_over = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  if (!is_over) std::fprintf(stderr, "simulation_scale: %s of %u ranks has failed\n", what.algorithm, ranks);
  return is_over;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<uint32_t> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(static_cast<uint32_t>(std::strtoul(arguments[i], nullptr, 10)));
  if (sizes.empty()) sizes = {1000, 10000, 100000, 1000000};
  std::printf("%-10s %-14s %5s %9s %11s %8s %8s %8s %12s %10s %9s   %s\n", "collective", "algorithm", "/node", "ranks",
              "steps", "make s", "of add s", "run s", "events", "Mevents/s", "peak MiB", "simulated us");
  std::fflush(stdout);
  bool all_are_over = true;
  for (const Case& what : kCases)
    for (const uint32_t ranks : sizes) all_are_over &= ranks > 0 && measure_apart(what, ranks);
  return all_are_over ? 0 : 1;
}
