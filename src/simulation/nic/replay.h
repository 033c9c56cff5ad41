// SPDX-License-Identifier: BSD-3-Clause
// A run of NIC engines whose packets were recorded, once more in simulated time: hosts ring when they have rung, what
// was lost is lost, and what came comes when it came. What engines send, ask for and repeat is their own affair, and
// is compared with what was recorded.
//
// A packet's fate is that of the recorded one of the same kind, source, target, operation and number, where there are
// several such the first's, the second's and so on. It never arrives before it was sent. What was not recorded arrives
// after as long as packets took in the middle. Engines and links take no time of their own, so that what they do is
// done no later than it was.
//
// Engines look for what is late when they have looked, as far as it shows: when they have asked, or repeated something
// without being asked. What they ask for then is the protocol's affair, which knows since when something was missing;
// but when a real engine saw first that its host had started is not recorded. So what depends on time alone may differ:
// which messages that are late are asked for, and so their repetitions and what is answered. Messages of schedules are
// the same, however often: each that was recorded, and no other.
//
// Thread safety: pure functions on values. Units: nanoseconds since the recording began.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "protocol/packet.h"
#include "protocol/table.h"
#include "simulation/nic/prices.h"

namespace hocket::simulation {

struct RecordedArrival {
  uint16_t member = 0;
  uint64_t ns = 0;
};
struct RecordedPacket {
  uint64_t ns = 0;  // when it was sent
  nic_message message = {};
  std::vector<RecordedArrival> arrivals;  // whom it has reached, each once
};
struct RecordedDoorbell {
  uint64_t ns = 0;
  uint16_t member = 0;
  nic_message call = {};  // epoch, program, root, words, operation and type
};
// Of one group. In the order of time.
struct NicRecording {
  std::vector<RecordedDoorbell> doorbells;
  std::vector<RecordedPacket> packets;
};

// What packets are told apart by. Probes and what answers them bear numbers that mean nothing here: 0.
struct PacketName {
  uint64_t epoch = 0;
  uint16_t source = 0;
  uint16_t target = 0;
  uint8_t kind = 0;  // NIC_MESSAGE also for NIC_OWED: the same, asked for before it was sent
  uint8_t program = 0;
  uint8_t send = 0;
  uint8_t bit = 0;

  auto operator<=>(const PacketName&) const = default;
};
PacketName packet_name(const nic_message& message);

enum class ReplayRow : uint8_t {
  kMessages,  // of schedules, each the first time
  kRepetitions,
  kNacks,
  kLater,
  kGone,
  kProbes,
  kAlive,
  kAcknowledgements,
  kAborts,
  kRows,
};
ReplayRow row_of(const PacketName& name, bool is_first);
// "messages", "questions (nack)", ...
const char* row_name(ReplayRow row);

struct ReplayCount {
  uint64_t recorded = 0;
  uint64_t simulated = 0;
};
struct ReplayDifference {
  PacketName packet;
  ReplayCount count;

  // A message of a schedule that one of the two lacks, which time doesn't explain.
  bool is_of_messages() const;
};

struct Replayed {
  std::array<ReplayCount, static_cast<size_t>(ReplayRow::kRows)> rows;
  ReplayCount lost;  // a packet for all, once for each whom it doesn't reach
  uint64_t operations = 0;
  uint64_t unfinished = 0;  // that a member has started and not completed, in the simulation
  uint64_t unheard = 0;     // doorbells for which there was no room until the end
  uint64_t events = 0;
  std::vector<ReplayDifference> differences;  // by packet

  bool has_same_messages() const;
  bool is_same() const { return differences.empty() && has_same_messages(); }
};

// `collectives`: as NicEngines::make() wants them. kInvalidArgument: they don't go together, or the recording names
// members and programs that they don't have, or begins in the middle.
Result<Replayed> replay(const NicRecording& recording, const std::vector<std::vector<nic_program>>& collectives,
                        const NicOptions& options);

}  // namespace hocket::simulation
