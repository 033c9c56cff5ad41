// SPDX-License-Identifier: BSD-3-Clause
// From an algorithm written for root 0 to the plan of a real rank for a real root.
#include <numeric>

#include "algorithms/algorithm.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Plan;
using schedule::Shape;
using schedule::Slice;
using schedule::Step;

// The plan of rank (rank - root) mod size for root 0, with the peers' real numbers written in.
Plan turned(const Algorithm& algorithm, const Shape& shape) {
  Shape relative = shape;
  relative.rank = (shape.rank + shape.size - shape.root) % shape.size;
  relative.root = 0;
  Builder builder(algorithm.collective, relative);
  algorithm.build(builder);
  Plan plan = builder.finish();
  plan.shape = shape;
  const auto turn = [&](uint32_t rank) {
    return static_cast<uint32_t>((static_cast<uint64_t>(rank) + shape.root) % shape.size);
  };
  for (Step& step : plan.steps) {
    if (step.peer != schedule::kShared) step.peer = turn(step.peer);
    if (step.kind == schedule::StepKind::kFirstOf || step.kind == schedule::StepKind::kExpect)
      step.second_peer = turn(step.second_peer);
  }
  return plan;
}

// Turning would turn the order of the operands too. So rank 0 reduces, into scratch memory because its output is not
// its to write, and forwards the result to the root: one message more.
Plan reduced_at_zero_then_forwarded(const Algorithm& algorithm, const Shape& shape) {
  Builder builder(algorithm.collective, shape);
  Builder::GroupOptions options;
  options.ranks.resize(shape.size);
  std::iota(options.ranks.begin(), options.ranks.end(), 0u);
  options.segments = shape.segments;
  options.degree = shape.degree;
  options.input = builder.input();
  Slice result;
  if (shape.rank == 0) {
    result = Builder::in_scratch(builder.scratch_area(builder.input()), builder.input(), builder.input());
    options.output = result;
  }
  builder.enter_group(options);
  algorithm.build(builder);
  builder.leave_group();
  if (shape.rank == 0) builder.send(shape.root, result);
  if (shape.rank == shape.root) builder.receive(0, builder.output());
  return builder.finish();
}

}  // namespace

Plan make_plan(const Algorithm& algorithm, const Shape& shape) {
  if (algorithm.root_relative && shape.root != 0) {
    const bool order_matters = algorithm.collective == schedule::Collective::kReduce && shape.keep_order;
    if (order_matters && algorithm.can_keep_order) return reduced_at_zero_then_forwarded(algorithm, shape);
    return turned(algorithm, shape);
  }
  Builder builder(algorithm.collective, shape);
  algorithm.build(builder);
  return builder.finish();
}

}  // namespace hocket::algorithms
