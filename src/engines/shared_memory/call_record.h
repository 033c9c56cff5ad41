// SPDX-License-Identifier: BSD-3-Clause
// What each rank tells of the calls it is in, so that ranks that are in different ones find out: a record in its own
// memory, which no peer reads unless something is wrong, and a mark in every line that it writes and every counter that
// it adds to anyway.
//
// A record is written at the beginning of a call, by three plain stores, and read by peers that have waited for long.
// It may be written anew while they read: each of its words says which call it is of.
//
// Thread safety: one writer, any number of readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace hocket::engines::shared_memory {

// A call, as far as all ranks must agree on it. The upper 16 bits of each word are 0.
struct CallSignature {
  uint64_t what = 0;       // which collective, whether operands keep their order, and the root
  uint64_t bytes = 0;      // of a block where there is one a rank; of all blocks together where these differ; 0 where
                           // ranks see different lengths
  uint64_t operation = 0;  // of a reduction: the type, and the operation's name, 0 where ranks can't tell

  bool operator==(const CallSignature&) const = default;
};

// What is said of ranks of which nothing else is known.
inline constexpr const char* kSameCalls = "all ranks must call the same collectives in the same order";
inline std::string in_another_call(uint32_t other, uint32_t rank) {
  return "rank " + std::to_string(other) + " is in another call than rank " + std::to_string(rank) +
         ", or was before; " + kSameCalls;
}

// Bits of a line's location that no offset and no address needs.
inline constexpr uint32_t kMarkShift = 48;
inline constexpr uint64_t kMarkBits = uint64_t{0x7fff} << kMarkShift;

// Of what is known when a call is planned, its signature without the operation.
inline uint64_t hash_of_shape(const CallSignature& signature) {
  uint64_t hash = (signature.what ^ signature.bytes << 20 ^ signature.bytes >> 44) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  return (hash + signature.what) * 0xc2b2ae3d27d4eb4full;
}

// A number of all calls of a lane so far, of which some bits mark the lines and counters of the last: ranks that have
// been in different calls differ from then on, whatever they call, but for one line of 32768, or one counter of 2^32.
class CallHistory {
 public:
  void add(uint64_t hash_of_shape, uint64_t operation) {
    hash_ = (hash_ ^ hash_of_shape ^ operation) * 0x9e3779b97f4a7c15ull;
  }
  uint64_t mark() const { return hash_ >> 1 & kMarkBits; }
  // What ranks add to a counter for 1. The upper half of a sum is that of their marks, so that it fits the lower one
  // where all are the same.
  uint64_t unit() const { return (hash_ >> kCountBits << kCountBits) | 1; }
  static constexpr uint32_t kCountBits = 32;
  // For callers that have room for a few bits only: any of these will do.
  uint32_t short_mark() const { return static_cast<uint32_t>(hash_ >> kCountBits) * 0x9e3779b1u >> 16; }

 private:
  uint64_t hash_ = 0;
};

class CallRecord {
 public:
  // `round`: how often the place has been used before.
  void write(uint64_t round, const CallSignature& shape, uint64_t operation) {
    const uint64_t tag = tag_of(round);
    // Relaxed, all: what is read says itself which call it is of, and nothing follows from it. Partner: read().
    what_.store(shape.what | tag, std::memory_order_relaxed);
    bytes_.store(shape.bytes | tag, std::memory_order_relaxed);
    operation_.store(operation | tag, std::memory_order_relaxed);
  }
  // False: it is of another call, or just becoming so.
  bool read(uint64_t round, CallSignature& signature) const {
    const uint64_t tag = tag_of(round);
    // Relaxed, all: see write().
    signature.what = what_.load(std::memory_order_relaxed) ^ tag;
    signature.bytes = bytes_.load(std::memory_order_relaxed) ^ tag;
    signature.operation = operation_.load(std::memory_order_relaxed) ^ tag;
    return (signature.what | signature.bytes | signature.operation) >> kTagShift == 0;
  }

 private:
  static constexpr uint32_t kTagShift = 48;
  // Not 0 at first, as memory is.
  static uint64_t tag_of(uint64_t round) { return (round + 1) << kTagShift; }

  std::atomic<uint64_t> what_, bytes_, operation_;
};

// When a rank came to a call, while calls are timed (communicator/timing): one word beside the record, on the clock
// that all processes of a machine share. Some of its bits say how often the place was used before, which leaves enough
// for nine years of nanoseconds.
class Arrival {
 public:
  void write(uint64_t round, uint64_t came_ns) {
    // Relaxed: it is read by ranks that the call itself has brought something from its writer, or may be missed.
    // Partner: read().
    word_.store(came_ns << kRoundBits | (round & kRoundMask), std::memory_order_relaxed);
  }
  // 0: nothing is known of this call.
  uint64_t read(uint64_t round) const {
    const uint64_t word = word_.load(std::memory_order_relaxed);  // see write()
    return (word & kRoundMask) == (round & kRoundMask) ? word >> kRoundBits : 0;
  }

 private:
  static constexpr uint32_t kRoundBits = 6;
  static constexpr uint64_t kRoundMask = (1u << kRoundBits) - 1;

  std::atomic<uint64_t> word_;
};

}  // namespace hocket::engines::shared_memory
