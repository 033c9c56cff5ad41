// SPDX-License-Identifier: BSD-3-Clause
// What a schedule is made of: slices of buffers, and steps that move, combine or signal them.
//
// Glossary
//   plan     one rank's schedule for one shape (size, rank, root, segments): count-free, so it serves every count
//   extent   how many elements a buffer holds: its blocks times the call's count
//   slice    a part of a buffer, as fractions of its extent
//   stage    a run of steps that may proceed in any order; the next stage starts when all of them are done
//   slot     one of the numbered places in which a rank publishes a slice for its peers
//   row      a scratch area in which blocks lie side by side (rows.h)
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>

namespace hocket::schedule {

// Where a slice lies. Input and output are the caller's; a call in place gives the same memory for both.
// For broadcast there is one buffer, and it is kOutput on every rank, the root included.
// Scratch is temporary memory of the plan: each area has room for some fraction of the call's count (ScratchArea).
enum class Buffer : uint8_t { kNone, kInput, kOutput, kScratch };

// What a slice that is a block of the caller's stands for where blocks differ in length: the block itself, or the block
// if it is short enough to be sent on with others (Extents::longest_short), or if it is too long for that; else
// nothing.
enum class Share : uint8_t { kAll, kShort, kLong };

// The elements [extent*first/of, extent*last/of) of a buffer of extent = blocks*count, where every fraction is
// rounded down: slices that meet as fractions meet as elements, whatever the count.
// They lie at extent*first/of - extent*origin/of of the buffer: `origin` (0 for the caller's buffers) lets a
// segment of the message live at the beginning of a scratch area that holds one segment only.
struct Slice {
  Buffer buffer = Buffer::kNone;
  uint8_t area = 0;  // which scratch area, for kScratch
  Share share = Share::kAll;
  uint32_t blocks = 1;
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t of = 1;
  uint32_t origin = 0;

  bool is_empty() const { return first == last; }  // whatever the count
  bool operator==(const Slice&) const = default;
};

// An element range, what a slice becomes once the count is known.
struct Range {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Blocks of a buffer that differ in length and lie anywhere, one a rank: counts and displacements in elements.
struct BlockVector {
  const uint64_t* counts = nullptr;
  const uint64_t* displacements = nullptr;
};

class RowOffsets;

// What a rank's buffers hold in one call.
struct Extents {
  uint64_t count = 0;  // of a buffer with one block; of each block where all are equally long
  // Buffers with a block a rank, where the blocks differ: no rank's are then equal, whether it has such a buffer or
  // not. Scratch areas for blocks follow the input's vector or, where there is none, the output's.
  bool varies = false;
  // Of a call among neighbours: a rank that has one neighbour has a vector of one block.
  bool has_short_vectors = false;
  const BlockVector* input = nullptr;
  const BlockVector* output = nullptr;
  uint64_t longest = 0;  // block, of the vector that scratch areas follow
  uint64_t total = 0;    // of its counts
  // Where plans have rows of blocks that differ: those of this plan.
  const RowOffsets* rows = nullptr;
  uint64_t longest_short = ~uint64_t{0};

  const BlockVector* vector_of(const Slice& slice) const {
    if (slice.blocks <= 1 && !has_short_vectors) return nullptr;
    if (slice.buffer == Buffer::kInput) return input;
    if (slice.buffer == Buffer::kOutput) return output;
    return input != nullptr ? input : output;
  }
};

// The range of a slice in blocks of different lengths. Only where these lie densely may it span several.
Range resolve_in_blocks(const Slice& slice, const BlockVector& blocks);

// count * numerator / of, rounded down. Vector calls compute it for each block, so a product that fits into 64 bits
// avoids the 128-bit division.
inline uint64_t fraction(uint64_t count, uint64_t numerator, uint64_t of) {
  uint64_t product = 0;
  if (!__builtin_mul_overflow(count, numerator, &product)) [[likely]]
    return product / of;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(count) * numerator / of);
}

inline Range resolve(const Slice& slice, uint64_t count) {
  const auto at = [&](uint64_t numerator) { return fraction(count, slice.blocks * numerator, slice.of); };
  return {at(slice.first) - at(slice.origin), at(slice.last) - at(slice.first)};
}

// Where `extents.rows` is there.
bool lies_in_row(const Slice& slice, const Extents& extents);
Range resolve_in_row(const Slice& slice, const Extents& extents);

inline Range resolve(const Slice& slice, const Extents& extents) {
  if (extents.rows != nullptr && lies_in_row(slice, extents)) return resolve_in_row(slice, extents);
  const BlockVector* blocks = extents.vector_of(slice);
  Range range = blocks == nullptr ? resolve(slice, extents.count) : resolve_in_blocks(slice, *blocks);
  const Share other = range.length <= extents.longest_short ? Share::kLong : Share::kShort;
  if (slice.share == other) range.length = 0;
  return range;
}

enum class StepKind : uint8_t {
  // Two-sided, matched in order per ordered pair of ranks. A send may complete only when it is received:
  // a schedule must not count on buffering. What is received must be as long as what was sent.
  kSend,            // source -> peer
  kReceive,         // peer -> destination
  kReceiveCombine,  // destination = incoming (op) source, or source (op) incoming: see `incoming_left`
  // One-sided, on slots. The k-th publication of a slot by a rank within a call has version k, from 1.
  kPublish,      // source becomes readable by all peers as my slot's next version
  kExpose,       // destination becomes writable by peers as my slot's next version; what it held is lost
  kGet,          // destination = what `peer` published as (slot, version); waits until it has.
                 // With peer = self after kExpose: takes what was put, into destination.
  kPut,          // source -> what `peer` exposed as (slot, version); waits until it has
  kCombineFrom,  // destination = published (op) source, or source (op) published: see `incoming_left`
  // Counters, all zero when the call begins. Own counters can be waited on by their owner only,
  // shared ones (peer = kShared) by everybody. A wait for v passes when at least v has been added.
  kAdd,        // peer's counter += value
  kWaitUntil,  // until my (or the shared) counter has reached value
  // Local.
  kCopy,     // destination = source; nothing where a call in place makes them the same memory
  kCombine,  // destination = source (op) destination, or destination (op) source: `incoming_left` = source is left
  // Between nodes that can multicast; the shared-memory engine refuses these, and kTrigger.
  kMulticast,  // source -> every rank that has a kFirstOf for it from me; `value` ranks multicast at a time
  kExpect,     // destination becomes writable by the next multicast of `second_peer`, which a later kFirstOf of the
               // same destination takes; what it held is lost
  kFirstOf,    // destination = whichever of `peer` (two-sided) and `second_peer` (multicast) delivers first
  // In no algorithm's plan: an engine carries out the messages to other nodes that would stand here, as `trigger` says.
  // source: what this rank gives to it, destination: where what comes of it goes; without either, it is waited for all
  // the same.
  kTrigger,
};

// Matched with a step of the peer's, in the order of both ranks; may go between nodes.
inline bool is_two_sided(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kReceive || kind == StepKind::kReceiveCombine;
}
// Reads or writes what the peer has published.
inline bool is_one_sided(StepKind kind) {
  return kind == StepKind::kGet || kind == StepKind::kPut || kind == StepKind::kCombineFrom;
}
inline bool is_by_multicast(StepKind kind) {
  return kind == StepKind::kMulticast || kind == StepKind::kExpect || kind == StepKind::kFirstOf;
}
inline bool is_publication(StepKind kind) { return kind == StepKind::kPublish || kind == StepKind::kExpose; }
inline bool is_counter(StepKind kind) { return kind == StepKind::kAdd || kind == StepKind::kWaitUntil; }

// What a kTrigger asks its engine for, in the engine's own numbers (engines/nic/group_carrier.h).
struct Trigger {
  uint32_t root = 0;  // a member of the engine's group
  uint8_t program = 0;
  uint8_t operation = 0;
  uint8_t layout = 0;  // of source and destination

  bool operator==(const Trigger&) const = default;
};

// `peer` of a counter step that means the communicator's shared counters.
inline constexpr uint32_t kShared = 0xffffffffu;

struct Step {
  StepKind kind = StepKind::kCopy;
  bool ends_stage = true;     // the next step waits for this one and all before it
  bool incoming_left = true;  // operand order of a combination: true: incoming (op) local
  bool to_first_of = false;   // kSend: to a kFirstOf, so its receiver may have the data already
  uint8_t slot = 0;           // slot or counter number
  uint32_t peer = 0;          // a rank of the plan's group, or kShared
  uint32_t second_peer = 0;   // kExpect, kFirstOf: the rank that multicasts
  uint32_t version = 0;       // kGet, kPut, kCombineFrom: which publication is meant; kPublish, kExpose: own
  uint32_t value = 0;         // kAdd, kWaitUntil, kMulticast
  Trigger trigger;            // kTrigger
  Slice source;
  Slice destination;
  Slice target;  // kGet, kPut, kCombineFrom: where within the published slice, in elements from its
                 // beginning (the offset that resolve() gives); kNone: all of it, from its beginning

  bool operator==(const Step&) const = default;
};

inline constexpr int kMaxSlots = 16;     // slots a rank may use within one call
inline constexpr int kMaxCounters = 16;  // own counters a rank has, and shared ones a communicator has, within one call
inline constexpr int kMaxScratchAreas = 32;

}  // namespace hocket::schedule
