// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/block_row.h"

#include <numeric>
#include <unordered_map>
#include <utility>

#include "algorithms/composition.h"

namespace hocket::algorithms {

using schedule::Builder;

void arrange(Builder& builder, const BlockRow& row, const BlockRow& place) {
  if (row.slice == place.slice && row.blocks == place.blocks) return;
  std::unordered_map<uint64_t, uint32_t> where;
  for (uint32_t i = 0; i < row.blocks.size(); ++i) where.emplace(row.blocks[i], i);
  const auto from = [&](uint32_t i) { return where.at(place.blocks[i]); };
  const auto size = static_cast<uint32_t>(row.blocks.size());
  const auto count = static_cast<uint32_t>(place.blocks.size());
  builder.begin_stage();
  for (uint32_t first = 0; first < count;) {
    uint32_t last = first + 1;
    while (last < count && from(last) == from(last - 1) + 1) ++last;
    builder.copy(Builder::parts_of(row.slice, from(first), from(first) + (last - first), size),
                 Builder::parts_of(place.slice, first, last, count));
    first = last;
  }
  builder.end_stage();
}

BlockRow arranged(Builder& builder, const BlockRow& row, BlockList order) {
  if (row.blocks == order) return row;
  const auto count = static_cast<uint32_t>(order.size());
  if (count == 0) return {like_row(0), {}};
  BlockRow place{scratch_row(builder, count), std::move(order)};
  arrange(builder, row, place);
  return place;
}

BlockRow room_for(Builder& builder, BlockList blocks, const BlockRow& place) {
  if (blocks == place.blocks) return place;
  const auto count = static_cast<uint32_t>(blocks.size());
  return {count == 0 ? like_row(0) : scratch_row(builder, count), std::move(blocks)};
}

BlockList ranks_in_order(const schedule::Nodes& nodes) {
  BlockList ranks(nodes.ranks());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

BlockList by_node(const schedule::Nodes& nodes) { return as_blocks(ranks_by_node(nodes)); }

}  // namespace hocket::algorithms
