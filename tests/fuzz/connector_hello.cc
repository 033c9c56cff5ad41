// SPDX-License-Identifier: BSD-3-Clause
// Anybody on the machine may connect to an abstract socket and send anything: what is accepted as a hello has the size,
// the magic and the version of one, and a limit with which memory can be reserved.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "platform/bootstrap/hello.h"

using hocket::platform::Hello;

namespace {

void check(std::span<const std::byte> bytes) {
  const hocket::Result<Hello> hello = hocket::platform::parse_hello(bytes);
  if (!hello.is_ok()) return;
  if (bytes.size() != sizeof(Hello) || hello.value().magic != Hello::kMagic ||
      hello.value().version != Hello::kVersion) {
    std::abort();
  }
  // Address space of x86-64 processes.
  if (hello.value().limit == 0 || hello.value().limit >= uint64_t{1} << 47) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check(std::as_bytes(std::span(data, size)));
  // Few inputs have the magic by themselves: give the fields behind it a chance of their own.
  Hello hello;
  const size_t rest = size < sizeof hello.limit ? size : sizeof hello.limit;
  if (rest > 0) std::memcpy(&hello.limit, data, rest);
  check(std::as_bytes(std::span(&hello, 1)));
  return 0;
}
