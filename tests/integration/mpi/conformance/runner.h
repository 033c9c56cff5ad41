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

// One function's. Calls are those of this rank; each start of a persistent one counts.
struct Score {
  uint64_t cases = 0;
  uint64_t calls = 0;
  uint64_t carried_out = 0;
  uint64_t passed_through = 0;
  uint64_t by_design = 0;     // passed through as they should be
  uint64_t together = 0;      // with others, of which some were the host's
  uint64_t without_host = 0;  // cases that are left to this program's reckoning, the host being wrong
  uint64_t alone = 0;         // carried out on communicators of one rank
  uint64_t failures = 0;
  uint64_t host_wrong = 0;
  uint64_t host_traces = 0;
};

struct Rules {
  std::vector<bool> must;     // hocket carries these out, by collective; where the host is wrong others are left out
  uint64_t corrupt_each = 0;  // cases in which one byte of hocket's side is changed, to show that it is seen; 0: none
  bool is_strict = false;     // the host being wrong counts as a failure
  Forms forms = Forms::kAll;
};

class Runner {
 public:
  Runner(const Switch& which, const Places& places, const std::vector<Communicator>& communicators, const Rules& rules);

  void run(const Case& which);
  const Score& score(Form form, Collective collective) const {
    return scores_[static_cast<size_t>(form) * kCollectives + static_cast<size_t>(collective)];
  }
  // Cases in which this rank has had a byte changed.
  uint64_t corrupted() const { return corrupted_; }

 private:
  // The data of one round: what goes in, what must come out, and what the host makes of it.
  struct Round {
    Image input, output;
    std::vector<unsigned char> host;
    bool is_host_asked = false;
  };
  // What one case is made with, and what has been found so far.
  struct Trial {
    const Communicator& communicator;
    const Part& part;
    const Buffer& in;
    const Buffer& out;
    std::string wrong, doubt;
    bool is_corrupted = false;
  };
  Score& score_of(const Case& which);
  // The same call in each of the forms in which it is to be made, and can be.
  std::vector<Case> made_in(const std::vector<Form>& forms, const Case& which, const Communicator& communicator) const;
  // Made by hocket. `before`: what it had carried out when the call began. True: the host has made the call.
  bool count_call(const Case& which, const Communicator& communicator, uint64_t before);

  void run_barriers(const Case& which, const Communicator& communicator, const std::vector<Case>& made);
  void run_barrier(const Case& which, const Communicator& communicator, bool by_hocket);
  void run_data(const Case& which, const Communicator& communicator, const std::vector<Case>& made);
  void run_once(const Case& which, Trial& trial, Round& round);
  void run_persistent(const Case& which, Trial& trial, Round& round, bool has_host);
  Round make_round(const Case& which, const Part& part, bool has_host) const;
  void fill(const Trial& trial, const Round& round) const;
  void ask_host(const Case& which, Trial& trial, Round& round);
  void judge(const Case& which, Trial& trial, const Round& round, bool is_passed_through);
  void check_input(const Case& which, Trial& trial, const Round& round);
  void fail(const Case& which, const Communicator& communicator, const std::string& what);
  void corrupt(const Case& which, Trial& trial, const Round& round);

  const Switch& switch_;
  const Places& places_;
  const std::vector<Communicator>& communicators_;
  const Rules rules_;
  std::vector<Score> scores_;
  std::vector<uint32_t> arrivals_;  // at barriers of each communicator
  uint64_t corrupted_ = 0;
  int reported_ = 0;
  int world_rank_ = 0;
};

}  // namespace conformance
