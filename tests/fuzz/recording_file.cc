// SPDX-License-Identifier: BSD-3-Clause
// A recording comes from a file that anybody may have written: it is refused with a reason, or done again to an end.
#include "replay/recording_file.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay/engine_tables.h"

using namespace hocket;

namespace {

constexpr uint32_t kMostMembers = 8;

void replay_group(const replay::RecordedGroup& group) {
  const Result<replay::EngineTables> tables =
      replay::make_tables(schedule::Collective::kBarrier, "dissemination", "nic", group.members);
  if (!tables.is_ok()) std::abort();
  const Result<simulation::Replayed> found =
      simulation::replay(group.recording, tables.value().collectives, simulation::NicOptions{});
  if (!found.is_ok()) {
    if (*found.status().message() == 0) std::abort();
    return;
  }
  // All that was recorded is counted, once.
  uint64_t recorded = 0;
  for (const simulation::ReplayCount& row : found.value().rows) recorded += row.recorded;
  if (recorded != group.recording.packets.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<replay::RecordingFile> file =
      replay::parse_recording(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (!file.is_ok()) {
    if (*file.status().message() == 0) std::abort();
    return 0;
  }
  for (const auto& [name, group] : file.value().groups)
    if (group.members > 1 && group.members <= kMostMembers) replay_group(group);
  return 0;
}
