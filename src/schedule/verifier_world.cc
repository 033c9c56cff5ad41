// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier_world.h"

#include <algorithm>

#include "schedule/describe.h"

namespace hocket::schedule {

Layout::Layout(const Plan& plan, const VerifyOptions& options)
    : count_(options.count),
      input_blocks_(input_blocks(plan.collective, plan.shape.size)),
      output_blocks_(output_blocks(plan.collective, plan.shape.size)) {
  const bool is_root = plan.shape.rank == plan.shape.root;
  const bool has_output = plan.collective != Collective::kReduce || is_root;
  output_.length = has_output ? output_blocks_ * count_ : 0;
  extent_ = output_.length;
  input_.length = input_blocks_ * count_;
  const bool in_place = options.in_place && input_blocks_ > 0 && has_output;
  if (!in_place) {
    input_.begin = extent_;
    extent_ += input_.length;
  } else if (plan.collective == Collective::kAllgather) {
    input_.begin = plan.shape.rank * count_;
  }
  for (const ScratchArea& area : plan.scratch) {
    scratch_.push_back({extent_, area.elements(count_)});
    extent_ += scratch_.back().length;
  }
}

std::string Layout::locate(const Slice& slice, Span& span) const {
  span = {};
  if (slice.of == 0 || slice.first > slice.last || slice.origin > slice.first) return "has a slice that makes no sense";
  Span buffer;
  uint32_t blocks = slice.blocks;
  switch (slice.buffer) {
    case Buffer::kNone:
      return slice.first == slice.last ? "" : "uses a slice of no buffer";
    case Buffer::kInput:
      buffer = input_;
      blocks = input_blocks_;
      break;
    case Buffer::kOutput:
      buffer = output_;
      blocks = output_blocks_;
      break;
    case Buffer::kScratch:
      if (slice.area >= scratch_.size()) return "uses a scratch area that the plan doesn't have";
      buffer = scratch_[slice.area];
      break;
  }
  if (blocks != slice.blocks) return "has a slice with the wrong number of blocks";
  const Range range = resolve(slice, count_);
  if (range.length == 0) return "";
  if (range.offset + range.length > buffer.length) {
    return "uses elements " + std::to_string(range.offset) + ".." + std::to_string(range.offset + range.length) +
           " of " + describe(slice) + ", which has " + std::to_string(buffer.length);
  }
  span = {buffer.begin + range.offset, range.length};
  return "";
}

World::World(std::span<const Plan> plans, const VerifyOptions& options)
    : plans(plans),
      options(options),
      contributions(size(), !options.commutative || plans[0].shape.keep_order, options.idempotent),
      clocks(size()),
      stage(size()),
      depth(size()),
      next_depth(size()) {
  layouts.reserve(size());
  memory.reserve(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const Layout& layout = layouts.emplace_back(plans[rank], options);
    std::vector<Cell>& cells = memory.emplace_back(layout.extent());
    const bool is_source = plans[rank].collective == Collective::kBroadcast && rank == plans[rank].shape.root;
    const Span filled = is_source ? layout.output() : layout.input();
    for (uint64_t i = 0; i < filled.length; ++i) {
      cells[filled.begin + i] = {static_cast<uint32_t>(i), contributions.of_rank(rank)};
    }
  }
}

void World::complain(const std::string& text) {
  if (report.problems.size() < options.max_problems) {
    report.problems.push_back(text);
  } else {
    ++report.problems_left_out;
  }
}

void World::complain(Where where, const std::string& text) {
  complain("rank " + std::to_string(where.rank) + " step " + std::to_string(where.step) + " (" + headline(step(where)) +
           ") " + text);
}

uint32_t World::deepen(Where where, uint32_t depth) {
  const uint32_t end = std::max(depth, this->depth[where.rank]) + 1;
  next_depth[where.rank] = std::max(end, next_depth[where.rank]);
  if (trace != nullptr) trace->levels[where.rank][where.step] = end;
  return end;
}

std::string World::mention(Where where) const {
  return "step " + std::to_string(where.step) + " (" + headline(step(where)) + ") of rank " +
         std::to_string(where.rank);
}

std::string World::place(uint32_t rank, uint64_t position) const {
  const Layout& layout = layouts[rank];
  const auto in = [&](Span span, const char* name) {
    return "element " + std::to_string(position - span.begin) + " of " + name;
  };
  const auto holds = [&](Span span) { return position >= span.begin && position < span.end(); };
  if (holds(layout.output())) return in(layout.output(), "output");
  if (holds(layout.input())) return in(layout.input(), "input");
  uint64_t begin = std::max(layout.output().end(), layout.input().end());
  for (size_t area = 0; area < plans[rank].scratch.size(); ++area) {
    const Span span{begin, plans[rank].scratch[area].elements(options.count)};
    if (holds(span)) return in(span, ("scratch" + std::to_string(area)).c_str());
    begin = span.end();
  }
  return "nowhere";
}

}  // namespace hocket::schedule
