// SPDX-License-Identifier: BSD-3-Clause
// The processes of a job on this machine, found once: a look through all of /proc takes milliseconds, and ranks that
// wait look again and again, all of a node at the same time.
//
// Thread safety: any thread.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "platform/whereabouts/observer.h"

namespace hocket::platform {

class JobProcesses {
 public:
  // Records of those that were found before and are still there; at first, and where none is, of all there are.
  std::vector<SeenRecord> records(std::string_view job);
  // Of all there are.
  std::vector<SeenRecord> look_anew(std::string_view job);

 private:
  std::mutex mutex_;  // held while nothing is read
  std::vector<int> known_;
};

}  // namespace hocket::platform
