// SPDX-License-Identifier: BSD-3-Clause
// All measurements, each with its share of the time.
#include <algorithm>

#include "base/environment.h"
#include "base/size_text.h"
#include "bench/oversubscription.h"
#include "platform/waiting/time_slice.h"
#include "probe/probe.h"
#include "probe/site.h"

namespace hocket::probe {
namespace {

constexpr uint64_t kOverheadSizes[] = {8, 512, 4096};
constexpr uint64_t kMostCopiedBytes = 64 << 10;
constexpr uint64_t kMostSharedBytes = 32 << 20;

std::vector<uint64_t> copied_sizes(uint64_t most, uint32_t ranks) {
  std::vector<uint64_t> sizes;
  const uint64_t room = kMostSharedBytes / (2 * uint64_t{ranks} * ranks);
  for (uint64_t bytes = 64; bytes <= std::min({most, kMostCopiedBytes, room}); bytes *= 4) sizes.push_back(bytes);
  return sizes;
}

class Survey {
 public:
  Survey(const Options& options, bench::World& world, const hocket_wire_t& wire, uint32_t machines,
         const std::function<void(const std::string&)>& say)
      : say_(say), site_{world, wire, options, bench::ranks_share_cores(world), Stopwatch(world)} {
    // As hocket's own ranks do: what is measured shall hold for them.
    const Result<int64_t> slice_us = environment::get_integer("HOCKET_SLICE_US");
    if (site_.oversubscribed && slice_us.is_ok() && slice_us.value() > 0)
      platform::shorten_time_slice(slice_us.value() * 1000);
    const schedule::Nodes& placement = world.placement();
    found_.nodes = placement.count();
    found_.ranks = placement.ranks();
    found_.machines = std::min(machines, placement.count());
    found_.ranks_a_node = placement.fewest();
    found_.oversubscribed = site_.oversubscribed;
    pairs_ = numbers_up_to(std::min(found_.ranks_a_node, options.max_pairs));
    sizes_ = sizes_up_to(options.max_bytes, options.step);
    copied_ = copied_sizes(options.max_bytes, pairs_.back());
    const size_t cells = pairs_.size() * (sizes_.size() + std::size(kBytesANodePair)) + sizes_.size() + copied_.size() +
                         std::size(kOverheadSizes);
    site_.stopwatch.set_share(options.budget_s / static_cast<double>(cells));
  }

  Findings run() {
    for (const uint64_t bytes : sizes_) {
      say_("latency, " + size_to_text(bytes) + " bytes");
      found_.latency.push_back(measure_latency(site_, bytes));
    }
    for (const uint64_t bytes : kOverheadSizes) {
      say_("processor time of a message, " + size_to_text(bytes) + " bytes");
      found_.overhead.push_back(measure_overhead(site_, bytes));
    }
    for (const uint32_t pairs : pairs_)
      for (const uint64_t bytes : sizes_) {
        say_("bandwidth of " + std::to_string(pairs) + " pairs, " + size_to_text(bytes) + " bytes");
        found_.bandwidth.push_back(measure_bandwidth(site_, pairs, bytes));
      }
    for (const uint64_t bytes : kBytesANodePair)
      for (const uint32_t ranks : pairs_) {
        say_("start-up of an all-to-all, " + std::to_string(ranks) + " ranks a node");
        found_.start_up.push_back(measure_start_up(site_, ranks, bytes));
      }
    say_("copies");
    found_.copies = measure_copies(site_, pairs_.back(), copied_);
    return std::move(found_);
  }

 private:
  const std::function<void(const std::string&)>& say_;
  Site site_;
  Findings found_;
  std::vector<uint32_t> pairs_;
  std::vector<uint64_t> sizes_;
  std::vector<uint64_t> copied_;
};

}  // namespace

std::string why_not(const bench::World& world) {
  if (world.placement().count() > 1) return {};
  return "all ranks are on one node: the interface between nodes is known only by ranks on two of them at least";
}

Findings measure(const Options& options, bench::World& world, const hocket_wire_t& wire, uint32_t machines,
                 const std::function<void(const std::string&)>& say) {
  return Survey(options, world, wire, machines, say).run();
}

}  // namespace hocket::probe
