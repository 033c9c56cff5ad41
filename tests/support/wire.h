// SPDX-License-Identifier: BSD-3-Clause
// A network between ranks that are threads, as hocket's wire: for several nodes in one process. Short messages are
// taken at once, long ones when they are received, both some looks late, by a seeded draw.
#pragma once

#include <hocket/hocket.h>

#include <cstdint>
#include <memory>

namespace hocket::test {

struct NetworkEndpoint;

class Network {
 public:
  Network(uint32_t ranks, uint32_t seed);
  ~Network();
  // What `rank` passes to its context; the network outlives it.
  hocket_wire_t wire_of(uint32_t rank);
  // Messages sent between ranks so far.
  uint64_t messages() const;
  // Of what was started, nothing is left: no message that nobody received, no receive without a message.
  bool is_empty() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
  std::unique_ptr<NetworkEndpoint[]> endpoints_;
};

}  // namespace hocket::test
