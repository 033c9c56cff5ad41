// SPDX-License-Identifier: BSD-3-Clause
// The two-sided half of a lane: messages through the mailbox lines of an ordered pair of ranks.
//
// A message is one line with its payload inside, or one line that says where in the sender's mapped memory it lies,
// or a row of lines that each name a staged fragment, which sender and receiver handle side by side.
#include <algorithm>
#include <cstring>

#include "base/assertion.h"
#include "engines/shared_memory/memory_transport.h"

namespace hocket::engines::shared_memory {

namespace {

// Sending the caller's own memory as it lies saves a copy, but the sender waits for the receiver to have read it.
constexpr uint64_t kSendInPlaceBytes = 4 * 1024;
// How often a message looks for a buffer in vain before a piece of it goes inside a line, which is slow.
constexpr uint64_t kPollsPerLook = 32;

enum Phase : uint8_t { kNotStarted, kMoving, kAwaitingReceiver };

}  // namespace

bool MemoryTransport::is_consumed(uint32_t peer, uint64_t serial) {
  Pair& pair = pairs_[peer];
  if (pair.consumed >= serial) return true;
  // Acquire: pairs with the receiver's release: it has read what we are about to overwrite.
  pair.consumed = lanes_[peer]->acknowledgement(group_.rank(), group_.size()).consumed.load(std::memory_order_acquire);
  HOCKET_ASSERT(pair.consumed <= pair.sent, "a receiver is done with no more than was sent to it");
  return pair.consumed >= serial;
}

bool MemoryTransport::has_room(uint32_t peer) {
  const uint64_t sent = pairs_[peer].sent;
  return sent < kMailDepth || is_consumed(peer, sent - kMailDepth + 1);
}

void MemoryTransport::post_line(uint32_t peer, MailLine& line) {
  HOCKET_ASSERT(has_room(peer), "a line is written when its receiver is done with what it held");
  // Release: the line's content comes before; pairs with the acquire in receive().
  line.serial.store(++pairs_[peer].sent, std::memory_order_release);
  group_.wake(peer);
}

void MemoryTransport::post_inline(uint32_t peer, const std::byte* payload, uint64_t bytes, bool is_whole) {
  MailLine& line = lanes_[peer]->mail(group_.rank())[pairs_[peer].sent % kMailDepth];
  line.location = inline_of(bytes, is_whole) ^ mark_;
  if (bytes != 0) std::memcpy(line.payload, payload, bytes);
  post_line(peer, line);
}

void MemoryTransport::post(uint32_t peer, uint64_t location, uint64_t bytes, uint64_t total) {
  MailLine& line = lanes_[peer]->mail(group_.rank())[pairs_[peer].sent % kMailDepth];
  line.location = location ^ mark_;
  line.bytes = bytes;
  line.total = total;
  post_line(peer, line);
}

// Where the receiver can read a long message as it lies, or kInline if it can't.
uint64_t MemoryTransport::reachable_location(const std::byte* data, uint64_t bytes) {
  if (bytes >= kSendInPlaceBytes && group_.region().contains(data, bytes)) return group_.region().offset_of(data);
  if (bytes >= kSendInPlaceBytes) {
    group_.common_memory().answer();
    if (const uint64_t common = group_.common_memory().location_of(data, bytes); common != kInline) return common;
  }
  if (bytes >= kForeignBytes && group_.cross_memory()) return kForeign | reinterpret_cast<uintptr_t>(data);
  return kInline;
}

Progress MemoryTransport::send(const Instruction& step, StepState& state, const Operands& operands) {
  HOCKET_ASSERT(step.peer < pairs_.size(), "a step's peer is in this group");
  Pair& pair = pairs_[step.peer];
  if (pair.sending != nullptr && pair.sending != &state) return Progress::kPending;
  if (state.phase == kAwaitingReceiver) {
    return is_consumed(step.peer, state.serial) ? Progress::kDone : Progress::kPending;
  }
  if (!has_room(step.peer)) {
    pair.sending = &state;
    return Progress::kPending;
  }
  const std::byte* data = operands.source(step);
  if (step.bytes <= kInlineBytes) {
    operands.need(step, 0, step.bytes);
    post_inline(step.peer, data, step.bytes, true);
    pair.sending = nullptr;
    return Progress::kDone;
  }
  const uint64_t location = state.phase == kNotStarted ? reachable_location(data, step.bytes) : kInline;
  if (location != kInline) {
    operands.need(step, 0, step.bytes);
    post(step.peer, location, step.bytes, step.bytes);
    pair.sending = nullptr;
    state.serial = pair.sent;
    state.phase = kAwaitingReceiver;
    return is_consumed(step.peer, state.serial) ? Progress::kDone : Progress::kPending;
  }
  pair.sending = &state;
  state.phase = kMoving;
  const uint64_t element = step.bytes / step.elements;
  const Progress progress = send_fragments(step, state, operands, kMailStagingBytes / element * element);
  if (progress == Progress::kDone) pair.sending = nullptr;
  return progress;
}

// One receiver may hold half of the buffers, so that a late receiver does not stop messages to others.
StagingBuffer* MemoryTransport::mail_buffer(uint32_t peer, bool is_short) {
  const uint64_t sent = pairs_[peer].sent;
  if (sent >= kMailBuffers / 2 && !is_consumed(peer, sent - kMailBuffers / 2 + 1)) return nullptr;
  StagingPool& pool = is_short ? short_mail_staging_ : mail_staging_;
  return pool.take([this](const StagingBuffer& candidate) { return is_consumed(candidate.peer, candidate.holder); });
}

Progress MemoryTransport::send_fragments(const Instruction& step, StepState& state, const Operands& operands,
                                         uint64_t fragment) {
  const std::byte* data = operands.source(step);
  while (state.bytes < step.bytes) {
    if (!has_room(step.peer)) return Progress::kPending;
    StagingBuffer* buffer = mail_buffer(step.peer, step.bytes <= kShortMailBytes);
    uint64_t bytes = std::min(fragment, step.bytes - state.bytes);
    if (buffer != nullptr) {
      operands.need(step, state.bytes, bytes);
      std::memcpy(buffer->memory, data + state.bytes, bytes);
      buffer->peer = step.peer;
      buffer->holder = pairs_[step.peer].sent + 1;
      post(step.peer, buffer->offset, bytes, step.bytes);
    } else if (!is_consumed(step.peer, pairs_[step.peer].sent)) {
      return Progress::kPending;  // this receiver moves us on
    } else if (++state.serial % kPollsPerLook != 0) {
      return Progress::kPending;  // another receiver will give a buffer back, as a rule
    } else {
      // Others hold all buffers and may wait for what this message brings about. Lines always move, so it does too.
      const uint64_t element = step.bytes / step.elements;
      bytes = std::min<uint64_t>(bytes, kInlineBytes / element * element);
      if (bytes == 0) {
        if (mail_staging_.is_short_of_memory() || short_mail_staging_.is_short_of_memory()) fail_without_memory();
        return Progress::kPending;
      }
      operands.need(step, state.bytes, bytes);
      post_inline(step.peer, data + state.bytes, bytes, false);
    }
    state.bytes += bytes;
  }
  return Progress::kDone;
}

// A message of another length than what is received, which only a mistake of the program can bring about, must not be
// written anywhere. (Of one in several inline lines, none says how long the whole is; but too long it can't get.)
bool MemoryTransport::is_expected(const Instruction& step, const StepState& state, const MailLine& line,
                                  uint64_t location) {
  if (is_of_other_call(step, location)) [[unlikely]]
    return false;
  const bool is_inline = is_inline_mail(location);
  uint64_t total = is_inline ? inline_bytes(location) : line.total;
  if (is_inline && (location & kPartOfMessage) != 0) total = std::max(step.bytes, state.bytes + total);
  if (total == step.bytes) [[likely]]
    return true;
  failure_ =
      Status(Code::kMismatch, "rank " + std::to_string(group_.name_of(step.peer)) + " sends " + std::to_string(total) +
                                  " bytes where rank " + std::to_string(group_.name_of(group_.rank())) + " expects " +
                                  std::to_string(step.bytes) + "; the counts of the two ranks don't match");
  return false;
}

Progress MemoryTransport::receive(const Instruction& step, StepState& state, const Operands& operands) {
  HOCKET_ASSERT(step.peer < pairs_.size(), "a step's peer is in this group");
  Pair& pair = pairs_[step.peer];
  if (pair.receiving != nullptr && pair.receiving != &state) return Progress::kPending;
  pair.receiving = &state;
  const uint64_t element = step.elements == 0 ? 1 : step.bytes / step.elements;
  do {
    const MailLine& line = mine_->mail(step.peer)[pair.received % kMailDepth];
    // Acquire: pairs with post_line().
    if (line.serial.load(std::memory_order_acquire) != pair.received + 1) return Progress::kPending;
    const uint64_t location = line.location ^ mark_;
    if (!is_expected(step, state, line, location)) return Progress::kPending;
    const bool is_inline = is_inline_mail(location);
    const uint64_t bytes = is_inline ? inline_bytes(location) : line.bytes;
    if (!is_inline) {
      if (take_in(step, operands, location, 0, state.bytes, bytes) == Progress::kPending) return Progress::kPending;
    } else if (step.kind == schedule::StepKind::kReceiveCombine) {
      operands.combine(step, line.payload, state.bytes, bytes / element);
    } else if (bytes != 0) {
      std::memcpy(operands.destination(step) + state.bytes, line.payload, bytes);
    }
    ++pair.received;
    // Release: we have read the line and what it names; pairs with is_consumed(). The sender may wait for it.
    mine_->acknowledgement(step.peer, group_.size()).consumed.store(pair.received, std::memory_order_release);
    group_.wake(step.peer);
    if (step.kind == schedule::StepKind::kReceive) operands.arrived(step, state.bytes, bytes);
    state.bytes += bytes;
  } while (state.bytes < step.bytes);
  pair.receiving = nullptr;
  has_started(step.peer);
  return Progress::kDone;
}

}  // namespace hocket::engines::shared_memory
