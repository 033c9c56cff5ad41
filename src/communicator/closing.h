// SPDX-License-Identifier: BSD-3-Clause
// The end of a communicator. A rank may free its memory only when no peer will touch it again, not even to look whether
// it sleeps. It must not wait for that, since MPI_Comm_free is local.
//
// Each rank of a node counts itself out twice, in a counter of the node's first rank: first when it will touch no
// memory but this counter, for a rank's calls are over when it leaves, and no peer's call needs it any more; then when
// it will not touch the counter either. Between nodes a barrier comes before, started when the rank leaves: tags are
// used again when all are through with them, NIC engines answer those that have missed a message, and what came second
// is on its way.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

#include "communicator/calls/call.h"
#include "communicator/failure/failure.h"

namespace hocket::communicator {

class Closing {
 public:
  // All outlive it.
  Closing(const Participants& participants, Tracks& tracks, FailureDetector& failure)
      : participants_(participants), tracks_(tracks), failure_(failure) {}

  bool has_started() const { return stage_ != Stage::kOpen; }
  // Whether the communicator ends with a barrier, which its owner has to start first.
  bool needs_barrier() const { return participants_.span_nodes() && !failure_.is_broken(); }
  // No call comes after this. `barrier`: started on the first track, where one is needed; nullptr there: it could not
  // be, and peers will not be known to have left.
  void begin(Call* barrier);
  // No rank has made a call, and no peer knows of it any more.
  void end_unused() { stage_ = Stage::kQuiet; }
  // Whether it is over: no peer touches this rank's memory any more, or that will never be known, since one has failed.
  // Call it repeatedly: each call advances the closing.
  bool is_over();
  // No peer touches this rank's memory any more.
  bool is_quiet() const { return stage_ == Stage::kQuiet; }

 private:
  enum class Stage : uint8_t {
    kOpen,
    kBarrier,     // of several nodes: messages may be under way
    kLeftovers,   // and some that no call has waited for
    kLeaving,     // is going to touch no memory but the first rank's counter
    kAllLeaving,  // so are the others, it has heard
    kQuiet,       // no peer touches this rank's memory any more
    kLost,        // which will never be known: a peer has failed
  };
  Stage after_barrier();
  bool has_leftovers();
  Stage count_out(uint32_t needed, Stage next);

  const Participants& participants_;
  Tracks& tracks_;
  FailureDetector& failure_;
  Call* barrier_ = nullptr;
  Stage stage_ = Stage::kOpen;
};

}  // namespace hocket::communicator
