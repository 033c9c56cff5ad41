// SPDX-License-Identifier: BSD-3-Clause
// What a communicator's nodes report to each other of failures, and of calls that differ: messages have no header, so a
// rank that has waited for long tells those that it waits for which call it is in. Who has come to that call answers;
// who doesn't is late.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "communicator/calls/call_words.h"
#include "communicator/failure/node_report.h"
#include "communicator/tracks.h"

namespace hocket::communicator {

class NodeReports {
 public:
  static constexpr uint32_t kNoRank = ~uint32_t{0};

  // All outlive it.
  NodeReports(const Participants& participants, Tracks& tracks, carriers::Engines& engines, Vocabulary vocabulary)
      : participants_(participants),
        tracks_(tracks),
        engines_(engines),
        vocabulary_(vocabulary),
        channel_(*participants.wire.wire, participants.wire.reports_tag) {}

  // This rank has found a failure. Not for one that was reported to it: some ranks have ended by then, and MPICH 5
  // crashes when it connects to such.
  void report(const Status& status);
  // A look at what has come.
  struct Received {
    uint32_t failed = kNoRank;  // a rank of another node that has failed
    bool all_know = false;      // of the mismatch: other nodes need no report
    Status status;              // not ok: calls differ, or the wire has failed
  };
  Received receive();
  // Compares calls with the ranks that this one waits for: it sends them its records, after a second first and then
  // more and more seldom, as they may not have come to the call yet. `now`: by a clock that goes on. What it finds out
  // itself, or "".
  std::string compare_with_awaited(uint64_t now);
  // Of the call on a track: ranks of other nodes that this one waits for and that have not answered for a while. Empty
  // also where another rank is to say so, or has.
  std::vector<uint32_t> absent(uint32_t track, uint64_t now) const;
  // This rank says it.
  void tell_late(uint32_t track);
  // Whether a sentence about calls that differ is known, which nothing within this node can better.
  bool knows_mismatch() const { return knows_mismatch_; }
  // Forgets reports that have come, when all ranks are through with their calls: not all MPIs end with messages left.
  void drop_all() { channel_.drop_all(); }

 private:
  struct Asked {
    uint64_t since_ns = 0;  // 0: it hasn't been
    bool has_answered = false;
  };
  struct Waited {
    uint64_t number = 0;  // of the call that this rank has waited in
    uint64_t next_ns = 0, pause_ns = 0;
    size_t turn = 0;
    uint32_t stranger = kNoRank;  // whose message of another call was there at the last look, and when
    uint64_t seen_ns = 0;
    std::vector<Asked> asked;  // by rank; empty: nobody
    bool is_told = false;
  };
  NodeReport new_report(NodeReport::Kind kind) const;
  std::string compare(const NodeReport& report) const;
  std::string find_stranger(Track& track, Waited& waited, uint64_t now) const;
  // True: there are ranks left that it hasn't asked once.
  bool send_records(uint32_t index, Waited& waited, uint64_t now);
  // Whose doings the call on a track waits for, as far as this rank is to ask.
  std::vector<uint32_t> peers_of(Track& track) const;
  void send(uint32_t rank, const NodeReport& report);
  void answer(const NodeReport& report);
  void note_answer(const NodeReport& report);

  const Participants& participants_;
  Tracks& tracks_;
  carriers::Engines& engines_;
  Vocabulary vocabulary_;
  ReportChannel channel_;
  std::array<Waited, Tracks::kMost> waited_;
  bool knows_mismatch_ = false;
};

}  // namespace hocket::communicator
