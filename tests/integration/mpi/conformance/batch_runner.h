// SPDX-License-Identifier: BSD-3-Clause
// Carries batches out, compares each call of them with the host's blocking one, and keeps the score.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batches.h"
#include "buffers.h"
#include "calls.h"
#include "messages.h"
#include "runner.h"

namespace conformance {

class BatchRunner {
 public:
  BatchRunner(const Switch& which, const Places& places, const std::vector<Communicator>& communicators,
              const Rules& rules);
  ~BatchRunner();

  void run(const Batch& batch);
  const Score& score(Form form, Collective collective) const {
    return scores_[static_cast<size_t>(form) * kCollectives + static_cast<size_t>(collective)];
  }
  // Beside those of single calls.
  uint64_t other_failures() const { return other_failures_; }
  uint64_t corrupted() const { return corrupted_; }

 private:
  struct Running;

  Score& score_of(const Case& which);
  // Whether it must carry that out.
  bool is_hockets(const Case& item, const Communicator& communicator) const;
  void prepare(const Batch& batch);
  void plan(Running& running);
  void run_turn(const Batch& batch, uint64_t turn, Messages& messages);
  std::vector<Running*> order(const Batch& batch);
  void start(const std::vector<Running*>& those, Messages* messages, std::vector<Pending>& pending);
  void begin(Running& running, std::vector<Pending>& pending);
  void count_arrivals();
  std::vector<Pending> begin_all(const Batch& batch, Messages& messages);
  void look_at(const Ended& ended, const Messages& messages, uint64_t carried_out);
  void judge_data(const Batch& batch, Running& running);
  void compare_with_host(const Batch& batch, Running& running);
  void corrupt(const Batch& batch, Running& running);
  void count_carried_out(uint64_t number);
  void fail(const std::string& what);
  void report(const std::string& what);

  const Switch& switch_;
  const Places& places_;
  const std::vector<Communicator>& communicators_;
  const Rules rules_;
  std::vector<Score> scores_;
  std::vector<uint32_t> arrivals_;  // at barriers of each communicator
  std::vector<std::unique_ptr<Running>> running_;
  Random own_{0};  // what this rank alone decides, in this batch
  std::string where_;
  uint64_t corrupted_ = 0;
  uint64_t other_failures_ = 0;
  int reported_ = 0;
  int world_rank_ = 0;
};

}  // namespace conformance
