// SPDX-License-Identifier: BSD-3-Clause
#include "image.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "random.h"

namespace conformance {
namespace {

constexpr size_t kGuard = 128;  // before and after

struct Extent {
  MPI_Aint low = 0, high = 0;

  void include(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      for (size_t e = 0; block.count > 0 && e < block.layout->places.size(); ++e) {
        const MPI_Aint a = block.at + block.layout->places[e];
        const MPI_Aint b = a + (block.count - 1) * block.layout->extent;
        low = is_empty ? a : std::min(low, a);
        high = std::max(is_empty ? b : high, b + static_cast<MPI_Aint>(block.layout->elements[e]->size));
        is_empty = false;
      }
    }
  }

 private:
  bool is_empty = true;
};

// As strict as the elements need it, and not more.
size_t alignment(const Family& family) {
  size_t bits = 16;
  for (const Element* element : family) bits |= element->size;
  return bits & (~bits + 1);
}

Image blank(const Case& which, const Extent& extent, uint64_t side) {
  const uint64_t any = hash(which.salt, 60 + side);
  const size_t shift = alignment(which.family) * (any % 16);
  Image image;
  image.origin = kGuard + shift - static_cast<size_t>(extent.low);
  const size_t bytes = 2 * kGuard + shift + static_cast<size_t>(extent.high - extent.low);
  image.before.resize(bytes);
  for (size_t i = 0; i < bytes; ++i) image.before[i] = static_cast<unsigned char>(any + i * 7 + (i >> 8));
  image.meaning.assign(bytes, Byte::kGap);
  return image;
}

Values values_of(const Case& which) { return which.operation != nullptr ? which.operation->values : Values::kAnyBytes; }

void write_element(const Case& which, const Element& element, uint64_t key, int64_t index, unsigned char* at) {
  const uint64_t any = hash(which.salt + which.round, key, static_cast<uint64_t>(index));
  element.write(at, values_of(which), any, static_cast<int>(key));
}

// What ranks [key, last) have, combined in rank order; elements one after the other.
std::vector<unsigned char> combined(const Case& which, const Block& block) {
  const auto count = static_cast<size_t>(block.elements());
  const Element& element = *which.family[0];
  std::vector<unsigned char> result(count * element.size), next(result.size());
  for (uint64_t rank = block.key; rank < block.last; ++rank) {
    for (size_t i = 0; i < count; ++i) {
      write_element(which, element, rank, block.first + static_cast<int64_t>(i), &next[i * element.size]);
    }
    if (rank > block.key) {
      fold(*which.operation, which.family, result.data(), next.data(),
           static_cast<int64_t>(count / which.family.size()));
    }
    result.swap(next);
  }
  return result;
}

void write_block(const Case& which, const Block& block, unsigned char* buffer, Byte* meaning, Byte sense) {
  if (block.elements() == 0) return;
  std::vector<unsigned char> result;
  if (block.last > 0) result = combined(which, block);
  const Layout& layout = *block.layout;
  int64_t index = 0;
  for (int64_t instance = 0; instance < block.count; ++instance) {
    for (size_t e = 0; e < layout.places.size(); ++e, ++index) {
      const Element& element = *layout.elements[e];
      const MPI_Aint at = block.at + instance * layout.extent + layout.places[e];
      if (block.last > 0) {
        std::memcpy(buffer + at, &result[static_cast<size_t>(index) * element.size], element.size);
      } else {
        write_element(which, element, block.key, block.first + index, buffer + at);
      }
      for (size_t i = 0; i < element.size; ++i) {
        meaning[at + static_cast<MPI_Aint>(i)] = (element.meaning >> i & 1) != 0 ? sense : Byte::kUndefined;
      }
    }
  }
}

std::string byte_text(size_t at, const Image& image, const unsigned char* hocket, const unsigned char* host,
                      bool is_gap) {
  char text[200];
  std::snprintf(text, sizeof text, "%s byte %lld of the buffer (%zu bytes): hocket %02x, host %02x, %s %02x",
                is_gap ? "untouchable" : "data", static_cast<long long>(at) - static_cast<long long>(image.origin),
                image.before.size(), hocket[at], host[at], is_gap ? "before" : "by reckoning", image.expected[at]);
  return text;
}

}  // namespace

Image input_image(const Case& which, const Part& part) {
  Extent extent;
  extent.include(part.send.blocks);
  Image image = blank(which, extent, 0);
  for (const Block& block : part.send.blocks) {
    write_block(which, block, image.before.data() + image.origin, image.meaning.data() + image.origin, Byte::kGap);
  }
  image.meaning.assign(image.meaning.size(), Byte::kGap);
  image.expected = image.before;
  return image;
}

Image output_image(const Case& which, const Part& part) {
  Extent extent;
  extent.include(part.receive.blocks);
  extent.include(part.receive.room);
  extent.include(part.input_in_place);
  Image image = blank(which, extent, 1);
  Byte* meaning = image.meaning.data() + image.origin;
  // What was read and not written again, MPI leaves open; all else is named below.
  for (const Block& block : part.input_in_place) {
    write_block(which, block, image.before.data() + image.origin, meaning, Byte::kUndefined);
  }
  image.expected = image.before;
  for (const Block& block : part.receive.blocks) {
    write_block(which, block, image.expected.data() + image.origin, meaning, Byte::kData);
  }
  return image;
}

Comparison compare(const Image& image, const unsigned char* hocket, const unsigned char* host, bool is_passed_through) {
  Comparison result;
  const size_t bytes = image.before.size();
  if (std::memcmp(hocket, image.expected.data(), bytes) == 0 && std::memcmp(host, hocket, bytes) == 0) return result;
  for (size_t i = 0; i < bytes; ++i) {
    if (image.meaning[i] == Byte::kUndefined) continue;
    const bool is_gap = image.meaning[i] == Byte::kGap;
    const unsigned char right = image.expected[i];  // in gaps, what was there before
    if (host[i] != right) (is_gap ? result.has_host_left_traces : result.is_host_wrong) = true;
    const bool is_good = hocket[i] == right || (hocket[i] == host[i] && (!is_gap || is_passed_through));
    if (is_good || !result.is_good) continue;
    result.is_good = false;
    result.text = byte_text(i, image, hocket, host, is_gap);
  }
  return result;
}

}  // namespace conformance
