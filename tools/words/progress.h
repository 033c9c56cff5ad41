// SPDX-License-Identifier: BSD-3-Clause
// How far measuring is, on stderr: a line that changes on a terminal, else a line for each new topic.
//
// Thread safety: none; one process at a time speaks.
#pragma once

#include <cstdint>
#include <string>

namespace hocket::command {

class Progress {
 public:
  // `budget_s`: of time, where there is one.
  explicit Progress(double budget_s = 0);

  double spent_s() const;
  double left_s() const { return budget_s_ - spent_s(); }
  // How much of the budget is spent, and on what.
  void say(const std::string& topic, const std::string& detail);
  // The same with words for how far it is: " 12 %".
  void say_at(const std::string& how_far, const std::string& topic, const std::string& detail);
  // Takes the changing line away.
  void clear();

 private:
  double budget_s_;
  uint64_t begin_ns_;
  bool is_terminal_;
  std::string last_topic_;
};

}  // namespace hocket::command
