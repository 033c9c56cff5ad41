// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/variants.h"

#include <charconv>

#include "algorithms/algorithm.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::Mode;

struct Path {
  const char* name;
  Engines engines;
  std::unique_ptr<BarrierDriver> (*make)(const Place& place);
  const char* algorithm = "dissemination";  // unless another is named
};

template <Mode mode>
Result<nic_program> table_of(const Place& place) {
  return engines::nic::stage_table(place.rank, {mode}, place.plan_of);
}
template <ProgramOf program_of>
std::unique_ptr<BarrierDriver> make_nic(const Place& place) {
  return make_nic_driver(place, program_of);
}
Result<nic_program> broadcast_of(const Place& place) {
  return engines::nic::broadcast_table(place.rank, place.size, place.plan_of);
}
constexpr auto make_collective = make_nic<table_of<Mode::kCollective>>;

const Path kPaths[] = {
    {"nic", Engines::kKernel, make_collective},
    {"nic-chain", Engines::kKernel, make_nic<table_of<Mode::kChain>>},
    {"nic-direct", Engines::kKernel, make_nic<table_of<Mode::kAcknowledged>>},
    // What is named is what it falls back on.
    {"nic-broadcast", Engines::kKernel, make_nic<broadcast_of>, "gather_broadcast/8"},
    {"agent-broadcast", Engines::kAgent, make_nic<broadcast_of>, "gather_broadcast/8"},
    {"nic-xdp", Engines::kDriver, make_collective},
    {"agent", Engines::kAgent, make_collective},
    {"mixed", Engines::kMixed, make_collective},
    {"host-udp", Engines::kNone, make_udp_driver},
    {"host-packet", Engines::kNone, make_packet_driver},
};

Status unknown(const std::string& what, const std::string& text, const std::string& known) {
  return {Code::kInvalidArgument, "`" + text + "` is no " + what + "; there are " + known};
}

std::string known_algorithms() {
  std::string known;
  for (const algorithms::Algorithm* one : algorithms::all()) {
    if (one->collective != schedule::Collective::kBarrier || !algorithms::is_by_messages(*one)) continue;
    known += (known.empty() ? "" : ", ") + std::string(one->name);
  }
  return known;
}

}  // namespace

std::string known_paths() {
  std::string known;
  for (const Path& path : kPaths) known += (known.empty() ? "" : ", ") + std::string(path.name);
  return known + ", mpi:NAME";
}

Result<Variant> parse_variant(const std::string& text) {
  const size_t colon = text.find(':');
  Variant variant;
  variant.name = text;
  variant.path = text.substr(0, colon);
  if (colon != std::string::npos) variant.algorithm = text.substr(colon + 1);
  if (variant.path == "mpi") {
    if (colon == std::string::npos)
      return unknown("MPI", text, "mpi:mpich, mpi:openmpi, ... as of `hocket lab mpirun`");
    variant.mpi = variant.algorithm;
    return variant;
  }
  for (const Path& path : kPaths) {
    if (variant.path != path.name) continue;
    variant.engines = path.engines;
    if (colon == std::string::npos) variant.algorithm = path.algorithm;
    variant.make_driver = path.make;
  }
  if (!variant.make_driver) return unknown("way to carry out a barrier", variant.path, known_paths());
  const size_t slash = variant.algorithm.find('/');
  const std::string name = variant.algorithm.substr(0, slash);
  uint32_t degree = 0;
  if (slash != std::string::npos) {
    const char* end = variant.algorithm.data() + variant.algorithm.size();
    const auto [stopped, error] = std::from_chars(variant.algorithm.data() + slash + 1, end, degree);
    if (error != std::errc() || stopped != end || degree == 0)
      return unknown("degree", variant.algorithm.substr(slash + 1), "1, 2, 3, ...");
  }
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, name);
  if (algorithm == nullptr || !algorithms::is_by_messages(*algorithm))
    return unknown("algorithm of a barrier by messages", name, known_algorithms());
  variant.plan_of = [algorithm, degree](uint32_t size, uint32_t rank) {
    return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree});
  };
  return variant;
}

}  // namespace hocket::lab_bench
