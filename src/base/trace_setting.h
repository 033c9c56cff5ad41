// SPDX-License-Identifier: BSD-3-Clause
// What HOCKET_TRACE asks for (docs/trace.md): FILE, to which a process writes the calls of its whole life when it ends,
// or ring:N:FILE, to which it writes the last N events when something happens.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hocket {

struct TraceSetting {
  // As the user wrote it (file_pattern.h). "": no trace is wanted.
  std::string file;
  uint64_t events = 0;     // kept in memory at a time
  bool at_events = false;  // ring: nothing is written where nothing happens

  // How many are kept of all.
  static constexpr uint64_t kAllEvents = uint64_t{1} << 20;
  static constexpr uint64_t kMostEvents = uint64_t{1} << 24;
};

// The error names the text, and what is accepted.
Result<TraceSetting> parse_trace_setting(std::string_view text);

}  // namespace hocket
