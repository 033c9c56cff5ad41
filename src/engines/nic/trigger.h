// SPDX-License-Identifier: BSD-3-Clause
// A NIC group as the carrier of one sequence of calls: a step that stands for messages to other nodes (kTrigger) begins
// an operation and is done when the engine has carried it out.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engines/executor/transport.h"
#include "engines/nic/port.h"

namespace hocket::engines::nic {

class Trigger {
 public:
  // names[i]: what errors call member i.
  Trigger(std::unique_ptr<Group> group, std::vector<std::string> names)
      : group_(std::move(group)), names_(std::move(names)) {}

  Progress run(const Instruction& step, StepState& state);
  // Whether the engine has something under way for this rank.
  bool is_busy() const { return !group_->is_idle(); }
  bool has_failed() const { return !failure_.is_ok(); }
  Status take_failure() { return std::exchange(failure_, Status::ok()); }
  // The member that has broken the group; all ones: none, or nobody knows.
  uint32_t culprit() const { return group_->culprit(); }
  // Tells the other members that this one fails. False: it can't, since the engine has gone.
  bool abandon() { return group_->abandon(); }
  // What run() doesn't look for each time: an engine that has gone, and a bell that was not heard. For every now and
  // then.
  Status check();
  // Until an operation ends, or `limit_ns` are over; returns at once if none is under way. Gives whether it is not the
  // time that ended it.
  bool sleep(int64_t limit_ns);

 private:
  Status health() const;

  std::unique_ptr<Group> group_;
  std::vector<std::string> names_;
  Status failure_;
};

}  // namespace hocket::engines::nic
