// SPDX-License-Identifier: BSD-3-Clause
// Messages to the person who runs the program: lines "hocket[pid]: ..." on stderr.
//
// The code that first knows the cause logs it; code that passes a Status on does not log again. HOCKET_LOG chooses the
// lowest level that is shown: error, warn (the default), info, debug.
//
// Thread safety: any thread. A message is one line and one write(), so lines of several ranks don't mix.
// A message that is not shown costs one load and one comparison; its arguments are not evaluated.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>

namespace hocket::log {

enum class Level : int { kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };

std::optional<Level> level_from_name(std::string_view text);

// Overrides HOCKET_LOG.
void set_level(Level level);

namespace internal {

inline constexpr int kUnread = -1;
// The most talkative level shown, or kUnread until HOCKET_LOG has been looked at. Relaxed everywhere: the value
// stands for itself and orders nothing else; two threads that both read the environment store the same.
inline std::atomic<int> shown_level{kUnread};

int read_level();
void write(Level level, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

}  // namespace internal

inline bool shows(Level level) {
  int shown = internal::shown_level.load(std::memory_order_relaxed);
  if (shown == internal::kUnread) shown = internal::read_level();
  return static_cast<int>(level) <= shown;
}

}  // namespace hocket::log

#define HOCKET_LOG_AT(level, ...)                         \
  do {                                                    \
    if (::hocket::log::shows(level)) [[unlikely]]         \
      ::hocket::log::internal::write(level, __VA_ARGS__); \
  } while (false)
// printf formats, without a newline.
#define HOCKET_LOG_ERROR(...) HOCKET_LOG_AT(::hocket::log::Level::kError, __VA_ARGS__)
#define HOCKET_LOG_WARN(...) HOCKET_LOG_AT(::hocket::log::Level::kWarn, __VA_ARGS__)
#define HOCKET_LOG_INFO(...) HOCKET_LOG_AT(::hocket::log::Level::kInfo, __VA_ARGS__)
#define HOCKET_LOG_DEBUG(...) HOCKET_LOG_AT(::hocket::log::Level::kDebug, __VA_ARGS__)
