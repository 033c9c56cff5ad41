// SPDX-License-Identifier: BSD-3-Clause
// What the cost model knows of a machine: the numbers of a tuning table's `model` line.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace hocket::selection {

// The defaults hold for what a table's `model` line leaves out. They were measured on a machine of the kind that
// shipped.table is for, for an earlier table; its own line has what was measured later.
struct CostParameters {
  double alpha_us = 0.1;             // a message, a publication or a signal until its reader has seen it
  double beta_us_per_kib = 0.0144;   // a KiB copied
  double gamma_us_per_kib = 0.0126;  // a KiB combined
  double switch_us = 0.95;           // where ranks share cores: a context switch to the next rank
  uint32_t cores = 2;                // of a node, which oversubscribed ranks share

  // What ranks of a node that have a core each are in each other's way. 0: not known, and not priced.
  double hot_line_us = 0;        // what a line that several ranks want at a time takes for each of them
  double source_us_per_kib = 0;  // a KiB that is read out of one rank's cache, however many read there at a time
  double memory_us_per_kib = 0;  // a KiB copied into buffers, of the time of the memory, which a node's ranks share
  double memory_after_kib = 0;   // how long all ranks' buffers together may be until that counts: what the caches hold
  // Where ranks are, if nobody says: in the order of the cores, as many in each cache of the last level (L3), and as
  // many on each socket. And what a line, or a KiB, takes longer from another of them.
  uint32_t caches = 1;
  uint32_t sockets = 1;
  double other_cache_us = 0;
  double other_cache_us_per_kib = 0;
  double other_socket_us = 0;
  double other_socket_us_per_kib = 0;

  // Messages to other nodes. The defaults are those of TCP over Ethernet of 10 Gbit/s, which one rank can fill.
  double wire_alpha_us = 25;          // from the one interface until it can be taken behind the other
  double wire_overhead_us = 3;        // of a processor's time for a message, at each end
  double wire_gap_us = 1;             // of an interface's time for a message
  double wire_beta_us_per_kib = 0.8;  // of an interface's time for a KiB; of one rank's it takes no more at a time
  uint32_t wire_lanes = 1;            // how many ranks of a node an interface serves at a time
  double wire_crowding = 0;           // by which part all that takes longer for each rank of a node beyond these
  uint32_t one_machine = 0;           // 1: the nodes are parts of one machine, whose `cores` all ranks share

  // What interfaces do that programs reach without the kernel. By default the kernel copies at both ends, and what it
  // hands out lies in the receiver's cache.
  uint32_t wire_dma = 0;            // 1: an interface fetches what it sends, and puts what comes where it shall lie
  uint32_t wire_pio_bytes = 0;      // messages of up to so many bytes a processor writes into the interface instead
  double wire_miss_us_per_kib = 0;  // what reading a KiB takes longer the first time after an interface has written it

  bool operator==(const CostParameters&) const = default;
};

}  // namespace hocket::selection
