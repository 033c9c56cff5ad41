// SPDX-License-Identifier: BSD-3-Clause
// Small numbers for what is told apart by three numbers: the first that comes is 0, the next new one 1.
//
// Open addressing, since there are as many keys as there are messages.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/core/random.h"

namespace hocket::simulation {

class KeyTable {
 public:
  struct Key {
    uint32_t first;
    uint32_t second;
    uint32_t third;

    bool operator==(const Key&) const = default;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  const Key& key(uint32_t number) const { return keys_[number]; }

  // The number of a key that is there, else kNone.
  uint32_t find(const Key& key) const { return slots_[slot_of(key)]; }

  // The number of a key, which is added if it is new.
  uint32_t number_of(const Key& key) {
    size_t slot = slot_of(key);
    if (slots_[slot] != kNone) return slots_[slot];
    if (2 * (keys_.size() + 1) > slots_.size()) {
      grow();
      slot = slot_of(key);
    }
    keys_.push_back(key);
    return slots_[slot] = size() - 1;
  }

 private:
  // Where it is, or would be.
  size_t slot_of(const Key& key) const {
    const uint64_t hash = mixed(mixed(uint64_t{key.first} << 32 | key.second) + key.third);
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kNone && keys_[slots_[slot]] != key) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (uint32_t i = 0; i < keys_.size(); ++i) slots_[slot_of(keys_[i])] = i;
  }

  std::vector<Key> keys_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(16, kNone);  // a power of 2, at most half of them full
};

}  // namespace hocket::simulation
