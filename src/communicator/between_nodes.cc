// SPDX-License-Identifier: BSD-3-Clause
// What a communicator's nodes tell each other of failures, and of calls that differ: messages have no header, so ranks
// that have waited for long tell whom they wait for which call that is.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "communicator/call_words.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

using engines::shared_memory::first_remembered;
using engines::shared_memory::Lane;
using engines::wire::Channel;

namespace {

// Of one look: what is left comes with the next.
constexpr int kMostWords = 64;
constexpr size_t kMostAsked = 16;
constexpr uint64_t kFirstAskNs = 1'000'000'000;
// Between two looks that have to find the same.
constexpr uint64_t kStrangerNs = 1'000'000'000;

}  // namespace

Word Communicator::new_word(Word::Kind kind) const {
  Word word;
  word.communicator = unique_number_;
  word.kind = kind;
  word.from = rank_;
  return word;
}

// Who finds a failure has the engines tell all nodes, or sends word to their ranks, under a tag that nothing else uses.
// Not who has heard of it: some have ended by then, and MPICH 5 crashes when it connects to such.
void Communicator::tell_other_nodes(const Status& status) {
  const bool differs = status.code() == Code::kMismatch;
  if (!differs && nic_ != nullptr && (nic_->culprit() < size_ || nic_->tell_failure())) return;
  Word word = new_word(differs ? Word::kMismatch : Word::kFailure);
  word.say(status.message());
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (nodes_->together(rank, rank_)) continue;
    const Status sent = words_->send(addresses_[rank], word);
    if (!sent.is_ok()) HOCKET_LOG_DEBUG("rank %u does not hear of the failure: %s", rank, sent.message());
  }
}

// A rank of another node that has failed is put into `failed`. Not ok: calls differ, or the wire has failed.
Status Communicator::hear_other_nodes(uint32_t& failed) {
  for (int words = 0; words < kMostWords; ++words) {
    uint32_t from = 0;
    Result<Word> heard = words_->take(from);
    if (!heard.is_ok()) return heard.take_status();
    const Word& word = heard.value();
    if (word.kind == Word::kNone) return Status::ok();
    if (word.kind == Word::kFailure && (word.communicator == unique_number_ || word.communicator == 0)) {
      const auto found = std::find(addresses_.begin(), addresses_.end(), from);
      failed = static_cast<uint32_t>(found - addresses_.begin());
      return Status::ok();
    }
    if (word.communicator != unique_number_) continue;
    if (word.kind == Word::kMismatch) {
      others_know_ = mismatch_is_known_ = true;
      return {Code::kMismatch, word.reason};
    }
    std::string difference = compare(word);
    if (difference.empty()) continue;
    mismatch_is_known_ = true;
    return {Code::kMismatch, std::move(difference)};
  }
  return Status::ok();
}

// The first call in which this rank and that of `word` differ, as far as they remember; "": none, or it hasn't come so
// far.
std::string Communicator::compare(const Word& word) const {
  if (word.kind != Word::kCall || word.track >= tracks_.size() || tracks_[word.track] == nullptr) return {};
  const Lane& lane = tracks_[word.track]->lane();
  for (uint64_t number = first_remembered(word.number); number <= word.number; ++number) {
    CallSignature mine;
    const CallSignature& other = word.calls[number % Word::kCalls];
    if (!lane.read_record(group_->rank(), number, mine) || mine == other) continue;
    const Vocabulary vocabulary = context_.vocabulary();
    return rank_ < word.from ? describe_difference(rank_, mine, word.from, other, vocabulary)
                             : describe_difference(word.from, other, rank_, mine, vocabulary);
  }
  return {};
}

// A message of another call in place of what is awaited: whoever sent it may be in no call any more, and hear no word.
std::string Communicator::find_stranger(Track& track, Waited& waited, uint64_t now) const {
  Channel& channel = *track.channel();
  if (waited.stranger == kNobody) {
    const std::vector<uint32_t> senders = channel.senders();
    for (size_t i = 0; i < std::min(kMostAsked, senders.size()); ++i) {
      const uint32_t sender = senders[(waited.turn + i) % senders.size()];
      if (!channel.has_stranger(sender)) continue;
      waited.stranger = sender;
      waited.seen_ns = now;
      break;
    }
    return {};
  }
  if (now < waited.seen_ns + kStrangerNs) return {};
  const uint32_t sender = std::exchange(waited.stranger, kNobody);
  if (!channel.has_stranger(sender)) return {};
  return engines::shared_memory::in_another_call(sender, rank_);
}

// After a second, and then more and more seldom: whom it is asked may not have come to the call yet. What it finds out
// itself, or "".
std::string Communicator::ask_whom_it_waits_for() {
  for (uint32_t index = 0; index < tracks_.size(); ++index) {
    if (tracks_[index] == nullptr || tracks_[index]->channel() == nullptr) continue;
    const Lane& lane = tracks_[index]->lane();
    Waited& waited = waited_[index];
    const uint64_t now = now_ns();
    if (waited.number != lane.announced())
      waited = {.number = lane.announced(), .next_ns = now + kFirstAskNs, .pause_ns = kFirstAskNs, .turn = waited.turn};
    const bool asks = now >= waited.next_ns;
    // Who is asked first can say more.
    if (waited.stranger != kNobody || (asks && waited.pause_ns > kFirstAskNs)) {
      std::string difference = find_stranger(*tracks_[index], waited, now);
      if (!difference.empty()) return difference;
    }
    if (!asks) continue;
    waited.pause_ns *= 2;
    waited.next_ns = now + waited.pause_ns;
    Word word = new_word(Word::kCall);
    word.track = index;
    word.number = lane.announced();
    for (uint64_t number = first_remembered(word.number); number <= word.number; ++number)
      lane.read_record(group_->rank(), number, word.calls[number % Word::kCalls]);
    const std::vector<uint32_t> peers = tracks_[index]->channel()->peers();
    for (size_t i = 0; i < std::min(kMostAsked, peers.size()); ++i) {
      const Status sent = words_->send(addresses_[peers[waited.turn++ % peers.size()]], word);
      if (!sent.is_ok()) HOCKET_LOG_DEBUG("no word to who is waited for: %s", sent.message());
    }
  }
  return {};
}

}  // namespace hocket::communicator
