// SPDX-License-Identifier: BSD-3-Clause
// What a communicator's nodes tell each other of failures, and of calls that differ: messages have no header, so ranks
// that have waited for long tell whom they wait for which call that is.
#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "communicator/call_words.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

using engines::shared_memory::Lane;

namespace {

// Of one look: what is left comes with the next.
constexpr int kMostWords = 64;
constexpr size_t kMostAsked = 16;
constexpr uint64_t kFirstAskNs = 1'000'000'000;

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

// What this rank has called where `word` tells of another call; "": the same, or it hasn't come so far or was there
// long ago.
std::string Communicator::compare(const Word& word) const {
  if (word.kind != Word::kCall || word.track >= tracks_.size() || tracks_[word.track] == nullptr) return {};
  CallSignature mine;
  if (!tracks_[word.track]->lane().read_record(group_->rank(), word.number, mine) || mine == word.call) return {};
  const Vocabulary vocabulary = context_.vocabulary();
  return rank_ < word.from ? describe_difference(rank_, mine, word.from, word.call, vocabulary)
                           : describe_difference(word.from, word.call, rank_, mine, vocabulary);
}

// After a second, and then more and more seldom: whom it is asked may not have come to the call yet.
void Communicator::tell_whom_it_waits_for() {
  for (uint32_t index = 0; index < tracks_.size(); ++index) {
    if (tracks_[index] == nullptr || tracks_[index]->channel() == nullptr) continue;
    const Lane& lane = tracks_[index]->lane();
    Waited& waited = waited_[index];
    const uint64_t now = now_ns();
    if (waited.number != lane.announced()) waited = {lane.announced(), now + kFirstAskNs, kFirstAskNs, waited.turn};
    if (now < waited.next_ns) continue;
    waited.pause_ns *= 2;
    waited.next_ns = now + waited.pause_ns;
    Word word = new_word(Word::kCall);
    word.track = index;
    word.number = lane.announced();
    if (!lane.read_record(group_->rank(), word.number, word.call)) continue;
    const std::vector<uint32_t> peers = tracks_[index]->channel()->peers();
    for (size_t i = 0; i < std::min(kMostAsked, peers.size()); ++i) {
      const Status sent = words_->send(addresses_[peers[waited.turn++ % peers.size()]], word);
      if (!sent.is_ok()) HOCKET_LOG_DEBUG("no word to who is waited for: %s", sent.message());
    }
  }
}

}  // namespace hocket::communicator
