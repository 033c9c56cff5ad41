// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/assembly.h"

#include <algorithm>
#include <cstring>

namespace hocket::engines::multicast {
namespace {

constexpr uint32_t kWordBits = 64;

}  // namespace

void Assembly::reset(std::span<std::byte> into, uint32_t fragment_bytes) {
  into_ = into;
  fragment_bytes_ = fragment_bytes;
  const uint64_t fragments = std::max<uint64_t>(1, (into.size() + fragment_bytes - 1) / fragment_bytes);
  fragments_ = missing_ = static_cast<uint32_t>(fragments);
  const size_t words = (fragments + kWordBits - 1) / kWordBits;
  if (come_.size() < words) come_.resize(words);
  std::fill_n(come_.begin(), words, 0);
}

bool Assembly::take(uint64_t offset, std::span<const std::byte> fragment) {
  if (offset % fragment_bytes_ != 0 || offset > into_.size()) return false;
  const uint64_t index = offset / fragment_bytes_;
  const uint64_t expected = std::min<uint64_t>(fragment_bytes_, into_.size() - offset);
  if (index >= fragments_ || fragment.size() != expected) return false;
  uint64_t& word = come_[index / kWordBits];
  const uint64_t bit = uint64_t{1} << index % kWordBits;
  if ((word & bit) != 0) return false;
  word |= bit;
  --missing_;
  if (!fragment.empty()) std::memcpy(into_.data() + offset, fragment.data(), fragment.size());
  return true;
}

}  // namespace hocket::engines::multicast
