// SPDX-License-Identifier: BSD-3-Clause
// What breaks a communicator: a peer that has ended, a failure that was reported, calls that differ, and on request
// ranks that are late. Looked for now and then while a call waits, and told to all ranks; a broken communicator stays
// so. Who is late is said, too, where nothing breaks.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "communicator/failure/between_nodes.h"
#include "communicator/failure/late.h"
#include "communicator/failure/mismatch.h"

namespace hocket::communicator {

class FailureDetector {
 public:
  // Between two looks.
  static constexpr int64_t kIntervalNs = 100'000'000;

  // All outlive it.
  FailureDetector(const Participants& participants, Tracks& tracks, carriers::Engines& engines, Vocabulary vocabulary,
                  const LatePolicy& policy);

  bool is_broken() const { return is_broken_; }
  // Of a broken communicator: what its calls end with.
  Status broken() const { return {Code::kBroken, reason_}; }
  // `status`, not ok, ends a call on this rank: breaks the communicator and reports it to the others. Gives the same,
  // or what all ranks of the node say instead.
  Status fail(Status status);
  // Not ok: the communicator has to break, by fail().
  Status find_failure();
  // The same while this rank is in a call, and calls that differ.
  Status find_trouble();
  // Of a rank that has waited for so long in a call: says who is late, if it is time and no other rank has said it. Not
  // ok: calls are to end then, by fail().
  Status look_for_late(int64_t waited_ns);
  // That wait is over, after so long.
  void end_wait(int64_t waited_ns);
  // Breaks the communicator by what find_trouble() finds, at most once an interval, and not at the first look. True: it
  // has.
  bool look_now_and_then();
  // Whether a peer of this node has gone without leaving the communicator, at most once an interval. Reports nothing:
  // memory of ranks that have left may be in use again.
  bool has_lost_peer();
  void drop_reports() {
    if (nodes_ != nullptr) nodes_->drop_all();
  }

 private:
  Status what_broke() const;
  std::string find_late_elsewhere(int64_t waited_ns);

  const Participants& participants_;
  Tracks& tracks_;
  carriers::Engines& engines_;
  MismatchFinder mismatches_;
  LateFinder late_;
  std::unique_ptr<NodeReports> nodes_;  // nullptr: there is one node only
  int64_t next_look_ns_ = 0;
  bool is_broken_ = false;
  bool ends_late_calls_;
  bool has_told_late_ = false;  // in the wait that goes on
  bool others_know_ = false;    // of the failure: other nodes need no report of this rank's
  std::string reason_;
};

}  // namespace hocket::communicator
