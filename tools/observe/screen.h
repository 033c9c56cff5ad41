// SPDX-License-Identifier: BSD-3-Clause
// A terminal that shows one picture after the other in place, on its second screen, and reads keys meanwhile. Whatever
// ends it but SIGKILL, the terminal is afterwards as it was before.
//
// Where stdout is no terminal, pictures follow each other.
//
// Thread safety: one thread; one at a time, since it handles signals.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace hocket::observe {

class Screen {
 public:
  // `draws`: in place, where there is a terminal.
  explicit Screen(bool draws);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  bool is_terminal() const { return is_terminal_; }
  size_t width() const;   // characters
  size_t height() const;  // lines
  void show(const std::vector<std::string>& lines);
  // Until the time is over, or a key is pressed or the window changes. False: the user wants an end.
  bool pause(double seconds);

 private:
  void enter();
  void leave();

  bool is_terminal_ = false;
  bool reads_keys_ = false;
  bool is_entered_ = false;
  termios before_{};
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
  struct sigaction handled_before_[std::size(kSignals)] = {};
};

}  // namespace hocket::observe
