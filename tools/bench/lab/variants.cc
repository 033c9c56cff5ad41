// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/variants.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"
#include "algorithms/given_tree.h"
#include "algorithms/shapes.h"
#include "selection/choice.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::Mode;

using schedule::Collective;

// What a way can carry out.
enum class Of : uint8_t { kAll, kBarriers, kReductions };

struct Path {
  const char* name;
  Engines engines;
  std::unique_ptr<Driver> (*make)(const Place& place);
  Of of = Of::kAll;
  const char* algorithm = nullptr;  // unless another is named; nullptr: the collective's
};

template <Mode mode, bool on_arrival = false>
Result<Programs> tables_of(const Place& place) {
  Result<nic_program> plain =
      engines::nic::stage_table(place.rank, {.mode = mode, .on_arrival = on_arrival}, place.plan_of);
  if (!plain.is_ok()) return plain.take_status();
  Programs programs = {plain.take(), {}};
  const Collective collective = place.work.collective;
  if (collective == Collective::kReduce || collective == Collective::kBroadcast) {
    Result<nic_program> twin = engines::nic::stage_table(
        place.rank, {.mode = mode, .synchronizes = true, .on_arrival = on_arrival}, place.plan_of);
    if (!twin.is_ok()) return twin.take_status();
    programs.synchronizing = {twin.take()};
  }
  return programs;
}
template <ProgramsOf programs_of>
std::unique_ptr<Driver> make_nic(const Place& place) {
  return make_nic_driver(place, programs_of);
}
Result<Programs> vote_of(const Place& place) {
  Result<nic_program> program = engines::nic::broadcast_table(place.rank, place.size, place.plan_of);
  if (!program.is_ok()) return program.take_status();
  return Programs{program.take(), {}};
}
constexpr auto make_collective = make_nic<tables_of<Mode::kCollective>>;

const Path kPaths[] = {
    {"nic", Engines::kKernel, make_collective},
    {"nic-chain", Engines::kKernel, make_nic<tables_of<Mode::kChain>>},
    {"nic-arrival", Engines::kKernel, make_nic<tables_of<Mode::kCollective, true>>, Of::kReductions},
    {"nic-direct", Engines::kKernel, make_nic<tables_of<Mode::kDirect>>, Of::kBarriers},
    // What is named is what it falls back on.
    {"nic-broadcast", Engines::kKernel, make_nic<vote_of>, Of::kBarriers, "gather_broadcast/8"},
    {"agent-broadcast", Engines::kAgent, make_nic<vote_of>, Of::kBarriers, "gather_broadcast/8"},
    {"nic-xdp", Engines::kDriver, make_collective, Of::kBarriers},
    {"agent", Engines::kAgent, make_collective},
    {"mixed", Engines::kMixed, make_collective},
    {"host-udp", Engines::kNone, make_udp_driver},
    {"host-packet", Engines::kNone, make_packet_driver},
};

// Other names of what the collectives with data are mostly measured with.
struct Synonym {
  const char* name;
  const char* algorithm;
};
constexpr Synonym kTrees[] = {{"binomial", "tree_mm/2"}, {"chain", "tree_mm/1"}, {"flat", "tree_mm/flat"}};

Status unknown(const std::string& what, const std::string& text, const std::string& known) {
  return {Code::kInvalidArgument, "`" + text + "` is no " + what + "; there are " + known};
}

std::string known_algorithms(Collective collective) {
  std::string known;
  for (const algorithms::Algorithm* one : algorithms::all()) {
    if (one->collective != collective || !algorithms::is_by_messages(*one)) continue;
    known += (known.empty() ? "" : ", ") + std::string(one->name);
  }
  if (collective == Collective::kBarrier) return known;
  for (const Synonym& tree : kTrees) known += ", " + std::string(tree.name);
  return known + " (parents/0.0.0.1, or whose parents they are)";
}

Status give_algorithm(Collective collective, Variant& variant) {
  std::string text = variant.algorithm;
  for (const Synonym& tree : kTrees)
    if (collective != Collective::kBarrier && text == tree.name) text = tree.algorithm;
  variant.schedule = text;
  const std::string name = text.substr(0, text.find('/'));
  const algorithms::Algorithm* algorithm = algorithms::find(collective, name);
  if (algorithm == nullptr || !algorithms::is_by_messages(*algorithm))
    return unknown("algorithm by messages of " + std::string(schedule::name(collective)), name,
                   known_algorithms(collective));
  const Result<selection::PartSpec> spec = selection::parse_part_spec(collective, text);
  if (!spec.is_ok()) return {spec.status().code(), spec.status().message()};
  const uint32_t degree = spec.value().degree;
  if (algorithm->takes_tree && degree != 0) variant.only_size = algorithms::ranks_of_given_tree(degree);
  variant.plan_of = [algorithm, degree](uint32_t size, uint32_t rank) {
    return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree});
  };
  return Status::ok();
}

// How many messages a rank's operand takes to come to rank 0.
uint32_t steps_to_root(const std::vector<uint32_t>& parents, uint32_t rank) {
  uint32_t steps = 0;
  for (; rank != 0 && steps < parents.size(); ++steps) rank = parents[rank];
  return steps;
}

constexpr const char* kMulticast = "multicast";
constexpr const char* kMulticastByLeaders = "leader:across=multicast";

// "mpich" of an MPI's own, or "mpich:ALGORITHM" of hocket's messages under it, without engines.
Status give_mpi(Collective collective, Variant& variant) {
  variant.has_hocket = variant.path == "hocket";
  const size_t colon = variant.algorithm.find(':');
  variant.mpi = variant.algorithm.substr(0, colon);
  if (variant.mpi.empty())
    return unknown("MPI", variant.name,
                   variant.path + ":mpich, " + variant.path + ":openmpi, ... as of `hocket lab mpirun`");
  if (variant.has_hocket && colon == std::string::npos) variant.engines = Engines::kKernel;
  if (colon == std::string::npos) return Status::ok();
  const std::string spec = variant.algorithm.substr(colon + 1);
  if (!variant.has_hocket)
    return {Code::kInvalidArgument, "`" + variant.name + "`: an MPI chooses its own algorithm; mpi:" + variant.mpi};
  const Result<selection::Spec> parsed = selection::parse_spec(collective, spec);
  if (!parsed.is_ok()) return {parsed.status().code(), "`" + variant.name + "`: " + parsed.status().message()};
  variant.settings = {"HOCKET_NIC=off", selection::forcing_variable(collective) + "=" + spec};
  if (selection::multicasts(parsed.value())) variant.settings.emplace_back("HOCKET_MULTICAST=on");
  return Status::ok();
}

}  // namespace

std::string known_paths() {
  std::string known;
  for (const Path& path : kPaths) known += (known.empty() ? "" : ", ") + std::string(path.name);
  return known + ", mpi:NAME, hocket:NAME, hocket:NAME:ALGORITHM, multicast";
}

Result<Variant> parse_variant(const std::string& text, Collective collective, int ranks_per_node) {
  const size_t colon = text.find(':');
  Variant variant;
  variant.name = text;
  variant.path = text.substr(0, colon);
  if (colon != std::string::npos) variant.algorithm = text.substr(colon + 1);
  if (variant.path == kMulticast) {
    if (collective != Collective::kBroadcast)
      return Status(Code::kInvalidArgument,
                    "`" + text + "` is a way to carry out a broadcast only; hocket:mpich:" + kMulticast);
    variant.algorithm = (variant.algorithm.empty() ? "mpich" : variant.algorithm) + ":" +
                        (ranks_per_node > 1 ? kMulticastByLeaders : kMulticast);
    variant.path = "hocket";
  }
  if (variant.path == "mpi" || variant.path == "hocket") {
    HOCKET_TRY(give_mpi(collective, variant));
    return variant;
  }
  for (const Path& path : kPaths) {
    if (variant.path != path.name) continue;
    if (has_blocks(collective))
      return Status(Code::kInvalidArgument, "`" + text + "`: " + std::string(schedule::name(collective)) +
                                                " is measured under MPIs only: mpi:NAME, hocket:NAME (which has NIC "
                                                "engines carry out short ones), hocket:NAME:ALGORITHM");
    if (path.of == Of::kBarriers && collective != Collective::kBarrier)
      return Status(Code::kInvalidArgument, "`" + variant.path + "` is a way to carry out a barrier only");
    if (path.of == Of::kReductions && !schedule::combines(collective))
      return Status(Code::kInvalidArgument, "`" + variant.path + "` is a way to combine operands only");
    variant.engines = path.engines;
    if (colon == std::string::npos)
      variant.algorithm = path.algorithm != nullptr            ? path.algorithm
                          : collective == Collective::kBarrier ? "dissemination"
                                                               : "binomial";
    variant.make_driver = path.make;
  }
  if (!variant.make_driver) return unknown("way to carry out a collective", variant.path, known_paths());
  HOCKET_TRY(give_algorithm(collective, variant));
  return variant;
}

std::vector<std::string> usual_exchanges(Collective collective, const std::vector<int>& nodes, int ranks_per_node) {
  std::vector<std::string> names = {"hocket:mpich"};
  for (const algorithms::Algorithm* one : algorithms::all()) {
    if (one->collective != collective || !algorithms::runs_over_nodes(*one)) continue;
    // With a rank a node there are no levels, and it would be another once more.
    if (ranks_per_node == 1 && algorithms::heeds_nodes(*one)) continue;
    const bool serves = std::all_of(nodes.begin(), nodes.end(), [&](int count) {
      const schedule::Nodes blocks = schedule::Nodes::in_blocks(
          std::vector<uint32_t>(static_cast<size_t>(count), static_cast<uint32_t>(ranks_per_node)));
      const selection::Query query{.collective = collective,
                                   .bytes = sizeof(uint64_t),
                                   .ranks = blocks.ranks(),
                                   .nodes = &blocks,
                                   .why_no_multicast = {}};  // a lab's nodes have it
      return selection::why_not(query, selection::Spec{one}).empty();
    });
    if (serves) names.push_back("hocket:mpich:" + std::string(one->name));
  }
  for (const char* name : {"mpi:mpich", "hocket:openmpi", "mpi:openmpi"}) names.emplace_back(name);
  return names;
}

uint32_t farthest_of(const std::function<schedule::Plan(uint32_t rank)>& plan_of, uint32_t size) {
  std::vector<uint32_t> parents(size);
  for (uint32_t rank = 1; rank < size; ++rank) {
    const schedule::Plan plan = plan_of(rank);
    for (const schedule::Step& step : plan.steps)
      if (step.kind == schedule::StepKind::kSend) parents[rank] = step.peer;
  }
  uint32_t farthest = size - 1;
  for (uint32_t rank = size - 1; rank != 0; --rank)
    if (steps_to_root(parents, rank) > steps_to_root(parents, farthest)) farthest = rank;
  return farthest;
}

}  // namespace hocket::lab_bench
