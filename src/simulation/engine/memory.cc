// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/memory.h"

#include <algorithm>

namespace hocket::simulation {
namespace {

bool has_prices(const CostParameters& costs) {
  return costs.hot_line_us > 0 || costs.source_us_per_kib > 0 || costs.memory_us_per_kib > 0 ||
         costs.other_cache_us > 0 || costs.other_cache_us_per_kib > 0 || costs.other_socket_us > 0 ||
         costs.other_socket_us_per_kib > 0;
}

}  // namespace

Memory::Memory(const Job& job, const CostParameters& costs, bool has_core_each)
    : job_(job), costs_(costs), counts_(has_prices(costs)), hot_(from_us(costs.hot_line_us)) {
  if (!counts_) return;
  place_ranks(has_core_each);
  sources_.resize(job.ranks());
  memories_.resize(job.nodes());
  goes_to_memory_ = costs.memory_us_per_kib > 0 && job.buffers_kib > costs.memory_after_kib;
}

void Memory::place_ranks(bool has_core_each) {
  const uint32_t ranks = job_.ranks();
  if (!job_.cache_of.empty()) {
    for (uint32_t rank = 0; rank < ranks; ++rank) places_.push_back({job_.cache_of[rank], job_.socket_of[rank]});
    return;
  }
  const uint32_t cores = std::max(costs_.cores, 1u);
  if (!has_core_each || job_.nodes() > 1 || ranks > cores) return;
  const uint64_t caches = std::min(costs_.caches, cores);
  const uint64_t sockets = std::min(costs_.sockets, cores);
  for (uint64_t rank = 0; rank < ranks; ++rank)
    places_.push_back({static_cast<uint32_t>(rank * caches / cores), static_cast<uint32_t>(rank * sockets / cores)});
}

Time Memory::farther(uint32_t rank, uint32_t other) const {
  if (places_.empty() || other == kNothing) return 0;
  if (places_[rank].socket != places_[other].socket) return from_us(costs_.other_socket_us);
  return places_[rank].cache != places_[other].cache ? from_us(costs_.other_cache_us) : 0;
}

double Memory::farther_byte(uint32_t rank, uint32_t other) const {
  if (places_.empty()) return 0;
  if (places_[rank].socket != places_[other].socket) return byte_of(costs_.other_socket_us_per_kib);
  return places_[rank].cache != places_[other].cache ? byte_of(costs_.other_cache_us_per_kib) : 0;
}

Time Memory::reach(uint32_t number, Time time) {
  const Step& step = job_.steps[number];
  if (step.is(Step::kByWire)) return time;
  const bool adds = step.work == Work::kAdd || (step.work == Work::kPut && step.other != kNothing);
  if (step.partner != kNothing && step.work != Work::kSend) {
    if (adds) counters_[step.other].last = step.rank;
    Line& line = published_[step.partner];
    if (std::find(line.have_it.begin(), line.have_it.end(), step.rank) != line.have_it.end()) return time;
    line.have_it.push_back(step.rank);
    return serve(line.free_at, time, hot_) - hot_ + farther(step.rank, job_.steps[step.partner].rank);
  }
  if (!adds && step.work != Work::kWait) return time;
  Line& line = counters_[step.other];
  if (line.last == step.rank) return time;
  const Time begin = serve(line.free_at, time, hot_) - hot_ + farther(step.rank, line.last);
  line.last = step.rank;
  return begin;
}

Time Memory::move(uint32_t number, Time begin, Time end) {
  const Step& step = job_.steps[number];
  if (step.is(Step::kByWire) || !step.is(Step::kCopies) || step.bytes == 0) return end;
  const bool has_producer = step.partner != kNothing && step.work != Work::kSend;
  if (const uint32_t peer = has_producer ? job_.steps[step.partner].rank : step.rank; peer != step.rank) {
    end += Prices::times(step.bytes, farther_byte(step.rank, peer));
    // What it puts into a peer's memory comes out of its own cache.
    if (costs_.source_us_per_kib > 0 && step.work != Work::kPut)
      end = std::max(end, serve(sources_[peer], begin, Prices::times(step.bytes, byte_of(costs_.source_us_per_kib))));
  }
  if (goes_to_memory_ && step.is(Step::kFills)) {
    Time& memory = memories_[job_.node_of[step.rank]];
    end = std::max(end, serve(memory, begin, Prices::times(step.bytes, byte_of(costs_.memory_us_per_kib))));
  }
  return end;
}

}  // namespace hocket::simulation
