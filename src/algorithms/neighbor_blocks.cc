// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/neighbor_blocks.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

namespace hocket::algorithms {

using schedule::Neighbours;

namespace {

// `order`: of the blocks.
std::vector<PeerBlocks> by_peer(std::span<const uint32_t> peers, std::span<const uint32_t> order) {
  std::vector<PeerBlocks> found;
  std::unordered_map<uint32_t, size_t> where;
  for (const uint32_t k : order) {
    if (peers[k] == schedule::kNoRank) continue;
    const auto [entry, is_new] = where.emplace(peers[k], found.size());
    if (is_new) found.push_back({peers[k], {}});
    found[entry->second].blocks.push_back(k);
  }
  return found;
}

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

std::vector<PeerBlocks> by_destination(const Neighbours& neighbours, uint32_t rank) {
  const std::span<const uint32_t> peers = neighbours.destinations(rank);
  return by_peer(peers, numbers(peers.size()));
}

std::vector<PeerBlocks> by_source(const Neighbours& neighbours, uint32_t rank) {
  const std::span<const uint32_t> peers = neighbours.sources(rank);
  const std::span<const uint32_t> origins = neighbours.origins(rank);
  std::vector<PeerBlocks> found = by_peer(peers, numbers(peers.size()));
  for (PeerBlocks& peer : found)
    std::sort(peer.blocks.begin(), peer.blocks.end(), [&](uint32_t a, uint32_t b) { return origins[a] < origins[b]; });
  return found;
}

void copy_own_blocks(schedule::Builder& builder) {
  const uint32_t rank = builder.rank();
  const std::span<const uint32_t> peers = builder.neighbours().destinations(rank);
  const std::span<const uint32_t> slots = builder.neighbours().slots(rank);
  for (uint32_t k = 0; k < peers.size(); ++k)
    if (peers[k] == rank) builder.copy(block_out(builder, k), block_in(builder, slots[k]));
}

}  // namespace hocket::algorithms
