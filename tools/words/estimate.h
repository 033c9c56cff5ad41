// SPDX-License-Identifier: BSD-3-Clause
// How long what is left of some work will take, by how long what is done has taken.
//
// Thread safety: none.
#pragma once

#include <string>

namespace hocket::command {

class Estimate {
 public:
  // Of all pieces together what they are expected to take, in any unit: only how they compare counts.
  explicit Estimate(double expected) : expected_(expected) {}

  // A piece that was expected to take `expected` has taken that many seconds.
  void add(double expected, double seconds) {
    done_ += expected;
    seconds_ += seconds;
  }
  double share() const { return expected_ > 0 ? done_ / expected_ : 1; }
  // Less than 0: nothing is done yet.
  double left_s() const { return done_ > 0 ? seconds_ / done_ * (expected_ - done_) : -1; }
  // " 12 %, 40 min left".
  std::string text() const;

 private:
  double expected_;
  double done_ = 0;
  double seconds_ = 0;
};

// "40 s", "12 min", "2 h 5 min".
std::string time_text(double seconds);

}  // namespace hocket::command
