// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/block_row.h"

#include <numeric>
#include <unordered_map>
#include <utility>

#include "algorithms/composition.h"

namespace hocket::algorithms {

using schedule::Builder;
using schedule::Share;
using schedule::Slice;

namespace {

bool lies_apart(const Builder& builder, const BlockRow& row) {
  return builder.blocks_lie_apart() && row.slice.buffer != schedule::Buffer::kScratch;
}

Slice blocks_of(const Builder& builder, const BlockRow& row, uint32_t first, uint32_t last) {
  const Slice blocks = Builder::parts_of(row.slice, first, last, static_cast<uint32_t>(row.blocks.size()));
  return lies_apart(builder, row) ? as_short(builder, blocks) : blocks;
}

}  // namespace

Slice as_short(const Builder& builder, Slice block) {
  if (builder.blocks_lie_apart()) block.share = Share::kShort;
  return block;
}

Slice as_long(Slice block) {
  block.share = Share::kLong;
  return block;
}

void arrange(Builder& builder, const BlockRow& row, const BlockRow& place) {
  if (row.slice == place.slice && row.blocks == place.blocks) return;
  std::unordered_map<uint64_t, uint32_t> where;
  for (uint32_t i = 0; i < row.blocks.size(); ++i) where.emplace(row.blocks[i], i);
  const auto from = [&](uint32_t i) { return where.at(place.blocks[i]); };
  const auto count = static_cast<uint32_t>(place.blocks.size());
  const bool one_by_one = lies_apart(builder, row) || lies_apart(builder, place);
  builder.begin_stage();
  for (uint32_t first = 0; first < count;) {
    uint32_t last = first + 1;
    while (!one_by_one && last < count && from(last) == from(last - 1) + 1) ++last;
    builder.copy(blocks_of(builder, row, from(first), from(first) + (last - first)),
                 blocks_of(builder, place, first, last));
    first = last;
  }
  builder.end_stage();
}

BlockRow arranged(Builder& builder, const BlockRow& row, BlockList order) {
  if (row.blocks == order && !lies_apart(builder, row)) return row;
  BlockRow place = room_for(builder, std::move(order));
  if (place.blocks.empty()) return place;
  arrange(builder, row, place);
  return place;
}

BlockRow room_for(Builder& builder, BlockList blocks, const BlockRow& place) {
  if (blocks == place.blocks && !lies_apart(builder, place)) return place;
  return room_for(builder, std::move(blocks));
}

BlockRow room_for(Builder& builder, BlockList blocks) {
  if (blocks.empty()) return {like_row(0), {}};
  const Slice row = builder.scratch_row(blocks);
  return {row, std::move(blocks)};
}

BlockList ranks_in_order(const schedule::Nodes& nodes) {
  BlockList ranks(nodes.ranks());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

BlockList by_node(const schedule::Nodes& nodes) { return as_blocks(ranks_by_node(nodes)); }

}  // namespace hocket::algorithms
