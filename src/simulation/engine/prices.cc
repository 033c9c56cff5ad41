// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/prices.h"

#include <algorithm>
#include <cmath>

namespace hocket::simulation {
namespace {

constexpr uint64_t kFragmentBytes = 16384;

bool sends(const Step& step) { return step.work == Work::kSend || step.work == Work::kMulticast; }

}  // namespace

Prices::Prices(const Network& network)
    : alpha(from_us(network.costs.alpha_us)),
      switching(from_us(network.costs.switch_us)),
      cold(from_us(network.more.cold_us)),
      look(from_us(network.more.wire_look_us)),
      overhead(from_us(network.costs.wire_overhead_us)),
      receive(from_us(std::max(network.costs.wire_overhead_us + network.more.wire_receive_more_us, 0.0))),
      multicast_overhead(from_us(network.more.multicast_overhead_us)),
      wire_alpha(from_us(network.costs.wire_alpha_us)),
      gap(from_us(network.costs.wire_gap_us)),
      beta_byte(byte_of(network.costs.beta_us_per_kib)),
      gamma_byte(byte_of(network.costs.gamma_us_per_kib)),
      wire_byte(byte_of(network.costs.wire_beta_us_per_kib)),
      miss_byte(byte_of(network.costs.wire_miss_us_per_kib)),
      pio_bytes(network.costs.wire_pio_bytes),
      cached_ranks(network.more.cached_ranks),
      multicast_bytes(network.more.multicast_bytes),
      has_dma(network.costs.wire_dma != 0) {}

// The rank that waits for a line pays for its transfer; writing one is mostly hidden.
Time Prices::alpha_of(const Step& step) const {
  if (step.is(Step::kByWire)) {
    if (step.work == Work::kMulticast || step.work == Work::kFirstOf)
      return multicast_overhead * fragments_of(step.bytes);
    return sends(step) ? overhead : receive;
  }
  switch (step.work) {
    case Work::kSend:
    case Work::kPublish:
    case Work::kAdd:
      return alpha / 2;
    case Work::kLocal:
    case Work::kTrigger:
    case Work::kMulticast:
      return alpha / 10;
    default:
      return alpha;
  }
}

uint64_t Prices::bytes_copied(const Step& step) const {
  const bool is_free = step.is(Step::kByWire) && (has_dma || is_by_processor(step));
  return step.is(Step::kCopies) && !is_free ? step.bytes : 0;
}

// What a processor reads that is in no cache. Where messages are copied when they are taken, that is then.
uint64_t Prices::bytes_missed(const Step& step) const {
  const bool is_by_wire = step.is(Step::kByWire);
  if (!has_dma) return is_by_wire && !sends(step) ? step.bytes : 0;
  if (!is_by_wire || is_by_processor(step)) return step.unread;
  return !sends(step) && step.is(Step::kCombines) ? step.bytes : 0;
}

Time Prices::work_of(const Step& step) const {
  double time = 0;
  if (const uint64_t bytes = bytes_copied(step); bytes > 0) time += static_cast<double>(bytes) * beta_byte;
  if (step.is(Step::kCombines)) time += static_cast<double>(step.bytes) * gamma_byte;
  if (miss_byte > 0) time += static_cast<double>(bytes_missed(step)) * miss_byte;
  return alpha_of(step) + static_cast<Time>(std::llround(time));
}

Time Prices::fragment(const Step& message) const {
  return message.is(Step::kCopies) ? copied(std::min(message.bytes, kFragmentBytes)) : 0;
}

}  // namespace hocket::simulation
