// SPDX-License-Identifier: BSD-3-Clause
// HOCKET_CHECK=1: before each call all ranks show each other what they were asked to do.
#include <cstring>

#include "base/log.h"
#include "communicator/communicator.h"
#include "platform/rendezvous.h"

namespace hocket::communicator {
namespace {

// Small enough to travel inside a slot's line.
struct Signature {
  uint64_t call = 0;
  uint64_t count = 0;
  uint64_t operation = 0;
  uint32_t element_bytes = 0;
  uint32_t type = 0;
  uint32_t root = 0;
  uint32_t collective = 0;
};
static_assert(sizeof(Signature) <= engines::shared_memory::kInlineBytes);

std::string describe(const Signature& signature) {
  std::string text(name(static_cast<schedule::Collective>(signature.collective)));
  const bool is_vector = schedule::is_vector(static_cast<schedule::Collective>(signature.collective));
  text += is_vector ? "(counts of digest " : "(count ";
  text += std::to_string(signature.count) + ", element of " + std::to_string(signature.element_bytes) + " bytes";
  if (signature.type != 0) text += ", type " + std::to_string(signature.type);
  if (signature.operation != 0) text += ", operation " + std::to_string(signature.operation);
  return text + ", root " + std::to_string(signature.root) + ")";
}

bool agree(const Signature& a, const Signature& b) {
  if (a.collective != b.collective || a.root != b.root || a.operation != b.operation) return false;
  // Of a broadcast the length counts: a root may describe it by other types than the rest.
  if (a.collective != static_cast<uint32_t>(schedule::Collective::kBroadcast) && a.type != b.type) return false;
  return a.count * a.element_bytes == b.count * b.element_bytes;
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

// An allgather before the call proper, by the call's own lane.
Status Communicator::show_each_other(const void* mine, size_t bytes, void* all) {
  Arguments exchange;
  exchange.collective = schedule::Collective::kAllgather;
  exchange.input = static_cast<const std::byte*>(mine);
  exchange.output = static_cast<std::byte*>(all);
  exchange.count = bytes;
  const Prepared* prepared = nullptr;
  Call call;
  HOCKET_TRY(prepare(exchange, call, prepared, nullptr));
  call.start(exchange, *prepared);
  return complete(call, *tracks_[0]);
}

Status Communicator::check_agreement(const Arguments& arguments) {
  Signature mine;
  mine.call = ++checked_;
  mine.count = arguments.count;
  mine.operation = arguments.operation_name;
  mine.element_bytes = static_cast<uint32_t>(arguments.combiner.element_bytes);
  mine.type = arguments.combiner.type;
  mine.root = arguments.root;
  mine.collective = static_cast<uint32_t>(arguments.collective);
  if (schedule::is_vector(arguments.collective)) {
    const auto& told = arguments.input_blocks.counts != nullptr ? arguments.input_blocks : arguments.output_blocks;
    mine.count = schedule::lengths_are_agreed(arguments.collective) ? digest(told.counts, size_) : 0;
  }
  std::vector<Signature> all(size_);
  HOCKET_TRY(show_each_other(&mine, sizeof mine, all.data()));
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (agree(all[0], all[rank])) continue;
    return fail(Status(Code::kMismatch, "call " + std::to_string(mine.call) + " differs: rank 0 calls " +
                                            describe(all[0]) + ", rank " + std::to_string(rank) + " calls " +
                                            describe(all[rank])));
  }
  return schedule::lengths_are_agreed(arguments.collective) ? Status::ok() : check_lengths(arguments);
}

Status Communicator::check_lengths(const Arguments& arguments) {
  const std::vector<uint64_t> mine = lengths_seen(arguments, rank_, size_);
  std::vector<uint64_t> all(mine.size() * size_);
  HOCKET_TRY(show_each_other(mine.data(), mine.size() * sizeof(uint64_t), all.data()));
  for (uint32_t from = 0; from < size_; ++from) {
    for (uint32_t to = 0; to < size_; ++to) {
      const uint64_t given = all[mine.size() * from + to];
      const uint64_t wanted = all[mine.size() * to + size_ + from];
      if (given == wanted) continue;
      return fail(Status(Code::kMismatch,
                         "call " + std::to_string(checked_) + ", " + std::string(name(arguments.collective)) +
                             ": rank " + std::to_string(from) + " has " + std::to_string(given) + " bytes for rank " +
                             std::to_string(to) + ", which expects " + std::to_string(wanted)));
    }
  }
  return Status::ok();
}

}  // namespace hocket::communicator
