// SPDX-License-Identifier: BSD-3-Clause
// A terminal that shows one picture after the other in place, on its second screen, and reads keys meanwhile. Whatever
// ends it but SIGKILL, the terminal is afterwards as it was before.
//
// Where stdout is no terminal, or one that can't place text (TERM is "dumb", or not set), pictures follow each other.
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
  // The last picture, which is there afterwards, too, where others were drawn over each other.
  void show_last(const std::vector<std::string>& lines);
  enum class Event {
    kTime,   // it is over
    kLook,   // a key was pressed, or the window has changed
    kToEnd,  // the user wants an end
  };
  Event pause(double seconds);

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
