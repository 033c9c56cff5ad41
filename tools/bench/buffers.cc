// SPDX-License-Identifier: BSD-3-Clause
// Inputs whose results are known beforehand.
#include <algorithm>
#include <cstring>
#include <optional>

#include "bench/bench.h"

namespace hocket::bench {
namespace {

constexpr auto kUntouched = std::byte{0xa5};

// Changes from element to element, so that a shifted or a missing piece shows.
int64_t wave(uint64_t index) { return static_cast<int64_t>(index % 251); }

// Of the block that `from` has for `to`.
unsigned char moved_byte(uint64_t index, int from, int to) {
  return static_cast<unsigned char>(index * 31 + static_cast<uint64_t>(from) * 17 + static_cast<uint64_t>(to) * 101 +
                                    5);
}

// Of the operands of ranks 0 .. ranks-1; nothing of an operation that fill() makes no operands for.
std::optional<int64_t> expected(Operation operation, int64_t ranks, uint64_t index) {
  switch (operation) {
    case Operation::kSum:
      return ranks * (ranks + 1) / 2 + ranks * wave(index);
    case Operation::kMin:
      return 1 + wave(index);
    case Operation::kMax:
      return ranks + wave(index);
    default:
      return std::nullopt;
  }
}

template <typename T>
void fill_elements(std::byte* memory, uint64_t count, int rank) {
  T* elements = reinterpret_cast<T*>(memory);
  for (uint64_t i = 0; i < count; ++i) elements[i] = static_cast<T>(rank + 1 + wave(i));
}

// What lies `offset` elements into the vector in which the operands of that many ranks are combined.
template <typename T>
std::string check_elements(const std::byte* memory, uint64_t count, Operation operation, int ranks, uint64_t offset) {
  const T* elements = reinterpret_cast<const T*>(memory);
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<int64_t> result = expected(operation, ranks, offset + i);
    if (!result) return "only sums, minima and maxima can be checked";
    const T right = static_cast<T>(*result);
    if (elements[i] != right)
      return "element " + std::to_string(i) + " is " + std::to_string(elements[i]) + " and should be " +
             std::to_string(right);
  }
  return {};
}

void fill_operands(const Options& options, std::byte* memory, uint64_t count, int rank) {
  switch (options.element) {
    case Element::kInt32:
      return fill_elements<int32_t>(memory, count, rank);
    case Element::kInt64:
      return fill_elements<int64_t>(memory, count, rank);
    case Element::kFloat:
      return fill_elements<float>(memory, count, rank);
    case Element::kDouble:
      return fill_elements<double>(memory, count, rank);
  }
}

std::string check_combined(const Options& options, const Cell& cell, const World& world, const std::byte* memory) {
  const auto rank = static_cast<uint32_t>(world.rank()), size = static_cast<uint32_t>(world.size());
  const auto ranks = static_cast<int>(schedule::combined_ranks(cell.collective, rank, size));
  if (ranks == 0) return {};  // what lies there is the rank's own
  const bool is_part = schedule::base_of(cell.collective) == Collective::kReduceScatterBlock;
  const uint64_t offset = is_part ? cell.count * static_cast<uint64_t>(world.rank()) : 0;
  switch (options.element) {
    case Element::kInt32:
      return check_elements<int32_t>(memory, cell.count, options.operation, ranks, offset);
    case Element::kInt64:
      return check_elements<int64_t>(memory, cell.count, options.operation, ranks, offset);
    case Element::kFloat:
      return check_elements<float>(memory, cell.count, options.operation, ranks, offset);
    case Element::kDouble:
      return check_elements<double>(memory, cell.count, options.operation, ranks, offset);
  }
  return {};
}

// Whom block `block` of a buffer comes from and goes to. Where all get the same, it goes to no rank in particular.
struct Route {
  int from = 0;
  int to = 0;
};
Route route_of_input(Collective collective, int rank, int block) {
  const bool has_blocks = schedule::input_blocks(collective, 2) == 2;
  return {rank, has_blocks ? block : 0};
}
Route route_of_output(Collective collective, int rank, int root, int block) {
  switch (schedule::base_of(collective)) {
    case Collective::kBroadcast:
      return {root, 0};
    case Collective::kScatter:
      return {root, rank};
    case Collective::kAlltoall:
      return {block, rank};
    default:
      return {block, 0};
  }
}

void fill_bytes(std::byte* memory, uint64_t bytes, Route route) {
  for (uint64_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(moved_byte(i, route.from, route.to));
}

std::string check_bytes(const std::byte* memory, uint64_t bytes, Route route) {
  for (uint64_t i = 0; i < bytes; ++i) {
    const int is = std::to_integer<int>(memory[i]);
    const int right = moved_byte(i, route.from, route.to);
    if (is != right)
      return "byte " + std::to_string(i) + " is " + std::to_string(is) + " and should be " + std::to_string(right);
  }
  return {};
}

// Beyond what comes, what was there before.
std::string check_rest(const std::byte* memory, uint64_t length, uint64_t bytes) {
  const bool is_untouched = std::all_of(memory + length, memory + bytes, [](std::byte b) { return b == kUntouched; });
  return is_untouched ? "" : "something is behind its " + std::to_string(length) + " bytes";
}

// --- among neighbours ------------------------------------------------------------------------------------------------

// All blocks from one rank to another are alike: MPICH 4.0 mixes those of an alltoallv up where both neighbours in a
// dimension are the same rank.
void fill_halo(const Options& options, const Cell& cell, int rank, const Buffers& buffers) {
  const schedule::Neighbours& neighbours = *options.halo.neighbours;
  const auto self = static_cast<uint32_t>(rank);
  std::memset(buffers.output, std::to_integer<int>(kUntouched), neighbours.sources(self).size() * cell.bytes);
  if (schedule::base_of(cell.collective) == Collective::kNeighborAllgather)
    return fill_bytes(buffers.input, cell.bytes, {rank, 0});
  std::byte* next = buffers.input;
  for (const uint32_t to : neighbours.destinations(self)) {
    fill_bytes(next, cell.bytes, {rank, static_cast<int>(to)});
    next += cell.bytes;
  }
}

std::string check_halo(const Options& options, const Cell& cell, int rank, const Buffers& buffers) {
  const bool is_allgather = schedule::base_of(cell.collective) == Collective::kNeighborAllgather;
  const std::span<const uint32_t> sources = options.halo.neighbours->sources(static_cast<uint32_t>(rank));
  for (size_t block = 0; block < sources.size(); ++block) {
    const std::byte* memory = buffers.output + block * cell.bytes;
    const Route route{static_cast<int>(sources[block]), is_allgather ? 0 : rank};
    const std::string wrong = sources[block] != schedule::kNoRank ? check_bytes(memory, cell.bytes, route)
                                                                  : check_rest(memory, 0, cell.bytes);
    if (!wrong.empty()) return "block " + std::to_string(block) + ": " + wrong;
  }
  return {};
}

}  // namespace

void fill(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers) {
  if (schedule::is_among_neighbors(cell.collective)) return fill_halo(options, cell, world.rank(), buffers);
  const auto size = static_cast<uint32_t>(world.size());
  const int rank = world.rank();
  const bool is_root = rank == root;
  const uint32_t inputs = schedule::has_input(cell.collective, is_root) ? input_blocks(cell.collective, size) : 0;
  const uint32_t outputs = schedule::has_output(cell.collective, is_root) ? output_blocks(cell.collective, size) : 0;
  std::memset(buffers.output, std::to_integer<int>(kUntouched), outputs * cell.bytes);
  if (schedule::combines(cell.collective)) return fill_operands(options, buffers.input, inputs * cell.count, rank);
  if (cell.collective == Collective::kBroadcast && is_root)
    fill_bytes(buffers.output, cell.bytes, route_of_output(cell.collective, rank, root, 0));
  for (uint32_t block = 0; block < inputs; ++block)
    fill_bytes(buffers.input + block * cell.bytes, cell.bytes,
               route_of_input(cell.collective, rank, static_cast<int>(block)));
}

std::string check(const Options& options, const Cell& cell, const World& world, int root, const Buffers& buffers) {
  const int rank = world.rank();
  if (schedule::is_among_neighbors(cell.collective)) return check_halo(options, cell, rank, buffers);
  if (!schedule::has_output(cell.collective, rank == root)) return {};
  if (schedule::combines(cell.collective)) return check_combined(options, cell, world, buffers.output);
  const uint32_t blocks = output_blocks(cell.collective, static_cast<uint32_t>(world.size()));
  for (uint32_t block = 0; block < blocks; ++block) {
    const int other = static_cast<int>(block);
    const std::byte* memory = buffers.output + block * cell.bytes;
    const bool differs = cell.collective == Collective::kAlltoallv;
    const uint64_t length = differs ? length_between(options.lengths, cell.bytes, other, rank) : cell.bytes;
    std::string wrong = check_bytes(memory, length, route_of_output(cell.collective, rank, root, other));
    if (wrong.empty()) wrong = check_rest(memory, length, cell.bytes);
    if (!wrong.empty()) return (blocks > 1 ? "block " + std::to_string(block) + ": " : "") + wrong;
  }
  return {};
}

uint64_t length_between(Lengths lengths, uint64_t count, int from, int to) {
  if (lengths == Lengths::kEqual) return count;
  // Any two ranks' numbers well mixed (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014).
  uint64_t mixed = static_cast<uint64_t>(from) << 32 | static_cast<uint64_t>(to);
  mixed = (mixed + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
  mixed ^= mixed >> 31;
  const uint64_t kind = mixed % 480;
  const uint64_t share = mixed / 480;
  if (lengths == Lengths::kSparse) return kind < 30 ? 1 + share % std::max<uint64_t>(count, 1) : 0;
  if (kind < 160) return 0;
  return share % ((kind < 448 ? count / 20 : count) + 1);
}

size_t unit_bytes(const Options& options, Collective collective) {
  return schedule::combines(collective) ? bytes_of(options.element) : 1;
}

Cell cell_of(const Options& options, Collective collective, uint64_t bytes, Timing timing) {
  if (collective == Collective::kBarrier) return {collective, 0, 0, timing};
  const size_t unit = unit_bytes(options, collective);
  return {collective, bytes / unit, bytes / unit * unit, timing};
}

size_t bytes_of(Element element) { return element == Element::kInt32 || element == Element::kFloat ? 4 : 8; }

size_t buffer_bytes(const Options& options, int ranks) {
  uint64_t most = 64;
  for (uint64_t size : options.sizes) most = std::max(most, size);
  const bool has_rows = std::any_of(options.collectives.begin(), options.collectives.end(), schedule::has_block_a_rank);
  uint64_t blocks = has_rows ? static_cast<uint64_t>(ranks) : 1;
  if (const schedule::Neighbours* neighbours = options.halo.neighbours.get())
    blocks = std::max<uint64_t>({blocks, neighbours->most_sources(), neighbours->most_destinations()});
  most *= blocks;
  return (most + 63) / 64 * 64;
}

std::string_view name(Timing timing) { return timing == Timing::kIsolated ? "isolated" : "back-to-back"; }

}  // namespace hocket::bench
