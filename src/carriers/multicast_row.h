// SPDX-License-Identifier: BSD-3-Clause
// A call in which ranks expect the multicasts of others and take what they miss from the rank before them
// (schedule::Builder::expect). A rank has one conversation with the rank after it and one with the rank before, about
// all messages of the call at a time, which both number in the order in which they are passed on:
//
//     offer         ->         how many of the first messages are here
//               <- answer      want: blocks of some of these; enough: all of these are here, but not all of the call's;
//                              all: everything is here. That may be said before the offer comes
//     content, data ->         what was wanted; a new offer as well
//
// Each answer belongs to an offer, so that both know what is still to come. The next offer follows an answer as soon
// as there is more to offer: while nothing is missed a rank sends two or three short messages, however many ranks there
// are.
//
// The last answer tells what of the multicasts has been missed, for the pace of the rank that gets it.
//
// Memory: 32 bytes a message, and the content that was wanted last, 4 MiB or a 64th of a message at most.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engines/executor/transport.h"
#include "engines/multicast/blocks.h"
#include "engines/multicast/member.h"
#include "engines/multicast/pace.h"
#include "engines/wire/channel.h"

namespace hocket::carriers {

class MulticastRow {
 public:
  MulticastRow(engines::multicast::Member& member, engines::wire::Channel& channel, engines::multicast::Pace& pace)
      : member_(member), channel_(channel), pace_(pace) {}

  // A call of such a program.
  void begin(const engines::Program& program);
  // Its kExpect, kFirstOf and kSend.
  engines::Progress run(const engines::Instruction& step, engines::StepState& state, const engines::Operands& operands,
                        uint32_t stream);
  // Whether a multicast may still be of use.
  bool awaits() const { return !in_.has_all && !in_.messages.empty(); }
  // The call is over before its steps are, and so is everything in the channel.
  void cancel();
  bool has_failed() const { return !failure_.is_ok(); }
  Status take_failure() { return std::exchange(failure_, Status::ok()); }

 private:
  struct Word;
  struct [[gnu::packed]] Want {
    uint32_t message;
    uint64_t blocks;
  };
  struct Incoming {
    uint32_t expected = 0;  // the member's
    uint64_t bytes = 0;
  };
  struct Outgoing {
    const std::byte* from = nullptr;
    uint64_t bytes = 0;
  };
  static constexpr uint32_t kNoPeer = ~uint32_t{0};
  static constexpr uint32_t kMostWanted = 8;
  // What comes of a peer: words, and data behind one that announces it. One message is posted at a time.
  struct Conversation {
    uint32_t peer = kNoPeer;
    uint32_t due = 0;  // words
    bool is_posted = false;
    bool is_data = false;  // what is posted
    uint32_t message = 0;  // in the channel
  };

  enum class Said : uint32_t { kOffer = 1, kContent, kWant, kEnough, kAll };

  Conversation& from_before() { return conversations_[0]; }
  Conversation& from_next() { return conversations_[1].peer == kNoPeer ? conversations_[0] : conversations_[1]; }
  void advance();
  bool listen(Conversation& conversation);
  void refuse(uint32_t peer);
  void take_word(Conversation& conversation, const Word& word);
  void take_offer(Conversation& conversation, const Word& word);
  void take_data(const std::byte* data);
  bool answer();
  uint32_t ask(Want* wants) const;
  void answer_all();
  void take_answer(Conversation& conversation, const Word& word);
  void give(uint32_t peer, const Word& word);
  void offer();
  void send_offer(uint32_t peer, Said said);
  void send(uint32_t peer, const Word& word);
  engines::multicast::Blocks blocks_of(uint64_t bytes) const;
  void end();

  engines::multicast::Member& member_;
  engines::wire::Channel& channel_;
  engines::multicast::Pace& pace_;
  std::array<Conversation, 2> conversations_;
  bool has_ended_ = true;
  Status failure_;

  // What is taken of the rank before.
  struct Intake {
    std::vector<Incoming> messages;
    uint32_t expects = 0;    // messages
    uint64_t bytes = 0;      // of them
    uint32_t taken = 0;      // first_of steps
    uint32_t come = 0;       // the first messages
    uint32_t offered = 0;    // of them, on offer
    bool has_offer = false;  // that is not answered
    bool has_all = false;    // and has said so
    std::vector<Want> wanted;
  };
  // What is passed on to the next rank.
  struct Outlet {
    std::vector<Outgoing> messages;
    uint32_t passes_on = 0;   // messages
    uint64_t bytes = 0;       // of them
    uint32_t last_offer = 0;  // messages
    uint32_t offers = 0;      // sent
    uint32_t answers = 0;     // taken
    bool is_confirmed = false;
  };
  Intake in_;
  Outlet out_;
};

}  // namespace hocket::carriers
