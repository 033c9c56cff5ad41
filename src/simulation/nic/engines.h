// SPDX-License-Identifier: BSD-3-Clause
// The NIC engines of a group in simulated time. What they send, ask for and repeat is the protocol's own code's affair
// (protocol/machine.h, protocol/watch.h); here is when.
//
// An engine has one processor. A doorbell or a packet is dealt with when it comes, in order; what follows from it goes
// out one packet after the other, as the processor gets it done. While an operation is under way the engine looks for
// what is late, as the service of a real one does (tools/nic/group_keeper.h): when something can be due, and never
// otherwise, so that a run in which nothing is late costs events for its packets, and one more of each member.
//
// Invariant: the same calls in the same order have the same packets.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "engines/nic/call.h"
#include "protocol/watch.h"
#include "simulation/core/time.h"
#include "simulation/nic/places.h"
#include "simulation/nic/prices.h"
#include "simulation/nic/slab.h"
#include "simulation/nic/surroundings.h"

namespace hocket::simulation {

struct NicCounts {
  std::array<uint64_t, NIC_KINDS> sent{};         // by enum nic_kind; a packet for all counts once
  std::array<uint64_t, NIC_VERDICTS> verdicts{};  // what has become of packets
  uint64_t to_all = 0;                            // of those sent
  uint64_t repeated = 0;                          // messages of schedules that have gone out before
  uint64_t lost = 0;                              // a packet for all, once for each whom it doesn't reach
  uint64_t looks = 0;                             // for what is late
};

// A packet as it went over the network; one for all, once for each receiver.
struct NicSent {
  Time ready;
  Time arrival;  // kNever: it was lost
  uint32_t receiver;
  nic_message message;
};

// What combining operands takes, which it counts.
struct NicSums {
  Time integers;  // each pair of words
  Time floating;
  uint64_t combined = 0;

  Time pairs(uint64_t words, uint64_t call) {
    combined += words;
    return words * (nic_is_floating(nic_call_type(call)) ? floating : integers);
  }
  // Of a content, unless it is the pool's, which has been combined as it came.
  Time content(const nic_program& program, const nic_content& content, uint64_t call) {
    if (program.pooled != 0 || content.end - content.first < 2) return 0;
    return pairs(uint64_t{nic_call_words(call)} * (content.end - content.first - 1u), call);
  }
};

// In a ticket of an engine's look for what is late, beside the member; otherwise it is a packet's.
inline constexpr uint64_t kNicLook = uint64_t{1} << 32;

class NicEngines {
 public:
  // `collectives`: for each of the group's programs, all members' parts of it (engines/nic/stage_table.h). The
  // surroundings outlive it. kInvalidArgument: more programs or members than the protocol has numbers for, or parts
  // that don't fit together.
  static Result<std::unique_ptr<NicEngines>> make(NicSurroundings& surroundings, const NicPrices& prices,
                                                  const std::vector<std::vector<nic_program>>& collectives,
                                                  const NicOptions& options = {});

  // The host begins its next operation, now. Where an operand is wanted and none is given, it is zeros. NIC_TAKEN, or
  // why not: NIC_TOO_MANY says to wait until one of those that are under way is complete.
  nic_verdict ring(uint32_t member, const engines::nic::NicCall& call);
  // What the surroundings were asked to call at this time.
  void happen(uint64_t ticket);
  // A member looks for what is late at this time, unless it looks sooner anyway; as it does by itself.
  void look_at(uint32_t member, Time time);

  uint32_t size() const { return static_cast<uint32_t>(members_.size()); }
  uint64_t started(uint32_t member) const { return members_[member].state.started; }
  uint64_t completed(uint32_t member) const { return members_[member].state.completed; }
  // 0, or enum nic_cause | the member at fault << 8: nothing more happens here.
  uint64_t broken(uint32_t member) const { return members_[member].state.broken; }
  const NicCounts& counts() const { return counts_; }
  // Pairs of words.
  uint64_t combined() const { return sums_.combined; }
  const std::vector<NicSent>& history() const { return history_; }
  // That all of it takes now, but the history.
  size_t bytes() const;

 private:
  struct SignsOfLife {
    uint32_t member;
    uint32_t signs;
    nic_watched_member watched;
  };
  struct Member {
    nic_state state{};
    std::array<uint64_t, NIC_IN_FLIGHT> started_ns{};  // of operations, by number
    std::vector<SignsOfLife> signs;                    // of those that have given some
    std::unique_ptr<nic_watch> watch;                  // from when something was late first
    uint64_t told = 0;                                 // operations of which the host knows that they are complete
    uint64_t seen_completed = 0;                       // at the last look
    Time last_look = 0;
    Time next_look = kNever;

    void note_sign_of_life(uint32_t source);
  };
  struct Packet {
    nic_message message;
    uint32_t receiver;
    uint32_t content;  // kNothing, or where it is
  };
  struct Lengths {
    Time start, arrival, send, word, record, notify;
  };
  static constexpr uint32_t kNothing = 0xffffffffu;

  NicEngines(NicSurroundings& surroundings, const NicPrices& prices,
             const std::vector<std::vector<nic_program>>& collectives, const NicOptions& options);

  nic_group& group_of(uint32_t member) const;
  uint64_t now_ns() const;

  void take(const Packet& packet);
  // What follows from `cause`, from `ready` on; like the next, gives when the processor has done it.
  Time act(uint32_t member, const nic_outcome& outcome, const nic_message& cause, Time ready);
  Time send(uint32_t member, const nic_message& message, uint64_t call, bool is_folded, Time ready);
  void dispatch(const nic_message& message, uint32_t content, Time ready);
  void arrive(const nic_message& message, uint32_t receiver, uint32_t content, Time ready, Time arrival);
  void tell(uint32_t member, Time ready);

  // What is late (engines_looks.cc).
  void look(uint32_t member);
  void watch(uint32_t member, nic_watch& watch);
  bool is_quiet(uint32_t member) const;
  static void emit(void* user, const nic_message* message);

  NicSurroundings& surroundings_;
  Lengths lengths_;
  NicSums sums_;
  NicOptions options_;
  size_t group_bytes_;  // of a group with as many programs as there are
  std::unique_ptr<std::byte[]> groups_;
  std::vector<Member> members_;
  NicPlaces places_;
  Slab<Packet> packets_;
  Slab<nic_operand> contents_;
  NicCounts counts_;
  std::vector<NicSent> history_;
  std::vector<Time> arrivals_;               // of a packet for all
  std::vector<nic_watched_member> watched_;  // of the member that looks; zeros otherwise, as the next
  std::vector<uint32_t> signs_;
};

}  // namespace hocket::simulation
