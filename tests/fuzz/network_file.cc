// SPDX-License-Identifier: BSD-3-Clause
// A network comes from a file that anybody may have written: it is refused with a reason, or written again as the same
// network, and calls on it come to an end.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "simulation/engine/engine.h"
#include "simulation/network/network_file.h"

using namespace hocket;
using namespace hocket::simulation;

namespace {

void simulate(const Network& network, schedule::Collective collective, const char* name, bool shares_cores) {
  const schedule::Nodes nodes = schedule::Nodes::in_blocks({3, 2, 1});
  JobWriter writer(nodes.ranks(), &nodes, 300, 8, true);
  schedule::Shape shape{.size = nodes.ranks(), .nodes = &nodes};
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank)
    writer.add(algorithms::make_plan(*algorithms::find(collective, name), shape));
  const Job job = writer.finish();
  const Outcome outcome = Engine(job, network, {.shares_cores = shares_cores}).run();
  if (!outcome.is_finished || outcome.end == kNever) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Network> network = parse_network(text, "input.network");
  if (!network.is_ok()) {
    if (*network.status().message() == 0) std::abort();
    return 0;
  }
  const bool has_sources = size % 2 == 0;
  const std::string written = network_to_text(network.value(), "written\nagain", [=](std::string_view name) {
    return has_sources ? "of " + std::string(name) : "";
  });
  const Result<Network> again = parse_network(written, "input.network");
  if (!again.is_ok() || again.value().costs != network.value().costs || again.value().more != network.value().more)
    std::abort();
  simulate(network.value(), schedule::Collective::kAllreduce, "leader", has_sources);
  simulate(network.value(), schedule::Collective::kAlltoall, "pairwise", !has_sources);
  return 0;
}
