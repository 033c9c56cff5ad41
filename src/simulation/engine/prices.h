// SPDX-License-Identifier: BSD-3-Clause
// A network's parameters in simulated time, and what a step costs the processor that carries it out.
//
// Thread safety: a value.
#pragma once

#include <cmath>

#include "simulation/core/time.h"
#include "simulation/engine/job.h"
#include "simulation/network/network.h"

namespace hocket::simulation {

// Picoseconds.
inline double byte_of(double us_per_kib) { return us_per_kib * kPerMicrosecond / 1024; }

struct Prices {
  explicit Prices(const Network& network);

  Time copied(uint64_t bytes) const { return times(bytes, beta_byte); }
  Time wire_bytes(uint64_t bytes) const { return times(bytes, wire_byte); }
  // What it costs in any case, whatever it moves.
  Time alpha_of(const Step& step) const;
  // From one rank to the next, where so many share a core.
  Time switching_among(size_t ranks) const {
    return switching + (cached_ranks != 0 && ranks > cached_ranks ? cold : 0);
  }
  // All of a processor's work.
  Time work_of(const Step& step) const;
  // The first fragment of a message within a node, after which its receiver can begin.
  Time fragment(const Step& message) const;
  // Between nodes: a processor writes it into the interface.
  bool is_by_processor(const Step& step) const {
    return step.is(Step::kByWire) && (step.work == Work::kSend || step.work == Work::kMulticast) && pio_bytes > 0 &&
           step.bytes <= pio_bytes;
  }

  // Into how many a multicast is cut.
  uint64_t fragments_of(uint64_t bytes) const {
    return multicast_bytes == 0 || bytes <= multicast_bytes ? 1 : (bytes + multicast_bytes - 1) / multicast_bytes;
  }

  static Time times(uint64_t bytes, double per_byte) {
    return static_cast<Time>(std::llround(static_cast<double>(bytes) * per_byte));
  }

  Time alpha, switching, cold, look, overhead, receive, multicast_overhead, wire_alpha, gap;
  double beta_byte, gamma_byte, wire_byte, miss_byte;  // picoseconds a byte
  uint64_t pio_bytes;
  uint32_t cached_ranks;
  uint64_t multicast_bytes;
  bool has_dma;

 private:
  // By a processor, besides what it writes into an interface.
  uint64_t bytes_copied(const Step& step) const;
  uint64_t bytes_missed(const Step& step) const;
};

}  // namespace hocket::simulation
