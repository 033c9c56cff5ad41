// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/multicast_row.h"

#include <cstring>
#include <span>
#include <string>

namespace hocket::carriers {

using engines::Instruction;
using engines::Operands;
using engines::Progress;
using engines::StepState;
using engines::multicast::Blocks;
using schedule::StepKind;

namespace {

enum RowPhase : uint8_t { kRowNotStarted, kRowUnderWay };

// What is copied at a time.
constexpr uint64_t kMostKeptOfRow = 4 << 20;
// How often at most a rank looks for multicasts, each time for many, before it asks for what is missing.
constexpr uint32_t kMostLooks = 64;

}  // namespace

// As it goes over the wire, in the order of bytes that the ranks' machines have.
struct [[gnu::packed]] MulticastRow::Word {
  Said said = Said::kOffer;
  uint32_t first = 0;      // kOffer, kContent: as many messages are here
  uint64_t bytes = 0;      // kOffer, kContent: of all messages
  uint32_t fragments = 0;  // kAll: as PaceReport has it
  uint32_t missed = 0;
  uint32_t wanted = 0;  // kWant
  Want wants[kMostWanted] = {};
};

void MulticastRow::begin(const engines::Program& program) {
  conversations_ = {};
  in_.messages.clear();
  in_.wanted.clear();
  out_.messages.clear();
  in_ = {.messages = std::move(in_.messages), .wanted = std::move(in_.wanted)};
  out_ = {.messages = std::move(out_.messages)};
  has_ended_ = false;
  uint32_t before = kNoPeer;
  uint32_t next = kNoPeer;
  for (const Instruction& step : program.instructions) {
    if (step.kind == StepKind::kFirstOf) {
      before = step.peer;
      ++in_.expects;
      in_.bytes += step.bytes;
    } else if (step.to_first_of) {
      next = step.peer;
      ++out_.passes_on;
      out_.bytes += step.bytes;
    }
  }
  conversations_[0].peer = before;
  if (before != kNoPeer) conversations_[0].due = 1;  // an offer
  if (next == kNoPeer) return;
  if (next != before) conversations_[1].peer = next;
  ++from_next().due;  // an answer
}

void MulticastRow::cancel() {
  if (!has_ended_ && !in_.has_all)
    for (const Incoming& one : in_.messages) member_.forget(one.expected);
  in_.messages.clear();
  has_ended_ = true;
}

// state.serial: a first_of's number.
Progress MulticastRow::run(const Instruction& step, StepState& state, const Operands& operands, uint32_t stream) {
  if (step.kind == StepKind::kExpect) {
    uint64_t number = 0;
    std::byte* into = step.bytes == 0 ? nullptr : operands.destination(step);
    in_.messages.push_back({member_.expect(stream, step.second_peer, {into, step.bytes}, number), step.bytes});
    return Progress::kDone;
  }
  const bool is_new = state.phase == kRowNotStarted;
  state.phase = kRowUnderWay;
  if (step.kind == StepKind::kFirstOf) {
    if (is_new) state.serial = in_.taken++;
    advance();
    // The last one when the rank before knows.
    const bool is_last = state.serial + 1 == in_.expects;
    const bool has_come = in_.has_all || (!is_last && member_.has_come(in_.messages[state.serial].expected));
    return has_come ? Progress::kDone : Progress::kPending;
  }
  if (is_new) {
    operands.need(step, 0, step.bytes);
    out_.messages.push_back({step.bytes == 0 ? nullptr : operands.source(step), step.bytes});
  }
  advance();
  const bool is_last = out_.messages.size() == out_.passes_on;
  return !is_last || out_.is_confirmed ? Progress::kDone : Progress::kPending;
}

void MulticastRow::advance() {
  if (has_ended_) return;
  bool moves = true;
  while (moves && !has_failed() && !channel_.has_failed()) {
    moves = listen(conversations_[0]);
    moves = listen(conversations_[1]) || moves;
    moves = answer() || moves;
    offer();
  }
  const bool has_taken = in_.expects == 0 || in_.has_all;
  const bool has_given = out_.passes_on == 0 || out_.is_confirmed;
  if (has_taken && has_given && !has_failed() && !channel_.has_failed()) end();
}

// True: something has come.
bool MulticastRow::listen(Conversation& conversation) {
  if (!conversation.is_posted) {
    if (conversation.due == 0) return false;
    conversation.message = channel_.receive_parked(conversation.peer, sizeof(Word));
    conversation.is_posted = true;
    conversation.is_data = false;
  }
  if (channel_.has_failed() || !channel_.has_come(conversation.message)) return false;
  const uint32_t message = conversation.message;
  conversation.is_posted = false;
  if (conversation.is_data) {
    take_data(channel_.content(message));
  } else {
    Word word;
    std::memcpy(&word, channel_.content(message), sizeof word);
    --conversation.due;
    take_word(conversation, word);
  }
  channel_.leave(message);
  return true;
}

// A word that no rank of this call would say now.
void MulticastRow::refuse(uint32_t peer) {
  failure_ = Status(Code::kMismatch, "rank " + std::to_string(peer) +
                                         " answers multicasts of another call than this rank's; do all ranks make the "
                                         "same calls in the same order?");
}

void MulticastRow::take_word(Conversation& conversation, const Word& word) {
  const bool is_content = word.said == Said::kContent;
  if (is_content || word.said == Said::kOffer) {
    if (&conversation != &from_before() || in_.expects == 0 || is_content == in_.wanted.empty())
      return refuse(conversation.peer);
    return take_offer(conversation, word);
  }
  const bool is_answer = word.said == Said::kWant || word.said == Said::kEnough || word.said == Said::kAll;
  if (!is_answer || &conversation != &from_next() || out_.passes_on == 0) return refuse(conversation.peer);
  take_answer(conversation, word);
}

// --- what is taken ---------------------------------------------------------------------------------------------------

void MulticastRow::take_offer(Conversation& conversation, const Word& word) {
  channel_.compare_lengths(conversation.peer, word.bytes, in_.bytes);
  if (word.first > in_.expects) return refuse(conversation.peer);
  in_.offered = word.first;
  if (in_.wanted.empty()) {
    in_.has_offer = true;
    return;
  }
  uint64_t bytes = 0;
  for (const Want& want : in_.wanted) bytes += blocks_of(in_.messages[want.message].bytes).bytes(want.blocks);
  conversation.message = channel_.receive_parked(conversation.peer, bytes);
  conversation.is_posted = conversation.is_data = true;
}

void MulticastRow::take_data(const std::byte* data) {
  for (const Want& want : in_.wanted) {
    const Incoming& one = in_.messages[want.message];
    const uint64_t bytes = blocks_of(one.bytes).bytes(want.blocks);
    member_.supply(one.expected, want.blocks, {data, bytes});
    data += bytes;
  }
  in_.wanted.clear();
  in_.has_offer = true;
}

// True: something has been said.
bool MulticastRow::answer() {
  if (in_.has_all || in_.expects == 0 || in_.messages.size() < in_.expects || !in_.wanted.empty()) return false;
  while (in_.come < in_.expects && member_.has_come(in_.messages[in_.come].expected)) ++in_.come;
  if (in_.come == in_.expects) {
    answer_all();
    return true;
  }
  if (!in_.has_offer) return false;
  Word word;
  word.said = Said::kEnough;
  word.wanted = ask(word.wants);
  if (word.wanted != 0) {
    // Whatever has come before the offer has.
    for (uint32_t looks = 0; looks < kMostLooks && !member_.poll();) ++looks;
    word.wanted = ask(word.wants);
    if (word.wanted != 0) word.said = Said::kWant;
  }
  in_.wanted.assign(word.wants, word.wants + word.wanted);
  in_.has_offer = false;
  ++from_before().due;
  send(from_before().peer, word);
  return true;
}

// What is missing of the messages on offer, the first of them first; gives of how many.
uint32_t MulticastRow::ask(Want* wants) const {
  uint32_t count = 0;
  uint64_t bytes = 0;
  for (uint32_t i = in_.come; i < in_.offered && count < kMostWanted && bytes < kMostKeptOfRow; ++i) {
    if (member_.has_come(in_.messages[i].expected)) continue;
    const Blocks blocks = blocks_of(in_.messages[i].bytes);
    const uint64_t asked = blocks.first(member_.missing(in_.messages[i].expected), kMostKeptOfRow - bytes);
    bytes += blocks.bytes(asked);
    wants[count++] = {i, asked};
  }
  return count;
}

void MulticastRow::answer_all() {
  for (const Incoming& one : in_.messages) member_.forget(one.expected);
  in_.has_all = true;
  in_.has_offer = false;
  const auto [expected, missed] = member_.take_losses();
  Word word;
  word.said = Said::kAll;
  word.fragments = expected;
  word.missed = missed;
  send(from_before().peer, word);
}

// --- what is passed on -----------------------------------------------------------------------------------------------

void MulticastRow::take_answer(Conversation& conversation, const Word& word) {
  ++out_.answers;
  if (word.said == Said::kAll) {
    out_.is_confirmed = true;
    pace_.receive({.expected = word.fragments, .missed = word.missed});
    return;
  }
  ++conversation.due;
  if (word.said == Said::kWant) give(conversation.peer, word);
}

void MulticastRow::give(uint32_t peer, const Word& word) {
  if (word.wanted > kMostWanted) return refuse(peer);
  std::vector<std::span<const std::byte>> pieces;
  for (const Want& want : std::span(word.wants, word.wanted)) {
    if (want.message >= out_.messages.size()) return refuse(peer);
    const Outgoing& one = out_.messages[want.message];
    const Blocks blocks = blocks_of(one.bytes);
    blocks.each(want.blocks,
                [&](uint32_t block) { pieces.emplace_back(one.from + blocks.begin(block), blocks.length(block)); });
  }
  send_offer(peer, Said::kContent);
  channel_.leave(channel_.send_parked(peer, pieces));
}

void MulticastRow::offer() {
  if (out_.passes_on == 0 || out_.offers > out_.answers) return;
  // After the last answer, too, if it has come before its offer.
  const bool is_due = out_.is_confirmed ? out_.offers < out_.answers : out_.messages.size() > out_.last_offer;
  if (is_due) send_offer(from_next().peer, Said::kOffer);
}

void MulticastRow::send_offer(uint32_t peer, Said said) {
  out_.last_offer = static_cast<uint32_t>(out_.messages.size());
  ++out_.offers;
  Word word;
  word.said = said;
  word.first = out_.last_offer;
  word.bytes = out_.bytes;
  send(peer, word);
}

// --- both ------------------------------------------------------------------------------------------------------------

void MulticastRow::send(uint32_t peer, const Word& word) {
  channel_.send_parked_and_leave(peer, std::as_bytes(std::span(&word, 1)));
}

Blocks MulticastRow::blocks_of(uint64_t bytes) const { return Blocks(bytes, member_.fragment_bytes()); }

// An offer that was answered before it has come is still to come.
void MulticastRow::end() {
  for (Conversation& conversation : conversations_) {
    for (; conversation.due != 0; --conversation.due) {
      if (!conversation.is_posted) conversation.message = channel_.receive_parked(conversation.peer, sizeof(Word));
      conversation.is_posted = false;
      channel_.leave(conversation.message);
    }
  }
  has_ended_ = true;
}

}  // namespace hocket::carriers
