// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a node are late: a rank that has waited for long in a call looks who has not come to it, by the
// records that peers keep of their calls in their own memory, and says so once, for all ranks, with what their
// processes' records say of where they are (platform/whereabouts). Nothing is ended.
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
#include "platform/whereabouts/observer.h"

namespace hocket::communicator {

struct LatePolicy {
  int64_t after_ns = 0;     // as LateFinder's `limit_ns`
  bool ends_calls = false;  // in which ranks are late for so long
};

class LateFinder {
 public:
  // Both outlive it. `limit_ns`: how long a rank waits before it says something; 0: it never does.
  LateFinder(const Participants& participants, const Tracks& tracks, Vocabulary vocabulary, int64_t limit_ns)
      : participants_(participants), tracks_(tracks), vocabulary_(vocabulary), limit_ns_(limit_ns) {}

  // Whether a rank that has waited for so long is to look.
  bool is_due(int64_t waited_ns) const { return limit_ns_ != 0 && waited_ns >= limit_ns_; }
  // A sentence about the call that this rank waits in; "": there is none, or a rank has said it already. What was said
  // of an earlier call, and has gone on, is said again only of one that waits twice as long.
  std::string find(int64_t waited_ns) const;

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
  // Whether this rank has a call there that isn't over.
  bool is_in_call(const Track& track) const;
  std::vector<uint32_t> missing(const Track& track) const;
  uint32_t process_of(uint32_t place) const;  // 0: this one's
  bool may_tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const;
  std::string tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const;
  std::string describe_communicator() const;
  std::string describe_late(uint32_t place, const std::vector<platform::SeenRecord>& records) const;
  std::string describe_all(const std::vector<uint32_t>& late, const std::vector<platform::SeenRecord>& records) const;

  const Participants& participants_;
  const Tracks& tracks_;
  Vocabulary vocabulary_;
  int64_t limit_ns_;
};

}  // namespace hocket::communicator
