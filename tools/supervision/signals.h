// SPDX-License-Identifier: BSD-3-Clause
// The signals of a supervisor: taken one by one where it suits, never by a handler; ranks start as if it were not
// there.
//
// Thread safety: for processes with one thread, but for signal_text(), which any thread may call.
#pragma once

#include <csignal>

#include <string>

namespace hocket::supervision {

class Signals {
 public:
  // Blocks what waited() holds, and ignores SIGPIPE.
  Signals();
  // As they were. For a rank, before it becomes its program.
  void restore() const;
  // SIGCHLD, and those that end a program from outside, except where they were ignored already (nohup, a shell's &).
  const sigset_t& waited() const { return waited_; }

 private:
  sigset_t waited_ = {};
  sigset_t mask_ = {};
  struct sigaction pipe_ = {};
};

// What the launcher tells its supervisor.
struct Interruption {
  int signal = 0;
  bool from_terminal = false;  // the terminal has sent it to the ranks too
};

// "signal 9 (SIGKILL)"
std::string signal_text(int signal);

}  // namespace hocket::supervision
