// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 of the forked ranks tells the parent: a line of text for each measurement.
//
// Thread safety: none. One process tells; the parent reads when it has ended.
#pragma once

#include <vector>

#include "tune/measure.h"

namespace hocket::command {

class Channel {
 public:
  Channel();
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool ok() const { return file_ >= 0; }
  void report(const Measurement& one);
  std::vector<Measurement> read() const;

 private:
  int file_;
};

}  // namespace hocket::command
