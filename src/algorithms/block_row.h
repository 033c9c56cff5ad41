// SPDX-License-Identifier: BSD-3-Clause
// Blocks side by side in a buffer, and getting them into another order.
//
// Compositions of exchanges hand blocks on in bundles. Which block lies where is written down here, so that sender and
// receiver of a bundle need only agree on a list, and blocks are copied only where they don't lie as they should.
//
// Where blocks differ in length (Shape::varies) the caller's lie anywhere, and only the short ones are passed on: rows
// are then made of those (Share::kShort), block by block, and the others are the composition's to send.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/builder.h"

namespace hocket::algorithms {

// A block's number is the composition's own: its source and its destination, say.
using BlockList = std::vector<uint64_t>;

struct BlockRow {
  schedule::Slice slice;  // that many blocks of equal lengths
  BlockList blocks;
};

// The row itself if its blocks lie side by side in this order, else a copy in a scratch area; the blocks must be among
// the row's.
BlockRow arranged(schedule::Builder& builder, const BlockRow& row, BlockList order);
// Copies the row's blocks to `place`, in this order; nothing where they lie there already.
void arrange(schedule::Builder& builder, const BlockRow& row, const BlockRow& place);
// A row for what will come: `place` if it is wanted in that order, else a scratch area.
BlockRow room_for(schedule::Builder& builder, BlockList blocks, const BlockRow& place);
BlockRow room_for(schedule::Builder& builder, BlockList blocks);
// A block of the caller's as one that is passed on, and as one that goes by itself (nothing, where blocks are equal).
schedule::Slice as_short(const schedule::Builder& builder, schedule::Slice block);
schedule::Slice as_long(schedule::Slice block);

// Where a block is known by one rank alone: all of them in the caller's order, in the order of nodes and places, some.
BlockList ranks_in_order(const schedule::Nodes& nodes);
BlockList by_node(const schedule::Nodes& nodes);
inline BlockList as_blocks(const std::vector<uint32_t>& ranks) { return {ranks.begin(), ranks.end()}; }

// Lists one behind the other, and where each begins and the last ends: the cuts of a group.
struct Bundles {
  BlockList blocks;
  std::vector<uint32_t> cuts = {0};

  void add(const BlockList& bundle) {
    blocks.insert(blocks.end(), bundle.begin(), bundle.end());
    cuts.push_back(static_cast<uint32_t>(blocks.size()));
  }
};

}  // namespace hocket::algorithms
