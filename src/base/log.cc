// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include "base/environment.h"
#include "base/whole_write.h"

namespace hocket::log {
namespace {

constexpr std::string_view kNames[] = {"error", "warn", "info", "debug"};

// Longer messages are cut: a write of this size is not torn apart on a pipe (PIPE_BUF is 4096 on Linux).
constexpr size_t kLineBytes = 4096;

}  // namespace

std::optional<Level> level_from_name(std::string_view text) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Level>(found - std::begin(kNames));
}

void set_level(Level level) {
  // Relaxed, see shown_level.
  internal::shown_level.store(static_cast<int>(level), std::memory_order_relaxed);
}

namespace internal {

int read_level() {
  int level = static_cast<int>(Level::kWarn);
  Status problem;
  if (auto text = environment::get_text("HOCKET_LOG"); text.is_ok()) {
    level = static_cast<int>(level_from_name(text.value()).value_or(Level::kWarn));
  } else {
    problem = text.take_status();
  }
  // Stored before the complaint is written, which asks for the level itself. Relaxed, see shown_level. A level that
  // set_level() has stored meanwhile stays.
  int expected = kUnread;
  if (!shown_level.compare_exchange_strong(expected, level, std::memory_order_relaxed)) return expected;
  if (!problem.is_ok()) write(Level::kWarn, "%s", problem.message());
  return level;
}

void write(Level level, const char* format, ...) {
  const int saved_errno = errno;
  char line[kLineBytes];
  const std::string_view name = kNames[static_cast<int>(level)];
  int used = std::snprintf(line, sizeof line, "hocket[%d]: %.*s%s", static_cast<int>(getpid()),
                           level == Level::kInfo ? 0 : static_cast<int>(name.size()), name.data(),
                           level == Level::kInfo ? "" : ": ");
  std::va_list arguments;
  va_start(arguments, format);
  used += std::max(0, std::vsnprintf(line + used, sizeof line - used, format, arguments));
  va_end(arguments);
  size_t length = std::min(static_cast<size_t>(used), sizeof line - 1);
  // One line a message, whatever it quotes.
  std::replace(line, line + length, '\n', ' ');
  line[length++] = '\n';
  {
    const WithoutSignal no_reader(SIGPIPE);
    // A closed stderr can't be reported; an interrupted write is tried once more.
    if (::write(STDERR_FILENO, line, length) < 0 && errno == EINTR) {
      [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line, length);
    }
  }
  errno = saved_errno;
}

}  // namespace internal
}  // namespace hocket::log
