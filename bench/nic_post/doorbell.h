// SPDX-License-Identifier: BSD-3-Clause
// The doorbell of a NIC engine's group, and a ring of it that the engine takes, looks at and refuses: one that is not
// the group's next. So ringing it costs what the way to the engine does, and neither an operation nor a packet.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "engines/nic/service_client.h"
#include "platform/descriptor.h"

namespace hocket::nic_post {

class Doorbell {
 public:
  // In a group of this machine and the one at `peer`, an address with no member there. `interface` as NicPort has it.
  static Result<std::unique_ptr<Doorbell>> open(const std::string& interface, const std::string& peer);

  int descriptor() const { return doorbell_.get(); }
  std::span<const std::byte> packet() const { return {packet_.data(), length_}; }

 private:
  explicit Doorbell(engines::nic::ServiceClient service) : service_(std::move(service)) {}
  Status join(uint32_t peer);

  engines::nic::ServiceClient service_;  // the group goes with it
  platform::Descriptor doorbell_;
  std::array<std::byte, 256> packet_{};
  size_t length_ = 0;
};

}  // namespace hocket::nic_post
