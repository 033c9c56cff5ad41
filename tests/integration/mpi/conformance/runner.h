// SPDX-License-Identifier: BSD-3-Clause
// Carries cases out on both sides and keeps the score.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buffers.h"
#include "calls.h"
#include "cases.h"
#include "image.h"

namespace conformance {

// One collective's. Calls are those of this rank.
struct Score {
  uint64_t cases = 0;
  uint64_t calls = 0;
  uint64_t carried_out = 0;
  uint64_t passed_through = 0;
  uint64_t without_host = 0;  // cases that are left to this program's reckoning, the host being wrong
  uint64_t alone = 0;         // on communicators of one rank, where hocket isn't needed and counts otherwise
  uint64_t failures = 0;
  uint64_t host_wrong = 0;
  uint64_t host_traces = 0;
};

class Runner {
 public:
  // `must`: the collectives that hocket carries out, by index; where the host is wrong others are left out.
  // `corrupt_each`: every so many cases, one byte of hocket's side is changed, to show that it is seen; 0: never.
  // `is_strict`: the host being wrong counts as a failure.
  Runner(const Switch& which, const Places& places, const std::vector<Communicator>& communicators,
         const std::vector<bool>& must, uint64_t corrupt_each, bool is_strict);

  void run(const Case& which);
  const Score& score(Collective collective) const { return scores_[static_cast<size_t>(collective)]; }
  // Cases in which this rank has had a byte changed.
  uint64_t corrupted() const { return corrupted_; }

 private:
  struct Call {
    int error;
    bool is_passed_through;
  };
  Call call_counted(const Case& which, const Part& part, const Communicator& communicator, bool by_hocket,
                    unsigned char* input, unsigned char* output);
  void run_barrier(const Case& which, const Communicator& communicator, Score& score);
  void run_data(const Case& which, const Communicator& communicator, Score& score);
  void fail(const Case& which, const Communicator& communicator, Score& score, const std::string& what);
  bool corrupt(const Case& which, const Image& input, const Image& output, unsigned char* in, unsigned char* out);

  const Switch& switch_;
  const Places& places_;
  const std::vector<Communicator>& communicators_;
  const std::vector<bool> must_;
  const uint64_t corrupt_each_;
  const bool is_strict_;
  std::vector<Score> scores_;
  std::vector<uint32_t> arrivals_;  // at barriers of each communicator
  uint64_t corrupted_ = 0;
  int reported_ = 0;
  int world_rank_ = 0;
};

}  // namespace conformance
