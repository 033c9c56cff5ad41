// SPDX-License-Identifier: BSD-3-Clause
// hocket simulate --replay: a recorded run of a lab's NIC engines, once more in simulated time.
//
// Thread safety: one thread.
#pragma once

#include <string>

namespace hocket::command {

struct ReplayOptions {
  std::string file;
  std::string group;  // 16 digits; "": the one that there is
};

// Prints what was sent, and gives the exit code: kFailure where messages differ. `collective` and `algorithm`: "" for
// those that the recording names.
int simulate_replay(const ReplayOptions& options, const std::string& collective, const std::string& algorithm,
                    bool as_json);

}  // namespace hocket::command
