// SPDX-License-Identifier: BSD-3-Clause
#include "selection/pricing/wire.h"

#include <algorithm>

namespace hocket::selection {

Wire::Wire(const PricedSchedule& schedule, const CostParameters& parameters, bool by_time)
    : schedule_(schedule),
      parameters_(parameters),
      by_time_(by_time),
      ends_(schedule.users.size()),
      ranks_(schedule.ranks()) {
  for (End& end : ends_) {
    end.out.resize(lanes()), end.in.resize(lanes());
    if (by_time) end.out_times.resize(lanes()), end.in_times.resize(lanes());
  }
}

double Wire::carry(uint32_t from, const PricedStep& message, double time) {
  if (by_time_) return carry_by_time(from, message, time);
  const uint32_t there = schedule_.node_of[message.to_rank];
  const uint32_t here = schedule_.node_of[from];
  const double ready = std::max(time, ranks_[from].out);
  double& out = lane_at(ready, ends_[here].out);
  const double left = std::max(ready, out);
  out = ranks_[from].out = left + busy(message, here);
  // It comes in while it goes out.
  const double begins = std::max(left + parameters_.wire_alpha_us, ranks_[message.to_rank].in);
  double& in = lane_at(begins, ends_[there].in);
  in = ranks_[message.to_rank].in =
      std::max(std::max(begins, in) + busy(message, there), ranks_[from].out + parameters_.wire_alpha_us);
  return in;
}

double Wire::carry_by_time(uint32_t from, const PricedStep& message, double time) {
  const uint32_t there = schedule_.node_of[message.to_rank];
  const uint32_t here = schedule_.node_of[from];
  const double sending = busy(message, here);
  double left = 0;
  Times& out = first_lane(ends_[here].out_times, std::max(time, ranks_[from].out), sending, left);
  out.take(left, left + sending);
  ranks_[from].out = left + sending;
  const double taking = busy(message, there);
  Times& own = ranks_[message.to_rank].in_times;
  double begins = left + parameters_.wire_alpha_us;
  for (;;) {
    const double own_begins = own.first_free(begins, taking);
    Times& in = first_lane(ends_[there].in_times, own_begins, taking, begins);
    if (begins > own_begins) continue;
    const double end = std::max(begins + taking, ranks_[from].out + parameters_.wire_alpha_us);
    own.take(begins, begins + taking);
    in.take(begins, begins + taking);
    return end;
  }
}

double Wire::multicast(uint32_t from, const PricedStep& message, double time) {
  const uint32_t here = schedule_.node_of[from];
  const double ready = std::max(time, ranks_[from].out);
  double& out = lane_at(ready, ends_[here].out);
  out = ranks_[from].out = std::max(ready, out) + busy(message, here);
  return out + parameters_.wire_alpha_us;
}

Times& Wire::first_lane(std::vector<Times>& lanes, double ready, double length, double& begin) {
  Times* found = nullptr;
  for (Times& lane : lanes) {
    const double free_at = lane.first_free(ready, length);
    if (found != nullptr && free_at >= begin) continue;
    found = &lane;
    begin = free_at;
  }
  return *found;
}

// The lane that would be idle for the shortest time before: a lane that is free earlier may serve a rank that comes
// later in the walk.
double& Wire::lane_at(double time, std::vector<double>& free_at) {
  double* found = nullptr;
  for (double& lane : free_at) {
    if (found == nullptr || (lane <= time && (*found > time || lane > *found)) || (*found > time && lane < *found))
      found = &lane;
  }
  return *found;
}

uint32_t Wire::lanes() const { return std::clamp(parameters_.wire_lanes, 1u, std::max(schedule_.ranks(), 1u)); }

double Wire::alone_us(const PricedStep& message) const {
  return parameters_.wire_gap_us + message.wire_kib * parameters_.wire_beta_us_per_kib;
}

double Wire::busy(const PricedStep& message, uint32_t node) const {
  const uint32_t users = schedule_.users[node];
  const double beyond = users > lanes() ? users - lanes() : 0;
  return alone_us(message) * (1 + parameters_.wire_crowding * beyond);
}

}  // namespace hocket::selection
