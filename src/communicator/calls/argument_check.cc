// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/argument_check.h"

#include <cstring>
#include <numeric>

#include "communicator/calls/call_words.h"
#include "platform/bootstrap/connector.h"

namespace hocket::communicator {
namespace {

// Small enough to travel inside a slot's line.
struct Signature {
  uint64_t call = 0;
  CallSignature called;
  uint64_t counts = 0;  // of a vector version all ranks of which see all counts: a digest
  uint32_t type = 0;    // 0: ranks need not agree on it
};
static_assert(sizeof(Signature) <= engines::shared_memory::kInlineBytes);

bool agree(const Signature& a, const Signature& b) {
  return a.called == b.called && a.counts == b.counts && a.type == b.type;
}

std::string describe_difference(uint32_t rank, const Signature& a, uint32_t other_rank, const Signature& b,
                                Vocabulary vocabulary) {
  if (a.called != b.called) return describe_difference(rank, a.called, other_rank, b.called, vocabulary);
  const std::string with = describe(a.called, vocabulary) + " with ";
  const auto report = [&](const std::string& one, const std::string& other) {
    return "rank " + std::to_string(rank) + " calls " + with + one + " where rank " + std::to_string(other_rank) +
           " calls it with " + other;
  };
  if (a.type != b.type) return report("type " + describe_type(a.type), "type " + describe_type(b.type));
  return report("other counts", "its own; all ranks must pass the same");
}

// One rank's bytes for and from every other, as it sees them.
std::vector<uint64_t> lengths_seen(const Arguments& arguments, uint32_t rank, uint32_t size) {
  std::vector<uint64_t> seen(size_t{2} * size);
  uint64_t* gives = seen.data();
  uint64_t* gets = seen.data() + size;
  const uint64_t element = arguments.combiner.element_bytes;
  for (uint32_t peer = 0; peer < size; ++peer) {
    if (arguments.input_blocks.counts != nullptr) gives[peer] = arguments.input_blocks.counts[peer] * element;
    if (arguments.output_blocks.counts != nullptr) gets[peer] = arguments.output_blocks.counts[peer] * element;
  }
  const uint64_t own = arguments.count * element;
  if (arguments.collective == schedule::Collective::kGatherv) gives[arguments.root] = own;
  if (arguments.collective == schedule::Collective::kScatterv) gets[arguments.root] = own;
  gives[rank] = gets[rank] = 0;  // no other rank's business
  return seen;
}

// What all ranks are told must be the same; a sum would not notice two that are swapped.
uint64_t digest(const uint64_t* counts, uint32_t size) {
  return platform::hash_of({reinterpret_cast<const char*>(counts), size * sizeof *counts});
}

}  // namespace

Status ArgumentCheck::compare(const Arguments& arguments, const schedule::Neighbours* neighbours, const Gather& gather,
                              Status& difference) {
  Signature mine;
  mine.call = ++calls_;
  mine.called.what = what_of(arguments.collective, !arguments.combiner.commutative, arguments.root);
  mine.called.operation = operation_of(arguments.combiner, arguments.operation_name);
  // Of a broadcast the length counts: a root may describe it by other types than the rest.
  if (arguments.collective != schedule::Collective::kBroadcast) mine.type = arguments.combiner.type;
  if (!schedule::is_vector(arguments.collective)) {
    mine.called.bytes = bytes_of(arguments.count * arguments.combiner.element_bytes);
  } else if (schedule::lengths_are_agreed(arguments.collective)) {
    const auto& counted = arguments.input_blocks.counts != nullptr ? arguments.input_blocks : arguments.output_blocks;
    const uint64_t elements = std::accumulate(counted.counts, counted.counts + size_, uint64_t{0});
    mine.called.bytes = bytes_of(elements * arguments.combiner.element_bytes);
    mine.counts = digest(counted.counts, size_);
  }
  std::vector<Signature> all(size_);
  HOCKET_TRY(gather(&mine, sizeof mine, all.data()));
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (agree(all[0], all[rank])) continue;
    const std::string text = describe_difference(0, all[0], rank, all[rank], vocabulary_);
    difference = Status(Code::kMismatch, "call " + std::to_string(mine.call) + ": " + text);
    return Status::ok();
  }
  if (schedule::lengths_are_agreed(arguments.collective)) return Status::ok();
  return neighbours != nullptr ? compare_lengths(arguments, *neighbours, gather, difference)
                               : compare_lengths(arguments, gather, difference);
}

Status ArgumentCheck::differing_lengths(schedule::Collective collective, uint32_t from, uint64_t given, uint32_t to,
                                        uint64_t wanted) const {
  return {Code::kMismatch, "call " + std::to_string(calls_) + ", " + name_of(collective, vocabulary_) + ": rank " +
                               std::to_string(from) + " has " + std::to_string(given) + " bytes for rank " +
                               std::to_string(to) + ", which expects " + std::to_string(wanted)};
}

Status ArgumentCheck::compare_lengths(const Arguments& arguments, const schedule::Neighbours& neighbours,
                                      const Gather& gather, Status& difference) const {
  const size_t gives = neighbours.most_destinations();
  const size_t row = gives + neighbours.most_sources();
  std::vector<uint64_t> mine(row);
  const uint64_t element = arguments.combiner.element_bytes;
  const bool is_one = arguments.input_blocks.counts == nullptr;
  for (size_t k = 0; k < neighbours.destinations(rank_).size(); ++k)
    mine[k] = (is_one ? arguments.count : arguments.input_blocks.counts[k]) * element;
  for (size_t k = 0; k < neighbours.sources(rank_).size(); ++k)
    mine[gives + k] = arguments.output_blocks.counts[k] * element;
  std::vector<uint64_t> all(row * size_);
  HOCKET_TRY(gather(mine.data(), mine.size() * sizeof(uint64_t), all.data()));
  for (uint32_t from = 0; from < size_; ++from) {
    const auto destinations = neighbours.destinations(from);
    for (size_t k = 0; k < destinations.size(); ++k) {
      const uint32_t to = destinations[k];
      if (to == schedule::kNoRank) continue;
      const uint64_t given = all[row * from + k];
      const uint64_t wanted = all[row * to + gives + neighbours.slots(from)[k]];
      if (given == wanted) continue;
      difference = differing_lengths(arguments.collective, from, given, to, wanted);
      return Status::ok();
    }
  }
  return Status::ok();
}

Status ArgumentCheck::compare_lengths(const Arguments& arguments, const Gather& gather, Status& difference) const {
  const std::vector<uint64_t> mine = lengths_seen(arguments, rank_, size_);
  std::vector<uint64_t> all(mine.size() * size_);
  HOCKET_TRY(gather(mine.data(), mine.size() * sizeof(uint64_t), all.data()));
  for (uint32_t from = 0; from < size_; ++from) {
    for (uint32_t to = 0; to < size_; ++to) {
      const uint64_t given = all[mine.size() * from + to];
      const uint64_t wanted = all[mine.size() * to + size_ + from];
      if (given == wanted) continue;
      difference = differing_lengths(arguments.collective, from, given, to, wanted);
      return Status::ok();
    }
  }
  return Status::ok();
}

}  // namespace hocket::communicator
