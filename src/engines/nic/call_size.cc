// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/call_size.h"

#include "protocol/packet.h"

namespace hocket::engines::nic {

using schedule::Collective;

bool is_short(Collective collective, uint64_t bytes, const schedule::Nodes& nodes) {
  if (collective == Collective::kBarrier) return true;
  // Blocks may be long, and so are not multiplied before.
  if (bytes == 0 || bytes > sizeof(nic_operand)) return false;
  const bool are_even = nodes.most() * nodes.count() == nodes.ranks();
  switch (collective) {
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
      return true;
    case Collective::kAllgather:
      return are_even && words_for(bytes * nodes.ranks()) <= NIC_MOST_WORDS;
    case Collective::kAlltoall:
      // What a node's ranks have for another's travels as one block.
      return are_even && words_for(bytes * nodes.most() * nodes.most()) * nodes.count() <= NIC_MOST_WORDS;
    default:
      return false;
  }
}

}  // namespace hocket::engines::nic
