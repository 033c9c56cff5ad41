// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_write.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace hocket {
namespace {

constexpr int kFullMs = 5000;

// False: it stays full, or there was another error.
bool has_room_soon(int descriptor) {
  pollfd waiting = {descriptor, POLLOUT, 0};
  return poll(&waiting, 1, kFullMs) > 0;
}

}  // namespace

WithoutSignal::WithoutSignal(int signal) {
  sigset_t pending;
  sigemptyset(&signal_);
  sigaddset(&signal_, signal);
  sigpending(&pending);
  was_pending_ = sigismember(&pending, signal) == 1;
  is_blocked_ = pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0;
}

WithoutSignal::~WithoutSignal() {
  if (!is_blocked_) return;
  const timespec now{};
  if (!was_pending_) sigtimedwait(&signal_, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int write_whole(int descriptor, std::string_view text) {
  const WithoutSignal no_reader(SIGPIPE), too_long(SIGXFSZ);
  while (!text.empty()) {
    const ssize_t bytes = write(descriptor, text.data(), text.size());
    if (bytes > 0) {
      text.remove_prefix(static_cast<size_t>(bytes));
    } else if (bytes == 0) {
      return EIO;
    } else if (errno == EAGAIN) {
      if (!has_room_soon(descriptor)) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace hocket
