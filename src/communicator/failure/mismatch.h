// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a node that are in different calls: what their records say, and one sentence about it for all of them. So is
// there one about ranks that are late, where that ends a call.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>

#include "base/status.h"
#include "communicator/calls/call_words.h"
#include "communicator/tracks.h"

namespace hocket::communicator {

class MismatchFinder {
 public:
  // Both outlive it. `vocabulary`: in whose words sentences name calls.
  MismatchFinder(const Participants& participants, const Tracks& tracks, Vocabulary vocabulary)
      : participants_(participants), tracks_(tracks), vocabulary_(vocabulary) {}

  // The first call in which two ranks of this node differ, as far as they remember; "": none. Only while a call goes
  // on here: afterwards the peers' memory may be in use again.
  std::string find() const;
  // Whether the ranks of a node end with one sentence.
  static bool is_for_all(const Status& status) {
    return status.code() == Code::kMismatch || status.code() == Code::kTimeout;
  }
  // `status` says that calls differ, or that ranks are late. Of all sentences about it the first counts, which is
  // reported here and on the other ranks of the node; `is_known`: it came from another node, and nothing here can say
  // more.
  Status agree(Status status, bool is_known) const;
  // What was agreed on; ok: nothing.
  Status agreed() const;

 private:
  const Participants& participants_;
  const Tracks& tracks_;
  Vocabulary vocabulary_;
};

}  // namespace hocket::communicator
