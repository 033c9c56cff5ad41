// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/hello.h"

#include <cstring>
#include <string>

namespace hocket::platform {

Result<Hello> parse_hello(std::span<const std::byte> bytes) {
  constexpr uint64_t kGranule = 4096;
  constexpr uint64_t kLargest = uint64_t{1} << 40;
  if (bytes.size() != sizeof(Hello)) {
    return Status(Code::kMismatch, "a greeting of " + std::to_string(bytes.size()) + " bytes");
  }
  Hello hello;
  std::memcpy(&hello, bytes.data(), sizeof(hello));
  if (hello.magic != Hello::kMagic) return Status(Code::kMismatch, "a greeting that isn't hocket's");
  if (hello.version != Hello::kVersion) {
    return Status(Code::kMismatch, "a greeting of version " + std::to_string(hello.version) + ", not " +
                                       std::to_string(Hello::kVersion) +
                                       ": are two builds of hocket mixed in one job?");
  }
  if (hello.reserved != 0 || hello.limit == 0 || hello.limit > kLargest || hello.limit % kGranule != 0) {
    return Status(Code::kMismatch, "a greeting that makes no sense");
  }
  return hello;
}

}  // namespace hocket::platform
