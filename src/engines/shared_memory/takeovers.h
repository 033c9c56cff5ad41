// SPDX-License-Identifier: BSD-3-Clause
// How members of a group that make a communicator among some of them agree, without ever waiting for each other, on the
// call from which on that communicator carries out what something else has carried out until then.
//
// Each of the communicator's ranks leaves a place on its board, under the communicator's number: what the others need
// to make it, whether it has made it, and its promise, which says how many calls it has started the old way. A rank
// raises its promise with each further one, until somebody seals it. Who finds that all ranks have made the
// communicator seals all promises: the first call to go the new way is the one behind the highest of them. A rank that
// wants no takeover any more closes its promise, and there is none, then, for anybody. Each promise is sealed or closed
// once and for good, so that all ranks come to the same answer, whoever looks first; and who can't raise its promise
// finds the answer by sealing those that are still open.
//
// A rank that has no room for a place says so, and its peers go on as before.
//
// Thread safety: of each rank one thread at a time claims or declines places; any may do all else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engines/shared_memory/group.h"

namespace hocket::engines::shared_memory {

class Promise {
 public:
  enum class State : uint8_t { kOpen, kSealed, kClosed };
  struct Settled {
    State state;
    uint64_t calls;
  };
  // `calls` are started the old way by then.
  void make(uint64_t calls) { word_.store(calls << kStateBits, std::memory_order_relaxed); }
  // One more. False: it is sealed or closed.
  bool raise();
  // Not open any more, whoever has settled it.
  Settled seal() { return settle(State::kSealed); }
  Settled close() { return settle(State::kClosed); }

 private:
  static constexpr uint32_t kStateBits = 2;
  Settled settle(State wanted);
  // Acquire and release, where it is settled: what a rank has written before it did so is seen by who finds it so.
  std::atomic<uint64_t> word_;
};

struct alignas(64) TakeoverPlace {
  static constexpr size_t kTextBytes = 1024 - 40;
  std::atomic<uint64_t> number;  // written last, read first; 0: nobody's
  Promise promise;
  std::atomic<uint32_t> has_made;  // its owner has the communicator. Release, and acquire
  std::atomic<uint32_t> done;      // how many ranks of the communicator will not look at it any more. The same
  uint32_t ranks;                  // of the communicator
  uint32_t bytes;                  // that are stored; the zeros at the text's end are left out
  std::byte text[kTextBytes];
};
static_assert(sizeof(TakeoverPlace) == 1024);

struct TakeoverBoard {
  static constexpr uint32_t kPlaces = 64, kWithout = 256;
  TakeoverPlace places[kPlaces];
  // The numbers of the last communicators that its owner has no place for. Relaxed: nothing is told beside.
  std::atomic<uint64_t> without[kWithout];
  uint64_t declined;  // how many; the owner's
};

// Each member's board is in its region from the first communicator on that it has to tell of.
class Takeovers {
 public:
  explicit Takeovers(const NodeGroup& group) : group_(group) {}
  // An own place for a communicator of `ranks`, of which `calls` are started. nullptr: there is no room, in one of the
  // few places that a number may have.
  TakeoverPlace* claim(uint64_t number, uint32_t ranks, uint64_t calls, const void* text, size_t bytes);
  // There won't be one, and this rank looks at nobody's.
  void decline(uint64_t number);
  bool has_declined(uint32_t member, uint64_t number) const;
  // nullptr: it isn't there, or not yet.
  TakeoverPlace* find(uint32_t member, uint64_t number) const;
  static void read(const TakeoverPlace& place, void* text, size_t bytes);
  // Whether all ranks are done with it.
  static bool is_done(const TakeoverPlace& place) { return place.done.load(std::memory_order_acquire) == place.ranks; }
  // Release: pairs with the acquire of who claims it next.
  static void give_back(TakeoverPlace& place) { place.number.store(0, std::memory_order_release); }

 private:
  // nullptr: there is none.
  TakeoverBoard* board(uint32_t member) const;
  TakeoverBoard* own_board();
  const NodeGroup& group_;
};

}  // namespace hocket::engines::shared_memory
