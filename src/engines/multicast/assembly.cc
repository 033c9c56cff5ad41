// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/assembly.h"

#include <algorithm>
#include <cstring>

#include "base/assertion.h"
#include "engines/multicast/blocks.h"

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

bool Assembly::has(uint64_t index) const { return (come_[index / kWordBits] >> index % kWordBits & 1) != 0; }

uint64_t Assembly::missing_blocks() const {
  uint64_t missing = 0;
  if (is_complete()) return missing;
  const Blocks blocks(into_.size(), fragment_bytes_);
  for (uint64_t index = 0; index < fragments_; ++index)
    if (!has(index)) missing |= uint64_t{1} << blocks.of(index * fragment_bytes_);
  return missing;
}

void Assembly::supply(uint64_t blocks, std::span<const std::byte> content) {
  const Blocks all(into_.size(), fragment_bytes_);
  HOCKET_ASSERT(content.size() == all.bytes(blocks), "blocks are supplied whole");
  all.each(blocks, [&](uint32_t block) {
    const std::span<const std::byte> own = content.first(all.length(block));
    content = content.subspan(own.size());
    uint64_t at = 0;
    do {
      const uint64_t bytes = std::min<uint64_t>(fragment_bytes_, own.size() - at);
      (void)take(all.begin(block) + at, own.subspan(at, bytes));
      at += bytes;
    } while (at < own.size());
  });
}

}  // namespace hocket::engines::multicast
