// SPDX-License-Identifier: BSD-3-Clause
// Values of the environment are typed by people: each setting takes any text, either refusing it with a reason that can
// be shown or giving a value within the bounds of its row in the table. The first byte chooses the setting.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/environment.h"

using namespace hocket;
using environment::Kind;
using environment::Setting;

namespace {

template <typename T>
void expect_reason(const Result<T>& result) {
  if (!result.is_ok() && *result.status().message() == 0) std::abort();
}

void check_integer(const Setting& setting, std::string_view text) {
  const Result<int64_t> value = environment::parse_integer(setting, text);
  expect_reason(value);
  if (value.is_ok() && (value.value() < setting.minimum || value.value() > setting.maximum)) std::abort();
}

void check_size(const Setting& setting, std::string_view text) {
  const Result<uint64_t> value = environment::parse_size(setting, text);
  expect_reason(value);
  if (value.is_ok() && value.value() > static_cast<uint64_t>(setting.maximum)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto settings = environment::settings();
  const Setting& setting = settings[data[0] % settings.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Status status = environment::check(setting, text);
  if (!status.is_ok() && *status.message() == 0) std::abort();
  if (environment::unknown_name(text).empty()) std::abort();
  switch (setting.kind) {
    case Kind::kFlag:
    case Kind::kFlagOrFile:
      expect_reason(environment::parse_flag(setting, text));
      break;
    case Kind::kInteger:
      check_integer(setting, text);
      break;
    case Kind::kSize:
      check_size(setting, text);
      break;
    case Kind::kChoice:
      expect_reason(environment::parse_enum(setting, text));
      break;
    case Kind::kText:
      break;
  }
  return 0;
}
