// SPDX-License-Identifier: BSD-3-Clause
// What each rank of a group keeps in memory that its peers map. All zero is the initial state.
//
// Writers: a mailbox line by the one sender it belongs to, counters and what a rank reports to its node (sleepers,
// broken, left, the reason and whether it is taken) by all, by atomic operations, and what asks a rank by all others;
// everything else by its owner.
// Readers never write to the memory that they read from: they record what they have consumed in their own memory, where
// the writer looks when it needs to know. So a rank that has finished its last call is not written to any more.
//
// Thread safety: all ranks at the same time, in the roles above; each rank by one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engines/shared_memory/call_record.h"
#include "platform/memory/common_files.h"
#include "platform/waiting/parking.h"
#include "platform/waiting/turns.h"
#include "schedule/step.h"

namespace hocket::engines::shared_memory {

// Calls of a group that may be in flight together: blocking ones share lane 0, non-blocking ones take turns on the
// rest.
inline constexpr uint32_t kLanes = 4;
// How many calls a rank may run ahead of the slowest peer before it waits.
inline constexpr uint32_t kSets = 16;
// Of a lane's calls up to `number`, the first of which there is still a record.
inline uint64_t first_remembered(uint64_t number) { return number > kSets ? number - kSets + 1 : 1; }
// Messages in flight from one rank to another.
inline constexpr uint32_t kMailDepth = 8;
inline constexpr uint32_t kInlineBytes = 48;
// The first slots have room of their own for short publications: it lies close together, where staging buffers lie a
// power of two apart and would compete for the same few places of a cache.
inline constexpr uint32_t kNearSlots = 2;
inline constexpr uint32_t kNearBytes = 512;
inline constexpr uint64_t kSlotStagingBytes = 64 * 1024;
inline constexpr uint64_t kMailStagingBytes = 32 * 1024;
inline constexpr uint32_t kMailBuffers = 8;
// Where other processes' memory can be read, it costs a system call: not for less than this.
inline constexpr uint64_t kForeignBytes = 32 * 1024;
// For messages that fit, so that a rank may have one under way to each of many.
inline constexpr uint64_t kShortMailBytes = 4 * 1024 + 192;  // no power of two, for the cache's sake
inline constexpr uint32_t kShortMailBuffers = 32;

// A publication. The tag is written last and read first; it holds the call's number and the version,
// which counts from 1.
struct alignas(64) SlotLine {
  std::atomic<uint64_t> tag;
  uint64_t location;  // with the call's mark: offset in the owner's region, or kInline, or kForeign or kCommon and
                      // an address
  std::byte payload[kInlineBytes];
};
inline constexpr uint64_t kInline = (uint64_t{1} << kMarkShift) - 1;
// A location with this bit is not an offset but an address in the owner's process, to be read by process_vm_readv.
inline constexpr uint64_t kForeign = uint64_t{1} << 63;
inline bool is_foreign(uint64_t location) { return (location & kForeign) != 0; }
// With this one an address in the owner's process, of memory that is mapped here as well (common_memory.h). No offset
// is as large, and no address takes the bits of an inline message.
inline constexpr uint64_t kCommon = uint64_t{1} << 47;
static_assert((kCommon | platform::CommonFiles::kAddresses) < kInline - 0xff);
inline constexpr uint32_t kBeingWritten = 0;  // a version: the first is under way
inline uint64_t slot_tag(uint64_t call, uint32_t version) { return call << 16 | version; }

// One fragment of a message. `serial` counts the lines of an ordered pair from 1; written last, read first.
struct alignas(64) MailLine {
  std::atomic<uint64_t> serial;
  // With the call's mark: offset in the sender's region, or kForeign or kCommon and an address, or of an inline one:
  // inline_of().
  uint64_t location;
  union {
    std::byte payload[kInlineBytes];
    struct {
      uint64_t bytes;  // length of a fragment that lies elsewhere
      uint64_t total;  // and of its message
    };
  };
};
// A fragment inside the line: how long it is, and whether its message is.
inline constexpr uint64_t kInlineMail = kInline - 0xff;
inline constexpr uint64_t kPartOfMessage = 0x80;
inline uint64_t inline_of(uint64_t bytes, bool is_whole) {
  return kInlineMail | bytes | (is_whole ? 0 : kPartOfMessage);
}
inline bool is_inline_mail(uint64_t location) { return (location & kInlineMail) == kInlineMail; }
inline uint64_t inline_bytes(uint64_t location) { return location & (kPartOfMessage - 1); }
static_assert(sizeof(SlotLine) == 64 && sizeof(MailLine) == 64);

struct alignas(64) MailAck {
  std::atomic<uint64_t> consumed;  // lines of one sender that this receiver is done with
};

// Each adds what CallHistory::unit() makes of a number: the lower half of a sum counts, the upper one has marks.
struct alignas(64) CounterSet {
  std::atomic<uint64_t> counter[schedule::kMaxCounters];
};

// One lane of one rank; followed in memory by its mail lines and acknowledgements, one row a sender.
struct alignas(64) LaneBlock {
  alignas(64) std::atomic<uint64_t> finished;  // calls all of whose steps this rank has done
  alignas(64) CallRecord records[kSets];       // of the last calls
  alignas(64) Arrival arrivals[kSets];         // at these, while calls are timed
  SlotLine slots[kSets][schedule::kMaxSlots];
  alignas(64) std::byte near[kSets][kNearSlots][kNearBytes];
  CounterSet own[kSets];
  CounterSet shared[kSets];  // in use on rank 0 only

  static size_t bytes(uint32_t ranks) {
    return sizeof(LaneBlock) + ranks * (kMailDepth * sizeof(MailLine) + sizeof(MailAck));
  }
  MailLine* mail(uint32_t sender) { return reinterpret_cast<MailLine*>(this + 1) + sender * kMailDepth; }
  MailAck& acknowledgement(uint32_t sender, uint32_t ranks) { return reinterpret_cast<MailAck*>(mail(ranks))[sender]; }
};

// One rank's share of a group; followed by its lanes.
struct alignas(64) RankBlock {
  platform::ParkingPlace parking;
  // While it sleeps: what for. Others' doings don't wake it. 1 + the rank whose publication it waits for, or one of:
  std::atomic<uint32_t> awaits;
  static constexpr uint32_t kAnything = 0;
  static constexpr uint32_t kMessage = ~0u;        // the rank that sends to it, or takes what it sent, wakes it by name
  static constexpr uint32_t kSharedCounter = ~1u;  // which wakes when all have added
  platform::Turn turn;                             // while ranks share cores
  // On rank 0: how many of the group's ranks sleep or are about to. Writers look here before they look further.
  alignas(64) std::atomic<uint32_t> sleepers;
  // On rank 0: 1 + the name of a dead peer, set by the rank that finds it dead; kMismatch if calls differ; kLate if
  // ranks are to end a call because others are late for it.
  std::atomic<uint32_t> broken;
  static constexpr uint32_t kMismatch = ~0u;
  static constexpr uint32_t kLate = ~1u;
  // On rank 0: counts ranks out when the group is dissolved, twice over.
  std::atomic<uint32_t> left;
  // 1 + where in its owner's region the board is on which it says what it has mapped of windows' memory
  // (platform::CommonBoard); 0: it has said nothing.
  std::atomic<uint64_t> board;
  // The same of what it tells of takeovers (takeovers.h). kNoTakeovers: it has no memory for that, and takes part in
  // none.
  std::atomic<uint64_t> takeovers;
  static constexpr uint64_t kNoTakeovers = ~uint64_t{0};
  // Raised by peers that would have such memory read as it lies, and miss it on the board.
  std::atomic<uint32_t> is_asked;
  // On rank 0: of each lane, the last call of which a rank has said who is late for it.
  std::atomic<uint64_t> told_late[kLanes];
  // While calls are traced: 1 + the rank's track in the lower half (platform/tracing/tracer.h), and in the upper half,
  // which communicator of its process this is.
  std::atomic<uint64_t> traced_as;
  // On rank 0: what was told of late ranks last, as a number, and how often in a row.
  std::atomic<uint64_t> late_case;
  std::atomic<uint64_t> late_times;
  // On rank 0: which calls differ, or who is late, as a sentence that ends with 0. The rank that first sets
  // `reason_is_taken` writes it.
  static constexpr uint32_t kReasonBytes = 448;
  alignas(64) std::atomic<uint32_t> reason_is_taken;
  char reason[kReasonBytes];

  static size_t bytes(uint32_t ranks) { return sizeof(RankBlock) + kLanes * LaneBlock::bytes(ranks); }
  LaneBlock* lane(uint32_t index, uint32_t ranks) {
    return reinterpret_cast<LaneBlock*>(reinterpret_cast<std::byte*>(this + 1) + index * LaneBlock::bytes(ranks));
  }
};

}  // namespace hocket::engines::shared_memory
