// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a node are late: a rank that has waited for long in a call looks who has not come to it, by the
// records that peers keep of their calls in their own memory, and says so once, for all ranks, with what their
// processes' records say of where they are (platform/whereabouts). Of ranks of other nodes it is told who doesn't
// answer (between_nodes.h). Nothing is ended here.
//
// Meanwhile this process's own record says for whom it waits, so that others find rings of waits.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "communicator/calls/call_words.h"
#include "communicator/participants.h"
#include "communicator/tracks.h"
#include "platform/whereabouts/description.h"

namespace hocket::communicator {

struct LatePolicy {
  int64_t after_ns = 0;     // how long a rank waits before it says something; 0: it never does
  bool ends_calls = false;  // in which ranks are late for so long
};

class LateFinder {
 public:
  // Both outlive it.
  LateFinder(const Participants& participants, const Tracks& tracks, Vocabulary vocabulary, const LatePolicy& policy)
      : participants_(participants), tracks_(tracks), vocabulary_(vocabulary), policy_(policy) {}

  // Whether a rank that has waited for so long is to look.
  bool is_due(int64_t waited_ns) const { return policy_.after_ns != 0 && waited_ns >= policy_.after_ns; }
  // A sentence about the call that this rank waits in; "": there is none, or a rank has said it already. What was said
  // of an earlier call, and has gone on, is said again only of one that waits twice as long.
  std::string find(int64_t waited_ns) const;

  // The track of the call that this rank waits in, where all ranks of its node have come to that.
  std::optional<uint32_t> waits_for_others() const;
  // The sentence about that call, of ranks of other nodes: once on this node. "": it has been said.
  std::string find_elsewhere(uint32_t track, const std::vector<uint32_t>& late, int64_t waited_ns) const;

  // Writes into this process's record for whom the rank has waited for so long.
  void publish(int64_t waited_ns) const;
  // It doesn't wait any more.
  static void withdraw();

 private:
  // The call that the rank waits in, by its track, and the ranks by place that have not come to it.
  struct Awaited {
    uint32_t track = 0;
    std::vector<uint32_t> late;
  };
  std::optional<Awaited> awaited() const;
  bool read_call(uint32_t track, CallSignature& call) const;
  std::string describe_call(uint32_t track, const CallSignature& call) const;
  platform::RankWait wait(int64_t waited_ns) const {
    return {participants_.rank, static_cast<uint64_t>(waited_ns), !policy_.ends_calls};
  }
  std::vector<uint32_t> missing(const Track& track) const;
  uint32_t process_of(uint32_t place) const;  // 0: this one's
  bool may_tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const;
  std::string tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const;

  const Participants& participants_;
  const Tracks& tracks_;
  Vocabulary vocabulary_;
  LatePolicy policy_;
};

}  // namespace hocket::communicator
