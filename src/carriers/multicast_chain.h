// SPDX-License-Identifier: BSD-3-Clause
// The chain of a call by multicast whose messages are long. An MPI sends such a message only while its receiver
// calls it, too, and the receiver may have had everything by multicast long since. So content goes to whom it is
// missing, and to no other rank: one that has a message offers it to the next rank, which asks for the blocks that it
// hasn't got, or says that it needs nothing, once it has all of it.
//
// What a pair of ranks exchanges for one message, all but the content being short:
//
//     offer          ->        the message's length, once it is here
//               <- ask         eight bytes, a bit a block; 0: all is here. An ask may come before the offer
//     content        ->        of the blocks that were asked for, one after the other; then the next ask is awaited
//
// Messages of a pair follow each other: a step begins its conversation when the one before has ended.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

#include "engines/executor/transport.h"
#include "engines/multicast/member.h"
#include "engines/wire/channel.h"

namespace hocket::carriers {

class MulticastChain {
 public:
  // What an MPI is taken to send at once, whether its receiver calls it or not. Over TCP the five that are tried do: of
  // twice as much Debian's MPICH doesn't any more, of four times as much neither does Open MPI.
  static constexpr uint64_t kAtOnceBytes = 16384;

  MulticastChain(engines::multicast::Member& member, engines::wire::Channel& channel)
      : member_(member), channel_(channel) {}

  // A send of the chain.
  engines::Progress pass_on(const engines::Instruction& step, engines::StepState& state,
                            const engines::Operands& operands);
  // A message that the member awaits as `expected`: begins, and then says how it stands. Done: all of it is there.
  void await(const engines::Instruction& step, engines::StepState& state, uint32_t expected);
  engines::Progress take(const engines::Instruction& step, engines::StepState& state);

  // A call is over before its steps are, and so is everything in the channel.
  void cancel() { is_passing_on_ = false; }

 private:
  engines::Progress ask(const engines::Instruction& step, engines::StepState& state, uint32_t expected);

  engines::multicast::Member& member_;
  engines::wire::Channel& channel_;
  bool is_passing_on_ = false;
};

}  // namespace hocket::carriers
