// SPDX-License-Identifier: BSD-3-Clause
// Room for many things of one kind that come and go. They keep their numbers and addresses.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hocket::simulation {

template <typename Thing>
class Slab {
 public:
  // What was there before, or anything.
  uint32_t take() {
    if (free_.empty()) grow();
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void release(uint32_t number) { free_.push_back(number); }
  Thing& operator[](uint32_t number) { return chunks_[number / kChunk][number % kChunk]; }
  size_t bytes() const { return chunks_.size() * kChunk * sizeof(Thing); }

 private:
  static constexpr uint32_t kChunk = 256;

  void grow() {
    const auto first = static_cast<uint32_t>(chunks_.size()) * kChunk;
    chunks_.push_back(std::make_unique_for_overwrite<Thing[]>(kChunk));
    for (uint32_t i = kChunk; i-- > 0;) free_.push_back(first + i);
  }

  std::vector<std::unique_ptr<Thing[]>> chunks_;
  std::vector<uint32_t> free_;
};

}  // namespace hocket::simulation
