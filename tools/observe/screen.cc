// SPDX-License-Identifier: BSD-3-Clause
#include "observe/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/clock.h"

namespace hocket::observe {
namespace {

// Written by handlers, read by the one thread.
volatile sig_atomic_t is_to_end = 0;
volatile sig_atomic_t is_to_stop = 0;
volatile sig_atomic_t has_changed = 0;

void note_signal(int signal) {
  if (signal == SIGWINCH)
    has_changed = 1;
  else if (signal == SIGTSTP)
    is_to_stop = 1;
  else
    is_to_end = 1;
}

// The second screen, without the cursor, and no line goes on in the next one.
constexpr const char* kEnter = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
constexpr const char* kLeave = "\033[?7h\033[?25h\033[?1049l";

void write_all(const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t bytes = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      is_to_end = 1;  // nobody sees it any more
      return;
    }
    done += static_cast<size_t>(bytes);
  }
}

bool can_place_text() {
  const char* const name = std::getenv("TERM");
  return name != nullptr && *name != 0 && std::string_view(name) != "dumb";
}

size_t window(bool is_width, size_t otherwise) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return otherwise;
  const size_t found = is_width ? size.ws_col : size.ws_row;
  return found == 0 ? otherwise : found;
}

}  // namespace

Screen::Screen(bool draws) : is_terminal_(draws && isatty(STDOUT_FILENO) == 1 && can_place_text()) {
  reads_keys_ = is_terminal_ && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
  is_to_end = 0;
  is_to_stop = 0;
  has_changed = 0;
  struct sigaction handler{};
  handler.sa_handler = note_signal;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &handled_before_[i]);
    // What is ignored, as by nohup, stays so. Without a screen there is nothing to put away before a stop.
    if (handled_before_[i].sa_handler == SIG_IGN || (kSignals[i] == SIGTSTP && !is_terminal_)) continue;
    sigaction(kSignals[i], &handler, nullptr);
  }
  enter();
}

Screen::~Screen() {
  leave();
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &handled_before_[i], nullptr);
}

void Screen::enter() {
  if (!is_terminal_ || is_entered_) return;
  is_entered_ = true;
  if (reads_keys_ && tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  }
  write_all(kEnter);
}

void Screen::leave() {
  if (!is_entered_) return;
  is_entered_ = false;
  write_all(kLeave);
  if (reads_keys_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

size_t Screen::width() const { return window(true, 80); }
size_t Screen::height() const { return window(false, 24); }

void Screen::show(const std::vector<std::string>& lines) {
  std::string text = is_entered_ ? "\033[H" : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    // A newline on the last line would move the picture.
    if (is_entered_) text += "\033[K";
    if (!is_entered_ || i + 1 < lines.size()) text += "\n";
  }
  if (is_entered_) text += "\033[J";
  write_all(text);
}

void Screen::show_last(const std::vector<std::string>& lines) {
  leave();
  show(lines);
}

Screen::Event Screen::pause(double seconds) {
  const uint64_t end_ns = now_ns() + static_cast<uint64_t>(seconds * 1e9);
  while (is_to_end == 0) {
    if (is_to_stop != 0) {
      is_to_stop = 0;
      leave();
      (void)raise(SIGSTOP);
      enter();
      return Event::kLook;
    }
    if (has_changed != 0) {
      has_changed = 0;
      return Event::kLook;
    }
    const uint64_t now = now_ns();
    if (now >= end_ns) return Event::kTime;
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    const int left_ms = static_cast<int>(std::min<uint64_t>((end_ns - now) / 1'000'000 + 1, 1000));
    if (poll(&keys, reads_keys_ ? 1 : 0, left_ms) <= 0) continue;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) != 1) return Event::kToEnd;  // the terminal has gone
    return key == 'q' || key == 'Q' ? Event::kToEnd : Event::kLook;
  }
  return Event::kToEnd;
}

}  // namespace hocket::observe
