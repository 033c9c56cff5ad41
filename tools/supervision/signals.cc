// SPDX-License-Identifier: BSD-3-Clause
#include "supervision/signals.h"

#include <cstring>

// glibc's, from 2.32 on. Weak: what was built against an older one asks the one it meets.
extern "C" __attribute__((weak)) const char* sigabbrev_np(int signal) noexcept;

namespace hocket::supervision {

Signals::Signals() {
  sigemptyset(&waited_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction present{};
    if (sigaction(signal, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) sigaddset(&waited_, signal);
  }
  sigaddset(&waited_, SIGCHLD);
  // Our parent may have ignored it, and then no child could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_);
  sigprocmask(SIG_BLOCK, &waited_, &mask_);
}

void Signals::restore() const {
  sigaction(SIGPIPE, &pipe_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

std::string signal_text(int signal) {
  std::string text = "signal " + std::to_string(signal);
  const char* const name = sigabbrev_np == nullptr ? nullptr : sigabbrev_np(signal);
  if (name != nullptr) text += std::string(" (SIG") + name + ")";
  return text;
}

}  // namespace hocket::supervision
