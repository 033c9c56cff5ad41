// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings.h"

#include <algorithm>

#include "base/environment.h"
#include "core/devices/device_memory.h"

namespace hocket::interposer {
namespace {

constexpr uint64_t kMagic = 0x686f636b65740005;  // "hocket", layout 5

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.magic = kMagic;
  if (auto calls = environment::get_integer("HOCKET_SETUP_CALLS"); calls.is_ok()) settings.setup_calls = calls.value();
  if (auto calls = environment::get_integer("HOCKET_TAKEOVER_CALLS"); calls.is_ok())
    settings.takeover_calls = calls.value();
  if (auto disable = environment::get_flag("HOCKET_DISABLE"); disable.is_ok()) settings.disable = disable.value();
  if (auto statistics = environment::get_flag("HOCKET_STATS"); statistics.is_ok()) {
    settings.statistics = statistics.value();
  }
  // The last choice is an earlier name of the one before.
  constexpr int kPassThrough = static_cast<int>(device::Wish::kPassThrough);
  if (auto device = environment::get_enum("HOCKET_DEVICE"); device.is_ok())
    settings.device = std::min(device.value(), kPassThrough);
  if (auto progress = environment::get_enum("HOCKET_PROGRESS"); progress.is_ok()) settings.progress = progress.value();
  if (auto others = environment::get_enum("HOCKET_OTHER_JOBS"); others.is_ok())
    settings.with_other_jobs = others.value();
  return settings;
}

uint64_t digest_of(const Settings& settings) {
  const int64_t all[] = {settings.takeover_calls, settings.device, settings.progress};
  uint64_t digest = 0xcbf29ce484222325;  // FNV-1a, of whole numbers
  for (const int64_t one : all) digest = (digest ^ static_cast<uint64_t>(one)) * 0x100000001b3;
  return digest;
}

bool is_sound(const Settings& settings) { return settings.magic == kMagic; }

}  // namespace hocket::interposer
