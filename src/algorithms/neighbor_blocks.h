// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a rank's neighbours: where they lie, and which of them pass between the same two ranks.
//
// Thread safety: none; like the builder they are asked of.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/builder.h"

namespace hocket::algorithms {

// What is for the k-th destination, and what comes from the k-th source.
inline schedule::Slice block_out(const schedule::Builder& builder, uint32_t k) {
  const auto count = static_cast<uint32_t>(builder.neighbours().destinations(builder.rank()).size());
  return schedule::Builder::part(builder.input(), k, count);
}
inline schedule::Slice block_in(const schedule::Builder& builder, uint32_t k) {
  const auto count = static_cast<uint32_t>(builder.neighbours().sources(builder.rank()).size());
  return schedule::Builder::part(builder.output(), k, count);
}

// What passes between this rank and one other.
struct PeerBlocks {
  uint32_t peer = 0;
  std::vector<uint32_t> blocks;  // their numbers among this rank's, in the order in which the sender has them
};
// In the order of their first blocks; the rank itself may be among them, kNoRank is not.
std::vector<PeerBlocks> by_destination(const schedule::Neighbours& neighbours, uint32_t rank);
std::vector<PeerBlocks> by_source(const schedule::Neighbours& neighbours, uint32_t rank);

// A stage's steps: what the rank has for itself.
void copy_own_blocks(schedule::Builder& builder);

// Whether both are on one node; `nodes`: nullptr where all are.
inline bool are_together(const schedule::Nodes* nodes, uint32_t one, uint32_t other) {
  return nodes == nullptr || nodes->together(one, other);
}

}  // namespace hocket::algorithms
