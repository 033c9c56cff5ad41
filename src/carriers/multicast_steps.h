// SPDX-License-Identifier: BSD-3-Clause
// The steps of one sequence of calls that go by multicast. What a rank takes comes by two ways, the multicast and a
// message of the rank before it, and whichever is first fills its buffer. The message goes to memory of the channel's
// own: it may come when the buffer is the caller's again.
//
// Root delay (section 2.1 of the reference in multicast_engine.h) and the pace of long messages belong to this class:
// no schedule can know what receivers have missed. In each call one other rank, which all ranks draw from the same
// random numbers, sends the root a report of 8 bytes; by random synchronization the root waits for it. Where all ranks
// multicast (multicast_row.h) there is no root: nobody holds back, and reports come with the last answers.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "carriers/multicast_chain.h"
#include "carriers/multicast_row.h"
#include "engines/executor/carrier.h"
#include "engines/multicast/member.h"
#include "engines/multicast/pace.h"
#include "engines/wire/channel.h"

namespace hocket::carriers {

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

class MulticastSteps final : public engines::Carrier {
 public:
  MulticastSteps(MulticastShared& shared, engines::wire::Channel& channel, uint32_t stream)
      : shared_(shared),
        channel_(channel),
        chain_(shared.member, channel),
        row_(shared.member, channel, shared.pace),
        stream_(stream) {}

  // Whether such a step of a program is for this carrier: that which goes by multicast, and the chain of a long
  // message or of a row.
  static bool carries(const engines::Instruction& step, const engines::Program& program) {
    return schedule::is_by_multicast(step.kind) || (step.to_first_of && (program.multicasts_row || is_long(program)));
  }
  void begin(const engines::Program& program) override;
  engines::Progress run(const engines::Instruction& step, engines::StepState& state,
                        const engines::Operands& operands) override;
  // And everything in the channel is, too.
  void cancel() override;

  // Messages that came second and have not been taken off the wire yet. With more of them a rank that is ahead waits.
  static constexpr uint32_t kMostLeft = engines::wire::Channel::kMostLeftAlone * 2;

  // Takes what has come in by multicast.
  bool poll() override;
  // Reports come by the wire.
  void after_poll() override;
  engines::WakeUp wake_up() const override {
    if (!awaited_.empty() || row_.awaits()) return engines::WakeUp::kPartial;
    return sending_ != 0 ? engines::WakeUp::kNone : engines::WakeUp::kIdle;
  }
  bool sleep(int64_t limit_ns) override;
  bool has_leftovers() const override { return !reports_.empty(); }
  bool has_failed() const override { return !failure_.is_ok() || row_.has_failed(); }
  Status take_failure() override {
    return row_.has_failed() ? row_.take_failure() : std::exchange(failure_, Status::ok());
  }

  // Which of `participants` but `source` reports in the call whose first multicast of `source` has that number.
  static uint32_t reporter(const MulticastShared& shared, uint32_t stream, uint32_t source, uint64_t number);

 private:
  static bool is_long(const engines::Program& program) {
    return program.multicast_bytes > MulticastChain::kAtOnceBytes;
  }
  engines::Progress run_multicast(const engines::Instruction& step, engines::StepState& state,
                                  const engines::Operands& operands);
  engines::Progress run_first_of(const engines::Instruction& step, engines::StepState& state,
                                 const engines::Operands& operands);
  void hold_back(uint64_t number);
  size_t most_pending_reports() const;
  bool may_go();
  bool send(const engines::Instruction& step, engines::StepState& state, const engines::Operands& operands);
  void report(uint32_t source, uint64_t number);
  void receive(uint32_t message);

  MulticastShared& shared_;
  engines::wire::Channel& channel_;
  MulticastChain chain_;
  MulticastRow row_;
  uint32_t stream_;
  bool is_row_ = false;    // a call
  bool is_long_ = false;   // a call
  bool is_first_ = false;  // multicast of a call
  bool is_reported_ = false;
  bool is_held_back_ = false;
  int64_t held_until_ns_ = 0;
  std::vector<uint32_t> awaited_;  // what the member expects for steps under way
  uint32_t sending_ = 0;           // steps of which something is to be sent yet
  std::deque<uint32_t> reports_;   // messages in which they come
  Status failure_;
};

}  // namespace hocket::carriers
