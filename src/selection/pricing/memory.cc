// SPDX-License-Identifier: BSD-3-Clause
#include "selection/pricing/memory.h"

#include <algorithm>

namespace hocket::selection {
namespace {

bool has_prices(const CostParameters& parameters) {
  return parameters.hot_line_us > 0 || parameters.source_us_per_kib > 0 || parameters.memory_us_per_kib > 0 ||
         parameters.other_cache_us > 0 || parameters.other_cache_us_per_kib > 0 || parameters.other_socket_us > 0 ||
         parameters.other_socket_us_per_kib > 0;
}

}  // namespace

Memory::Memory(const PricedSchedule& schedule, const CostParameters& parameters, bool has_core_each)
    : schedule_(schedule), parameters_(parameters), counts_(has_prices(parameters)) {
  if (!counts_) return;
  place_ranks(has_core_each);
  sources_.resize(schedule.ranks());
  memories_.resize(schedule.users.size());
  goes_to_memory_ = parameters.memory_us_per_kib > 0 && schedule.buffers_kib > parameters.memory_after_kib;
}

void Memory::place_ranks(bool has_core_each) {
  const uint32_t ranks = schedule_.ranks();
  if (!schedule_.cache_of.empty()) {
    for (uint32_t rank = 0; rank < ranks; ++rank)
      places_.push_back({schedule_.cache_of[rank], schedule_.socket_of[rank]});
    return;
  }
  const uint32_t cores = std::max(parameters_.cores, 1u);
  if (!has_core_each || schedule_.users.size() > 1 || ranks > cores) return;
  const uint64_t caches = std::min(parameters_.caches, cores);
  const uint64_t sockets = std::min(parameters_.sockets, cores);
  for (uint64_t rank = 0; rank < ranks; ++rank)
    places_.push_back({static_cast<uint32_t>(rank * caches / cores), static_cast<uint32_t>(rank * sockets / cores)});
}

uint32_t Memory::rank_of(uint32_t step) const {
  const auto next = std::upper_bound(schedule_.begins.begin(), schedule_.begins.end(), step);
  return static_cast<uint32_t>(next - schedule_.begins.begin()) - 1;
}

double Memory::farther_us(uint32_t rank, uint32_t other) const {
  if (places_.empty() || other == kNothing) return 0;
  if (places_[rank].socket != places_[other].socket) return parameters_.other_socket_us;
  return places_[rank].cache != places_[other].cache ? parameters_.other_cache_us : 0;
}

double Memory::farther_us_per_kib(uint32_t rank, uint32_t other) const {
  if (places_.empty()) return 0;
  if (places_[rank].socket != places_[other].socket) return parameters_.other_socket_us_per_kib;
  return places_[rank].cache != places_[other].cache ? parameters_.other_cache_us_per_kib : 0;
}

double Memory::reach(uint32_t rank, uint32_t number, double time) {
  const PricedStep& step = schedule_.steps[number];
  if (step.by_wire) return time;
  const double hot_us = parameters_.hot_line_us;
  if (step.producer != kNothing && step.waits_for == kNothing) {
    if (step.adds_to != kNothing) counters_[step.adds_to].last = rank;
    Line& line = published_[step.producer];
    if (std::find(line.have_it.begin(), line.have_it.end(), rank) != line.have_it.end()) return time;
    line.have_it.push_back(rank);
    return line.times.serve(time, hot_us) - hot_us + farther_us(rank, rank_of(step.producer));
  }
  const uint32_t counter = step.adds_to != kNothing ? step.adds_to : step.waits_for;
  if (counter == kNothing) return time;
  Line& line = counters_[counter];
  if (line.last == rank) return time;
  const double begin = line.times.serve(time, hot_us) - hot_us + farther_us(rank, line.last);
  line.last = rank;
  return begin;
}

double Memory::move(uint32_t rank, uint32_t number, double begin, double end) {
  const PricedStep& step = schedule_.steps[number];
  if (step.by_wire || step.moved_kib <= 0) return end;
  if (const uint32_t peer = step.producer != kNothing ? rank_of(step.producer) : rank; peer != rank) {
    end += step.moved_kib * farther_us_per_kib(rank, peer);
    // What it puts into a peer's memory comes out of its own cache.
    if (parameters_.source_us_per_kib > 0 && step.adds_to == kNothing)
      end = std::max(end, sources_[peer].serve(begin, step.moved_kib * parameters_.source_us_per_kib));
  }
  if (goes_to_memory_ && step.memory_kib > 0) {
    Times& memory = memories_[schedule_.node_of[rank]];
    end = std::max(end, memory.serve(begin, step.memory_kib * parameters_.memory_us_per_kib));
  }
  return end;
}

}  // namespace hocket::selection
