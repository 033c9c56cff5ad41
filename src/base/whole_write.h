// SPDX-License-Identifier: BSD-3-Clause
// Writing in other people's processes: all of it, or an error, and no signal.
//
// Thread safety: any thread.
#pragma once

#include <csignal>
#include <string_view>

namespace hocket {

// While it lives, what this thread does raises no such signal: it is taken back before anybody gets it, unless one was
// pending already. For those that a write raises in the thread that writes: SIGPIPE where nobody reads what is written,
// as when a launcher has ended, and SIGXFSZ, both of which end the process by default.
class WithoutSignal {
 public:
  explicit WithoutSignal(int signal);
  ~WithoutSignal();
  WithoutSignal(const WithoutSignal&) = delete;
  WithoutSignal& operator=(const WithoutSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
  bool is_blocked_ = false;
};

// 0, or errno's number. A pipe that takes nothing at the moment, though it never blocks, gets some seconds.
int write_whole(int descriptor, std::string_view text);

}  // namespace hocket
