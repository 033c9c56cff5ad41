// SPDX-License-Identifier: BSD-3-Clause
// A small map from MPI handles, integers or pointers, filled once and then only read: one multiplication and usually
// one comparison a look-up.
//
// Thread safety: look-ups from any thread once it is filled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hocket::interposer {

template <typename Handle>
inline uint64_t handle_bits(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &handle, sizeof handle);
  return bits;
}

// The upper bits of the product are well mixed.
inline uint64_t handle_hash(uint64_t bits) { return bits * 0x9e3779b97f4a7c15ull; }

template <typename Handle, typename Value, int kLog2Slots>
class HandleMap {
 public:
  // False: full up to a quarter, or there already.
  bool insert(Handle handle, const Value& value) {
    if (used_ >= kSlots - kSlots / 4 || find(handle) != nullptr) return false;
    size_t slot = home(handle);
    while (slots_[slot].used) slot = (slot + 1) % kSlots;
    slots_[slot] = {handle, true, value};
    ++used_;
    return true;
  }

  const Value* find(Handle handle) const {
    for (size_t slot = home(handle); slots_[slot].used; slot = (slot + 1) % kSlots) {
      if (slots_[slot].handle == handle) return &slots_[slot].value;
    }
    return nullptr;
  }

  size_t size() const { return used_; }

 private:
  static constexpr size_t kSlots = size_t{1} << kLog2Slots;
  struct Slot {
    Handle handle{};
    bool used = false;
    Value value{};
  };

  static size_t home(Handle handle) { return handle_hash(handle_bits(handle)) >> (64 - kLog2Slots); }

  std::array<Slot, kSlots> slots_{};
  size_t used_ = 0;
};

}  // namespace hocket::interposer
