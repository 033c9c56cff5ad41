// SPDX-License-Identifier: BSD-3-Clause
// How many files `hocket run` may have open: the ranks' connections and, with --label, their streams are all its own.
//
// The launcher takes what the hard limit allows. Ranks get the limit back that the user has: a program that uses
// select(2) is better off with low descriptors, and libhocket raises it where it must.
//
// Thread safety: one thread.
#pragma once

#include <sys/resource.h>

#include <string>

#include "run/options.h"

namespace hocket::command {

class DescriptorLimit {
 public:
  // "" or why that many ranks can't be run.
  std::string raise(const RunOptions& options);
  // In a child that becomes a rank.
  void restore() const;

 private:
  rlimit before_{};
  bool is_raised_ = false;
};

}  // namespace hocket::command
