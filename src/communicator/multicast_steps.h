// SPDX-License-Identifier: BSD-3-Clause
// The steps of one sequence of calls that go by multicast. What a rank takes comes by two ways, the multicast and a
// message of the rank before it, and whichever is first fills its buffer. The message goes to memory of the channel's
// own: it may come when the buffer is the caller's again.
//
// Root delay (section 2.1 of the reference in multicast_path.h) and the pace of long messages belong to this class: no
// schedule can know what receivers have missed. With them goes a message of 8 bytes, a report, to the root of a call
// from one of the others, whom all find by the same throw of dice; by random synchronization the root waits for it.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "communicator/multicast_chain.h"
#include "engines/executor/transport.h"
#include "engines/multicast/member.h"
#include "engines/multicast/pace.h"
#include "engines/wire/channel.h"

namespace hocket::communicator {

// What a root does before it sends, the same on all ranks.
struct RootDelay {
  enum class Kind : uint8_t { kNone, kFixed, kAdaptive, kRandom };
  Kind kind = Kind::kNone;
  int64_t ns = 0;  // kFixed
};

// What the sequences of a communicator share.
struct MulticastShared {
  engines::multicast::Member member;
  engines::multicast::Pace pace;
  engines::multicast::AdaptiveDelay adaptive;
  RootDelay delay;
  uint64_t seed = 0;
  uint32_t self = 0;                   // rank
  std::vector<uint32_t> participants;  // ranks, ascending; more than one
  uint64_t reported_bytes = 0;         // calls of more than this are reported whatever the delay
};

class MulticastSteps {
 public:
  MulticastSteps(MulticastShared& shared, engines::wire::Channel& channel, uint32_t stream)
      : shared_(shared), channel_(channel), chain_(shared.member, channel), stream_(stream) {}

  void begin(const engines::Program& program);
  // Whether such a step is this one's business.
  bool carries(const engines::Instruction& step) const {
    return schedule::is_by_multicast(step.kind) || (is_long_ && step.to_first_of);
  }
  engines::Progress run(const engines::Instruction& step, engines::StepState& state, const engines::Operands& operands);
  // Messages that came second and have not been taken off the wire yet. With more of them a rank that is ahead waits.
  static constexpr uint32_t kMostLeft = 32;

  // Takes what has come in. To be called before steps are asked again. True: something that a call waits for has come
  // by multicast, so that the call goes on whatever the wire has.
  bool takes_what_it_awaits();
  // What has come by the wire. To be called when it has been looked at.
  void hear_reports();
  bool awaits_reports() const { return !reports_.empty(); }
  // Whether nobody will wake this rank when its call can go on.
  bool is_busy() const { return !awaited_.empty() || sending_ != 0; }
  // Something is to come in.
  bool is_awaited() const { return !awaited_.empty(); }
  // Until something comes in, or `limit_ns` are over. Gives whether it is not the time that ended it.
  bool sleep(int64_t limit_ns);

  // A call is over before its steps are, and so is everything in the channel.
  void cancel();
  bool has_failed() const { return !failure_.is_ok(); }
  Status take_failure() { return std::exchange(failure_, Status::ok()); }

  // Which of `participants` but `source` reports in the call whose first multicast of `source` has that number.
  static uint32_t reporter(const MulticastShared& shared, uint32_t stream, uint32_t source, uint64_t number);

 private:
  engines::Progress run_multicast(const engines::Instruction& step, engines::StepState& state,
                                  const engines::Operands& operands);
  engines::Progress run_first_of(const engines::Instruction& step, engines::StepState& state,
                                 const engines::Operands& operands);
  void hold_back(uint64_t number);
  size_t most_unheard() const;
  bool may_go();
  bool send(const engines::Instruction& step, engines::StepState& state, const engines::Operands& operands);
  void report(uint32_t source, uint64_t number);
  void hear(uint32_t aside);

  MulticastShared& shared_;
  engines::wire::Channel& channel_;
  MulticastChain chain_;
  uint32_t stream_;
  bool is_long_ = false;   // a call
  bool is_first_ = false;  // multicast of a call
  bool is_reported_ = false;
  bool is_held_back_ = false;
  int64_t held_until_ns_ = 0;
  std::vector<uint32_t> awaited_;  // what the member expects for steps under way
  uint32_t sending_ = 0;           // steps of which something is to be sent yet
  std::deque<uint32_t> reports_;   // asides in which they come
  Status failure_;
};

}  // namespace hocket::communicator
