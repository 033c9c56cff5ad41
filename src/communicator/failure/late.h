// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a node are late: a rank that has waited for long in a call looks who has not come to it, by the
// records that peers keep of their calls in their own memory, and says so once, for all ranks. Nothing is ended.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "communicator/calls/call_words.h"
#include "communicator/participants.h"
#include "communicator/tracks.h"

namespace hocket::communicator {

class LateFinder {
 public:
  // Both outlive it. `limit_ns`: how long a rank waits before it says something; 0: it never does.
  LateFinder(const Participants& participants, const Tracks& tracks, Vocabulary vocabulary, int64_t limit_ns)
      : participants_(participants), tracks_(tracks), vocabulary_(vocabulary), limit_ns_(limit_ns) {}

  // Whether a rank that has waited for so long is to look.
  bool is_due(int64_t waited_ns) const { return limit_ns_ != 0 && waited_ns >= limit_ns_; }
  // A sentence about the call that this rank waits in; "": there is none, or a rank has said it already.
  std::string find(int64_t waited_ns) const;

 private:
  // Whether this rank has a call there that isn't over.
  bool is_in_call(const Track& track) const;
  // Ranks by place that have not come to it.
  std::vector<uint32_t> missing(const Track& track) const;
  // The sentence, of a track's call.
  std::string tell(uint32_t index, const std::vector<uint32_t>& late, int64_t waited_ns) const;
  std::string describe_late(uint32_t place) const;
  std::string describe_all(const std::vector<uint32_t>& late) const;

  const Participants& participants_;
  const Tracks& tracks_;
  Vocabulary vocabulary_;
  int64_t limit_ns_;
};

}  // namespace hocket::communicator
