// SPDX-License-Identifier: BSD-3-Clause
// One rank of `hocket run` comes to be.
//
// Thread safety: for processes with one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "run/limits.h"
#include "run/options.h"
#include "supervision/signals.h"

namespace hocket::command {

struct RankStreams {  // -1: as the launcher's own
  int input = -1;
  int output = -1;
  int error = -1;
};

struct RankStart {
  pid_t process = -1;
  int exit_code = 0;    // of the launcher, where it failed
  std::string trouble;  // "": it runs
};

// Starts the program, and returns when it has started or can't. It is killed when the calling process ends.
// `place`: what HOCKET_RUN shall hold.
RankStart start_rank(const RunOptions& options, const supervision::Signals& signals, const DescriptorLimit& descriptors,
                     int rank, const std::string& place, const RankStreams& streams);

}  // namespace hocket::command
