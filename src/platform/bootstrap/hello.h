// SPDX-License-Identifier: BSD-3-Clause
// The one message of a connector, sent each way over a fresh connection together with the region's descriptor.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace hocket::platform {

struct Hello {
  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t reserved = 0;
  uint64_t identity[2] = {};  // the sender's
  // Half of the listener's nonce, which only ranks that share its bootstrap know: the greeting shows the first half,
  // the answer the second. A process that has merely received a greeting can't answer it.
  uint64_t proof = 0;
  uint64_t limit = 0;  // bytes of address space that the sender's region takes

  static constexpr uint64_t kMagic = 0x0174656b636f68ff;
  static constexpr uint32_t kVersion = 3;
};
static_assert(sizeof(Hello) == 48);

// Takes any bytes from any sender. What is accepted has the right size, magic, version and a sensible limit; identity
// and nonce are for the caller to compare.
Result<Hello> parse_hello(std::span<const std::byte> bytes);

}  // namespace hocket::platform
