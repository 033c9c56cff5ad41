// SPDX-License-Identifier: BSD-3-Clause
#include "words/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace hocket::command {

Progress::Progress(double budget_s)
    : budget_s_(budget_s), begin_ns_(now_ns()), is_terminal_(isatty(STDERR_FILENO) == 1) {}

double Progress::spent_s() const { return static_cast<double>(now_ns() - begin_ns_) / 1e9; }

void Progress::say(const std::string& topic, const std::string& detail) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%",
                budget_s_ > 0 ? std::clamp(spent_s() / budget_s_ * 100, 0.0, 100.0) : 0);
  say_at(percent, topic, detail);
}

void Progress::say_at(const std::string& how_far, const std::string& topic, const std::string& detail) {
  if (is_terminal_) {
    std::fprintf(stderr, "\r\033[K[%s] %s%s%s", how_far.c_str(), topic.c_str(), detail.empty() ? "" : ", ",
                 detail.c_str());
    std::fflush(stderr);
  } else if (topic != last_topic_) {
    std::fprintf(stderr, "[%s] %s\n", how_far.c_str(), topic.c_str());
  }
  last_topic_ = topic;
}

void Progress::clear() {
  if (is_terminal_) std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace hocket::command
