// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/world.h"

#include <algorithm>
#include <numeric>

#include "schedule/describe.h"

namespace hocket::schedule {

Layout::Layout(const Plan& plan, const VerifyOptions& options)
    : input_blocks_(schedule::input_blocks(plan.collective, plan.shape)),
      output_blocks_(schedule::output_blocks(plan.collective, plan.shape)) {
  extents_.count = options.count;
  if (!options.lengths.empty()) {
    if (plan.shape.neighbours != nullptr) {
      make_vectors_of_neighbours(plan, options.lengths);
    } else {
      make_vectors(plan, options.lengths);
    }
    lay_rows(plan, options);
  }
  place_buffers(plan);
  for (size_t area = 0; area < plan.scratch.size(); ++area) {
    scratch_.push_back({extent_, scratch_elements(plan, static_cast<uint8_t>(area), extents_)});
    extent_ += scratch_.back().length;
  }
}

void Layout::make_vectors(const Plan& plan, std::span<const uint64_t> lengths) {
  const uint32_t rank = plan.shape.rank;
  const uint32_t size = plan.shape.size;
  extents_.count = lengths[rank];
  extents_.varies = true;
  if (size == 1) return;
  const bool is_alltoall = plan.collective == Collective::kAlltoall;
  const auto fill = [&](uint32_t blocks, Vector& vector, const auto& length_of) {
    if (blocks <= 1) return false;
    for (uint32_t other = 0; other < size; ++other) vector.counts.push_back(lengths[length_of(other)]);
    lay(vector, plan.collective == Collective::kReduceScatterBlock);
    return true;
  };
  const auto sent = [&](uint32_t to) { return is_alltoall ? rank * size + to : to; };
  const auto received = [&](uint32_t from) { return is_alltoall ? from * size + rank : from; };
  const Vector* followed = nullptr;
  if (fill(output_blocks_, output_vector_, received)) {
    extents_.output = &output_vector_.blocks;
    followed = &output_vector_;
  }
  if (fill(input_blocks_, input_vector_, sent)) {
    extents_.input = &input_vector_.blocks;
    followed = &input_vector_;
  }
  if (followed == nullptr) return;
  extents_.longest = *std::max_element(followed->counts.begin(), followed->counts.end());
  extents_.total = std::accumulate(followed->counts.begin(), followed->counts.end(), uint64_t{0});
}

// Where there is no neighbour, the caller may have any length.
void Layout::make_vectors_of_neighbours(const Plan& plan, std::span<const uint64_t> lengths) {
  constexpr uint64_t kOfNobody = 2;
  const uint32_t rank = plan.shape.rank;
  const Neighbours& neighbours = *plan.shape.neighbours;
  const bool is_one = plan.collective == Collective::kNeighborAllgather;
  const std::span<const uint32_t> sources = neighbours.sources(rank);
  extents_.count = is_one ? lengths[rank] : 0;
  extents_.varies = true;
  extents_.has_short_vectors = true;
  for (uint32_t k = 0; k < sources.size(); ++k) {
    const bool is_there = sources[k] != kNoRank;
    output_vector_.counts.push_back(!is_there ? kOfNobody
                                    : is_one  ? lengths[sources[k]]
                                              : lengths[neighbours.number_in(rank, k)]);
  }
  lay(output_vector_, /*dense=*/false);
  if (!sources.empty()) extents_.output = &output_vector_.blocks;
  if (is_one || input_blocks_ == 0) return;
  for (uint32_t k = 0; k < input_blocks_; ++k) input_vector_.counts.push_back(lengths[neighbours.number_out(rank, k)]);
  lay(input_vector_, /*dense=*/false);
  extents_.input = &input_vector_.blocks;
}

// Blocks that pass on others' go by the numbers of options.lengths. Too long ones take no part.
void Layout::lay_rows(const Plan& plan, const VerifyOptions& options) {
  extents_.longest_short = options.longest_short;
  if (plan.rows.empty()) return;
  rows_.lay(plan, [&](uint64_t block) {
    const uint64_t length = options.lengths[block];
    return length <= options.longest_short ? length : 0;
  });
  extents_.rows = &rows_;
}

// Last block first, and room between them, so that a slice of two blocks can't go unnoticed.
void Layout::lay(Vector& vector, bool dense) const {
  const size_t size = vector.counts.size();
  vector.displacements.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t block = dense ? i : size - 1 - i;
    vector.displacements[block] = vector.extent;
    vector.extent += vector.counts[block] + (dense ? 0 : 1 + i % 2);
  }
  vector.blocks = {vector.counts.data(), vector.displacements.data()};
}

void Layout::place_buffers(const Plan& plan) {
  const uint32_t rank = plan.shape.rank;
  const bool is_root = rank == plan.shape.root;
  const auto extent = [&](const Vector& vector, uint32_t blocks) {
    return vector.counts.empty() ? blocks * extents_.count : vector.extent;
  };
  if (has_input(plan.collective, is_root)) input_.length = extent(input_vector_, input_blocks_);
  if (has_output(plan.collective, is_root)) output_.length = extent(output_vector_, output_blocks_);
  const bool has_both = input_blocks_ > 0 && output_blocks_ > 0 && has_input(plan.collective, is_root) &&
                        has_output(plan.collective, is_root);
  const bool has_role = !schedule::has_root(plan.collective) || is_root;
  const bool shares = plan.shape.in_place && has_both && has_role;
  if (shares && output_blocks_ > input_blocks_) {
    input_.begin = output_block(rank).begin;
  } else if (shares && input_blocks_ > output_blocks_) {
    output_.begin = input_block(rank).begin;
  } else if (!shares) {
    input_.begin = output_.end();
  }
  extent_ = std::max(input_.end(), output_.end());
}

Span Layout::block_of(Span buffer, const Vector& vector, uint32_t blocks, uint32_t block) const {
  if (buffer.length == 0) return {};
  if (vector.counts.empty()) return {buffer.begin + (blocks > 1 ? block * extents_.count : 0), extents_.count};
  return {buffer.begin + vector.displacements[block], vector.counts[block]};
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
  const Range range = resolve(slice, extents_);
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
      next_depth(size()),
      one_node(size()) {
  memory.reserve(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const Layout& layout = layouts.emplace_back(plans[rank], options);
    std::vector<Cell>& cells = memory.emplace_back(layout.extent());
    const auto fill = [&](Span buffer, Span block) {
      for (uint64_t i = block.begin; i < block.end(); ++i) {
        cells[i] = {static_cast<uint32_t>(i - buffer.begin), contributions.of_rank(rank)};
      }
    };
    if (plans[rank].collective == Collective::kBroadcast && rank == plans[rank].shape.root) {
      fill(layout.output(), layout.output());
    }
    for (uint32_t block = 0; block < layout.input_blocks(); ++block) fill(layout.input(), layout.input_block(block));
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
    const Span span{begin, scratch_elements(plans[rank], static_cast<uint8_t>(area), layout.extents())};
    if (holds(span)) return in(span, ("scratch" + std::to_string(area)).c_str());
    begin = span.end();
  }
  return "nowhere";
}

}  // namespace hocket::schedule
