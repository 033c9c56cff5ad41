// SPDX-License-Identifier: BSD-3-Clause
// HOCKET_ALLREDUCE=tree:degree=3 and its like: any text is refused with a reason, or understood and then written back
// to a text that means the same. The first byte chooses the collective.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "selection/table.h"

using namespace hocket;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto collective = static_cast<schedule::Collective>(data[0] % schedule::kCollectives);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<selection::Spec> spec = selection::parse_spec(collective, text);
  if (!spec.is_ok()) {
    if (*spec.status().message() == 0) std::abort();
    return 0;
  }
  const std::string written = selection::to_text(spec.value());
  const Result<selection::Spec> again = selection::parse_spec(collective, written);
  if (!again.is_ok() || selection::to_text(again.value()) != written) std::abort();
  return 0;
}
