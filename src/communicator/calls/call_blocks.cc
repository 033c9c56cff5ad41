// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/call_blocks.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "communicator/calls/arguments.h"

namespace hocket::communicator {

using schedule::BlockVector;

namespace {

// Room for more than this is not kept for the next call in place.
constexpr uint64_t kMostKeptCopy = 16 << 20;

void lay_densely(const uint64_t* counts, uint32_t size, std::vector<uint64_t>& displacements) {
  displacements.resize(size);
  std::exclusive_scan(counts, counts + size, displacements.begin(), uint64_t{0});
}

}  // namespace

void CallBlocks::take(Side& side, const BlockVector& given, uint32_t size, bool kept) {
  side.is_there = given.counts != nullptr && size != 0;
  side.blocks = size;
  if (!side.is_there) return;
  side.whole = given;
  if (kept) {
    side.counts.assign(given.counts, given.counts + size);
    side.whole.counts = side.counts.data();
  }
  if (given.displacements == nullptr) {
    lay_densely(given.counts, size, side.displacements);
    side.whole.displacements = side.displacements.data();
  } else if (kept) {
    side.displacements.assign(given.displacements, given.displacements + size);
    side.whole.displacements = side.displacements.data();
  }
}

void CallBlocks::read(const Arguments& arguments, uint32_t size, bool kept) {
  take(input_, arguments.input_blocks, size, kept);
  take(output_, arguments.output_blocks, size, kept);
  whole_ = {};
  whole_.count = arguments.count;
  measure();
}

void CallBlocks::read_among_neighbours(const Arguments& arguments, uint32_t destinations, uint32_t sources, bool kept) {
  take(input_, arguments.input_blocks, destinations, kept);
  take(output_, arguments.output_blocks, sources, kept);
  whole_ = {};
  whole_.count = arguments.count;
  whole_.has_short_vectors = true;
  measure();
}

void CallBlocks::point_at_copies(Arguments& arguments) const {
  if (input_.is_there) arguments.input_blocks = input_.whole;
  if (output_.is_there) arguments.output_blocks = output_.whole;
}

void CallBlocks::make_equal(schedule::Collective collective, uint64_t count, uint32_t size) {
  const auto fill = [&](Side& side, uint32_t blocks) {
    side.is_there = blocks > 1;
    side.blocks = size;
    if (!side.is_there) return;
    side.counts.assign(size, count);
    lay_densely(side.counts.data(), size, side.displacements);
    side.whole = {side.counts.data(), side.displacements.data()};
  };
  fill(input_, schedule::input_blocks(collective, size));
  fill(output_, schedule::output_blocks(collective, size));
  whole_ = {};
  whole_.count = count;
  measure();
}

void CallBlocks::measure() {
  whole_.varies = true;
  whole_.input = input_.is_there ? &input_.whole : nullptr;
  whole_.output = output_.is_there ? &output_.whole : nullptr;
  const Side& followed = input_.is_there ? input_ : output_;
  if (!followed.is_there) return;
  const uint64_t* const counts = followed.whole.counts;
  whole_.longest = *std::max_element(counts, counts + followed.blocks);
  whole_.total = std::accumulate(counts, counts + followed.blocks, uint64_t{0});
}

void CallBlocks::cut(Side& side, uint64_t first, uint64_t most) {
  const uint32_t size = side.blocks;
  side.part_counts.resize(size);
  side.part_displacements.resize(size);
  for (uint32_t block = 0; block < size; ++block) {
    const uint64_t count = side.whole.counts[block];
    side.part_counts[block] = std::min(count - std::min(first, count), most);
    side.part_displacements[block] = side.whole.displacements[block] + first;
  }
  side.part = {side.part_counts.data(), side.part_displacements.data()};
}

const schedule::Extents& CallBlocks::part(uint64_t first, uint64_t most) {
  if (first == 0 && whole_.longest <= most && whole_.count <= most) return whole_;
  part_ = whole_;
  part_.count = std::min(whole_.count - std::min(first, whole_.count), most);
  part_.longest = std::min(whole_.longest, most);
  if (input_.is_there) {
    cut(input_, first, most);
    part_.input = &input_.part;
  }
  if (output_.is_there) {
    cut(output_, first, most);
    part_.output = &output_.part;
  }
  return part_;
}

const std::byte* CallBlocks::copy_input(const Arguments& arguments, uint32_t size) {
  const uint64_t element = arguments.combiner.element_bytes;
  const bool varies = schedule::is_vector(arguments.collective);
  const uint64_t bytes = (varies ? whole_.total : arguments.count * size) * element;
  if (bytes > copy_bytes_ || copy_bytes_ > kMostKeptCopy) {
    copy_ = std::make_unique<std::byte[]>(bytes);
    copy_bytes_ = bytes;
  }
  if (!varies) {
    if (bytes != 0) std::memcpy(copy_.get(), arguments.input, bytes);
    return copy_.get();
  }
  // A call that is started again finds those of its last copy.
  const bool is_copied_again = input_.whole.displacements == copy_displacements_.data();
  if (!is_copied_again) input_displacements_ = input_.whole.displacements;
  std::byte* into = copy_.get();
  for (uint32_t block = 0; block < size; ++block) {
    const uint64_t length = input_.whole.counts[block] * element;
    if (length != 0) std::memcpy(into, arguments.input + input_displacements_[block] * element, length);
    into += length;
  }
  lay_densely(input_.whole.counts, size, copy_displacements_);
  input_.whole.displacements = copy_displacements_.data();
  return copy_.get();
}

}  // namespace hocket::communicator
