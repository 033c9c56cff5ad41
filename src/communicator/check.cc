// SPDX-License-Identifier: BSD-3-Clause
// HOCKET_CHECK=1: before each call all ranks show each other what they were asked to do.
#include <cstring>

#include "base/log.h"
#include "communicator/communicator.h"

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
  text += "(count " + std::to_string(signature.count) + ", element of " + std::to_string(signature.element_bytes) +
          " bytes";
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

}  // namespace

Status Communicator::check_agreement(const Arguments& arguments) {
  Signature mine;
  mine.call = ++checked_;
  mine.count = arguments.count;
  mine.operation = arguments.operation_name;
  mine.element_bytes = static_cast<uint32_t>(arguments.combiner.element_bytes);
  mine.type = arguments.combiner.type;
  mine.root = arguments.root;
  mine.collective = static_cast<uint32_t>(arguments.collective);

  std::vector<Signature> all(size_);
  Arguments exchange;
  exchange.collective = schedule::Collective::kAllgather;
  exchange.input = reinterpret_cast<const std::byte*>(&mine);
  exchange.output = reinterpret_cast<std::byte*>(all.data());
  exchange.count = sizeof mine;
  const Prepared* prepared = nullptr;
  Call call;
  HOCKET_TRY(prepare(exchange, call, prepared, nullptr));
  call.start(exchange, *prepared);
  HOCKET_TRY(complete(call, *lanes_[0]));

  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (agree(all[0], all[rank])) continue;
    return fail(Status(Code::kMismatch, "call " + std::to_string(mine.call) + " differs: rank 0 calls " +
                                            describe(all[0]) + ", rank " + std::to_string(rank) + " calls " +
                                            describe(all[rank])));
  }
  return Status::ok();
}

}  // namespace hocket::communicator
