// SPDX-License-Identifier: BSD-3-Clause
// Inputs whose results are known beforehand.
#include <algorithm>
#include <cstring>

#include "bench/bench.h"

namespace hocket::bench {
namespace {

// Changes from element to element, so that a shifted or a missing piece shows.
int64_t wave(uint64_t index) { return static_cast<int64_t>(index % 251); }

unsigned char broadcast_byte(uint64_t index, int root) {
  return static_cast<unsigned char>(index * 31 + static_cast<uint64_t>(root) * 17 + 5);
}

int64_t expected(Operation operation, int64_t size, uint64_t index) {
  switch (operation) {
    case Operation::kMin:
      return 1 + wave(index);
    case Operation::kMax:
      return size + wave(index);
    case Operation::kSum:
      break;
  }
  return size * (size + 1) / 2 + size * wave(index);
}

template <typename T>
void fill_elements(std::byte* memory, uint64_t count, int rank) {
  T* elements = reinterpret_cast<T*>(memory);
  for (uint64_t i = 0; i < count; ++i) elements[i] = static_cast<T>(rank + 1 + wave(i));
}

template <typename T>
std::string check_elements(const std::byte* memory, uint64_t count, Operation operation, int size) {
  const T* elements = reinterpret_cast<const T*>(memory);
  for (uint64_t i = 0; i < count; ++i) {
    const T right = static_cast<T>(expected(operation, size, i));
    if (elements[i] != right)
      return "element " + std::to_string(i) + " is " + std::to_string(elements[i]) + " and should be " +
             std::to_string(right);
  }
  return {};
}

}  // namespace

void fill(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers) {
  if (cell.collective == Collective::kBarrier) return;
  std::memset(buffers.output, 0xa5, cell.bytes);
  if (cell.collective == Collective::kBroadcast) {
    if (world.rank() != root) return;
    for (uint64_t i = 0; i < cell.bytes; ++i) buffers.output[i] = static_cast<std::byte>(broadcast_byte(i, root));
    return;
  }
  switch (options.element) {
    case Element::kInt32:
      return fill_elements<int32_t>(buffers.input, cell.count, world.rank());
    case Element::kInt64:
      return fill_elements<int64_t>(buffers.input, cell.count, world.rank());
    case Element::kFloat:
      return fill_elements<float>(buffers.input, cell.count, world.rank());
    case Element::kDouble:
      return fill_elements<double>(buffers.input, cell.count, world.rank());
  }
}

std::string check(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers) {
  if (cell.collective == Collective::kBarrier) return {};
  if (cell.collective == Collective::kBroadcast) {
    for (uint64_t i = 0; i < cell.bytes; ++i) {
      const int is = std::to_integer<int>(buffers.output[i]);
      if (is != broadcast_byte(i, root))
        return "byte " + std::to_string(i) + " is " + std::to_string(is) + " and should be " +
               std::to_string(broadcast_byte(i, root));
    }
    return {};
  }
  if (cell.collective == Collective::kReduce && world.rank() != root) return {};
  const int size = world.size();
  switch (options.element) {
    case Element::kInt32:
      return check_elements<int32_t>(buffers.output, cell.count, options.operation, size);
    case Element::kInt64:
      return check_elements<int64_t>(buffers.output, cell.count, options.operation, size);
    case Element::kFloat:
      return check_elements<float>(buffers.output, cell.count, options.operation, size);
    case Element::kDouble:
      return check_elements<double>(buffers.output, cell.count, options.operation, size);
  }
  return {};
}

size_t bytes_of(Element element) { return element == Element::kInt32 || element == Element::kFloat ? 4 : 8; }

size_t buffer_bytes(const Options& options) {
  uint64_t most = 64;
  for (uint64_t size : options.sizes) most = std::max(most, size);
  return (most + 63) / 64 * 64;
}

std::string_view name(Timing timing) { return timing == Timing::kIsolated ? "isolated" : "back-to-back"; }

}  // namespace hocket::bench
