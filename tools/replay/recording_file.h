// SPDX-License-Identifier: BSD-3-Clause
// A recording of a lab's NIC engines (tools/lab/packets/recording.h), read back: docs/lab.md describes the lines. It
// may come from anybody: what is no such line is refused by its number.
//
// Thread safety: pure. Units: nanoseconds since the recording began.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "simulation/nic/replay.h"

namespace hocket::replay {

struct RecordedGroup {
  uint32_t members = 0;  // as far as they show
  simulation::NicRecording recording;
  uint64_t twice = 0;  // packets that came to somebody once more
};

struct RecordingFile {
  // "" where the recording doesn't say it: then it is of a command, and not of `hocket lab bench`.
  std::string collective;
  std::string schedule;  // "dissemination", "tree_mm/2"
  std::string engines;   // "nic", "nic-direct", ...
  bool has_doorbells = false;
  bool is_complete = false;                     // false: it has no end, or events were lost
  uint64_t missed = 0;                          // events
  uint64_t strangers = 0;                       // packets that nobody was seen to send, or of no known kind
  uint64_t unowned = 0;                         // doorbells of no known group
  std::map<std::string, RecordedGroup> groups;  // by their numbers, 16 digits
};

// `name`: of the file, for errors.
Result<RecordingFile> parse_recording(std::string_view text, const std::string& name);
Result<RecordingFile> read_recording(const std::string& path);

}  // namespace hocket::replay
