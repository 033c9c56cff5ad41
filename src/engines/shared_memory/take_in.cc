// SPDX-License-Identifier: BSD-3-Clause
// Data that lies with a peer, brought into this rank's operands: from mapped memory, or out of the peer's process.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "engines/shared_memory/memory_transport.h"
#include "platform/memory/cross_memory.h"

namespace hocket::engines::shared_memory {

namespace {

constexpr uint64_t kBounceBytes = 64 * 1024;

bool combines(const Instruction& step) {
  return step.kind == schedule::StepKind::kCombineFrom || step.kind == schedule::StepKind::kReceiveCombine;
}

}  // namespace

Progress MemoryTransport::take_in(const Instruction& step, const Operands& operands, uint64_t location, uint64_t offset,
                                  uint64_t done, uint64_t bytes) {
  const Member& owner = group_.member(step.peer);
  if (bytes > kNearBytes) group_.common_memory().answer();
  if (!is_foreign(location)) {
    const std::byte* data = at(step.peer, location + offset, bytes);
    if (data == nullptr) return Progress::kPending;
    std::byte* out = operands.destination(step) + done;
    if (combines(step)) {
      const bool is_whole = bytes == step.bytes;
      operands.combine(step, data, done, is_whole ? step.elements : bytes / (step.bytes / step.elements));
    } else if (data != out) {  // equal where peers have put into our own memory
      std::memcpy(out, data, bytes);
    }
    return Progress::kDone;
  }
  const uint64_t element = step.bytes / step.elements;
  const auto* remote = reinterpret_cast<const std::byte*>(location & ~kForeign) + offset;
  const bool combined = combines(step);
  const uint64_t piece = combined ? std::max(kBounceBytes / element, uint64_t{1}) * element : bytes;
  if (combined && bounce_ == nullptr) bounce_ = std::make_unique<std::byte[]>(std::max(kBounceBytes, element));
  for (uint64_t begin = 0; begin < bytes; begin += piece) {
    const uint64_t length = std::min(piece, bytes - begin);
    std::byte* into = combined ? bounce_.get() : operands.destination(step) + done + begin;
    const Status read = platform::read_process_memory(owner.process, remote + begin, into, length);
    if (!read.is_ok()) {
      // It worked when the group was made: the peer is dying. All ranks learn it where they look for failures.
      HOCKET_LOG_ERROR("%s", read.message());
      group_.report_broken(owner.name);
      return Progress::kPending;
    }
    if (combined) operands.combine(step, into, done + begin, length / element);
  }
  return Progress::kDone;
}

}  // namespace hocket::engines::shared_memory
