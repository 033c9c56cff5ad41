// SPDX-License-Identifier: BSD-3-Clause
// The nodes' interfaces in the model's walk: they serve some ranks at a time, and each rank's messages one after the
// other.
//
// Thread safety: none; each walk has its own.
#pragma once

#include <vector>

#include "selection/pricing/times.h"
#include "selection/pricing/walk.h"

namespace hocket::selection {

class Wire {
 public:
  // Both outlive it. `by_time`: as Closeness has it.
  Wire(const PricedSchedule& schedule, const CostParameters& parameters, bool by_time);

  // When a message that `from` has handed over at `time` can be taken by its receiver.
  double carry(uint32_t from, const PricedStep& message, double time);
  // The same for what goes to all at once; the switch makes the copies.
  double multicast(uint32_t from, const PricedStep& message, double time);
  // What an interface takes for it that nobody else uses.
  double alone_us(const PricedStep& message) const;

 private:
  struct End {
    std::vector<double> out;  // when each lane is free again
    std::vector<double> in;
    std::vector<Times> out_times;  // in place of these: by_time
    std::vector<Times> in_times;
  };
  struct Rank {
    double out = 0;
    double in = 0;
    Times in_times;
  };

  double carry_by_time(uint32_t from, const PricedStep& message, double time);
  // The lane of these that has room first, and when that is.
  static Times& first_lane(std::vector<Times>& lanes, double ready, double length, double& begin);
  static double& lane_at(double time, std::vector<double>& free_at);
  uint32_t lanes() const;
  double busy(const PricedStep& message, uint32_t node) const;

  const PricedSchedule& schedule_;
  const CostParameters& parameters_;
  bool by_time_;
  std::vector<End> ends_;  // by node
  std::vector<Rank> ranks_;
};

}  // namespace hocket::selection
