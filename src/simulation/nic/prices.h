// SPDX-License-Identifier: BSD-3-Clause
// What the work of a NIC engine takes, when it asks for what is late, and what its packets' frames have around them.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/record.h"

namespace hocket::simulation {

// Microseconds. All of it but `notify_us` is work of the engine's processor, which does one thing at a time.
struct NicPrices {
  double start_us = 0;             // an operation that the host begins, until its first messages can be sent
  double arrival_us = 0;           // a packet that comes, until what follows from it can be sent
  double send_us = 0;              // each packet that goes out
  double word_us = 0;              // each 64-bit word that a packet carries, at each end, and of the host's operand
  double combine_us = 0;           // each pair of words that is combined: integers
  double combine_floating_us = 0;  // the same of floating-point numbers
  double record_us = 0;            // of each message that is to be acknowledged: to queue it and keep book of it
  double notify_us = 0;            // until the host sees that an operation is complete
};

struct NicOptions {
  double ask_us = 1000;              // the shortest time until a message counts as missing and is asked for
  double most_us = 64'000;           // the longest until a question is repeated, unless a round trip is longer
  double silence_us = 10e6;          // how long a member may be silent until it counts as gone
  double tick_us = 0;                // an engine looks for what is late no sooner than this after its last look
  uint16_t unexpected = NIC_WINDOW;  // operations ahead of the host for which operands are kept
  uint32_t framing_bytes = 42;       // of a packet, beside its own: Ethernet's header, IPv4's and UDP's
  // For each program, the one that does the same and lets no member go before all have started; its own number, if it
  // is one. Empty: all are. Every NIC_SYNCHRONIZES-th operation is done by it.
  std::vector<uint8_t> synchronizing = {};
  bool keeps_history = false;
};

}  // namespace hocket::simulation
