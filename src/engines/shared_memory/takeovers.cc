// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/takeovers.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/assertion.h"

namespace hocket::engines::shared_memory {

namespace {

// A number's places: few enough to look into for nothing.
constexpr uint32_t kPlacesOfNumber = 8;

TakeoverPlace& place_of(TakeoverBoard& board, uint64_t number, uint32_t index) {
  return board.places[(number / 2 + index) % TakeoverBoard::kPlaces];  // numbers are odd
}

}  // namespace

bool Promise::raise() {
  uint64_t before = word_.load(std::memory_order_relaxed);
  constexpr uint64_t kStates = (uint64_t{1} << kStateBits) - 1;
  // Only its owner raises it: what changes meanwhile is its state.
  return (before & kStates) == static_cast<uint64_t>(State::kOpen) &&
         word_.compare_exchange_strong(before, before + (uint64_t{1} << kStateBits), std::memory_order_acq_rel,
                                       std::memory_order_acquire);
}

Promise::Settled Promise::settle(State wanted) {
  constexpr uint64_t kStates = (uint64_t{1} << kStateBits) - 1;
  uint64_t word = word_.load(std::memory_order_acquire);
  while ((word & kStates) == static_cast<uint64_t>(State::kOpen)) {
    const uint64_t settled = word | static_cast<uint64_t>(wanted);
    if (word_.compare_exchange_weak(word, settled, std::memory_order_acq_rel, std::memory_order_acquire))
      word = settled;
  }
  return {static_cast<State>(word & kStates), word >> kStateBits};
}

TakeoverBoard* Takeovers::board(uint32_t member) const {
  const Member& one = group_.member(member);
  // Acquire: pairs with the release in own_board().
  const uint64_t known = one.block->takeovers.load(std::memory_order_acquire);
  if (known == 0 || known == RankBlock::kNoTakeovers) return nullptr;
  std::byte* base = member == group_.rank() ? group_.region().base() : one.window.base;
  if (member != group_.rank() && one.region != nullptr) {
    Result<platform::Window> window = one.region->reach(known - 1 + sizeof(TakeoverBoard));
    if (!window.is_ok()) return nullptr;
    base = window.value().base;
  }
  return reinterpret_cast<TakeoverBoard*>(base + known - 1);
}

TakeoverBoard* Takeovers::own_board() {
  std::atomic<uint64_t>& known = group_.member(group_.rank()).block->takeovers;
  if (known.load(std::memory_order_relaxed) == 0) {
    const void* const memory = group_.region().allocate_sparse(sizeof(TakeoverBoard));
    known.store(memory == nullptr ? RankBlock::kNoTakeovers : 1 + group_.region().offset_of(memory),
                std::memory_order_release);
  }
  return board(group_.rank());
}

TakeoverPlace* Takeovers::claim(uint64_t number, uint32_t ranks, uint64_t calls, const void* text, size_t bytes) {
  HOCKET_ASSERT(number != 0 && ranks != 0, "a takeover has a number, and ranks");
  const auto* const from = static_cast<const std::byte*>(text);
  while (bytes != 0 && from[bytes - 1] == std::byte{0}) --bytes;
  if (bytes > TakeoverPlace::kTextBytes) return nullptr;
  TakeoverBoard* const own = own_board();
  for (uint32_t index = 0; own != nullptr && index < kPlacesOfNumber; ++index) {
    TakeoverPlace& place = place_of(*own, number, index);
    if (place.number.load(std::memory_order_acquire) != 0) continue;
    place.promise.make(calls);
    place.has_made.store(0, std::memory_order_relaxed);
    place.done.store(0, std::memory_order_relaxed);
    place.ranks = ranks;
    place.bytes = static_cast<uint32_t>(bytes);
    std::memcpy(place.text, text, bytes);
    // Pairs with the acquire in find().
    place.number.store(number, std::memory_order_release);
    return &place;
  }
  return nullptr;
}

void Takeovers::decline(uint64_t number) {
  TakeoverBoard* const own = own_board();
  if (own != nullptr) own->without[own->declined++ % TakeoverBoard::kWithout].store(number, std::memory_order_relaxed);
}

bool Takeovers::has_declined(uint32_t member, uint64_t number) const {
  if (group_.member(member).block->takeovers.load(std::memory_order_relaxed) == RankBlock::kNoTakeovers) return true;
  const TakeoverBoard* const of = board(member);
  if (of == nullptr) return false;
  const auto& without = of->without;
  return std::any_of(std::begin(without), std::end(without),
                     [&](const auto& one) { return one.load(std::memory_order_relaxed) == number; });
}

TakeoverPlace* Takeovers::find(uint32_t member, uint64_t number) const {
  TakeoverBoard* const of = board(member);
  for (uint32_t index = 0; of != nullptr && index < kPlacesOfNumber; ++index) {
    TakeoverPlace& place = place_of(*of, number, index);
    if (place.number.load(std::memory_order_acquire) == number) return &place;
  }
  return nullptr;
}

void Takeovers::read(const TakeoverPlace& place, void* text, size_t bytes) {
  const size_t told = std::min<size_t>(place.bytes, bytes);
  std::memcpy(text, place.text, told);
  std::memset(static_cast<std::byte*>(text) + told, 0, bytes - told);
}

}  // namespace hocket::engines::shared_memory
