// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "platform/descriptor.h"

namespace hocket::platform {
namespace {

// Fields behind the name, the state's letter first.
enum : size_t { kState = 0, kParent = 1, kUserTicks = 11, kSystemTicks = 12, kThreads = 17, kStarted = 19, kFields };

template <typename Number>
bool read_field(std::string_view field, Number& value) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  const size_t begin = line.find('('), end = line.rfind(')');
  if (begin == line.npos || end == line.npos || end < begin) return std::nullopt;
  std::array<std::string_view, kFields> fields;
  std::string_view rest = line.substr(end + 1);
  for (std::string_view& field : fields) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const size_t length = std::min(rest.find_first_of(" \n"), rest.size());
    // A line that ends here may have been cut within the field.
    if (length == 0 || length == rest.size()) return std::nullopt;
    field = rest.substr(0, length);
    rest.remove_prefix(length);
  }
  ProcessStat stat;
  stat.name = line.substr(begin + 1, end - begin - 1);
  stat.state = fields[kState].front();
  const bool is_read = fields[kState].size() == 1 && read_field(fields[kParent], stat.parent) &&
                       read_field(fields[kUserTicks], stat.user_ticks) &&
                       read_field(fields[kSystemTicks], stat.system_ticks) &&
                       read_field(fields[kThreads], stat.threads) && read_field(fields[kStarted], stat.started);
  return is_read ? std::optional(std::move(stat)) : std::nullopt;
}

std::optional<ProcessStat> stat_of_process(pid_t process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  // Fifty-two numbers of at most twenty digits, and the name.
  char text[2048];
  size_t length = 0;
  while (length < sizeof text) {
    const ssize_t bytes = read(file.get(), text + length, sizeof text - length);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return std::nullopt;  // it has ended since
    if (bytes == 0) break;
    length += static_cast<size_t>(bytes);
  }
  return parse_process_stat({text, length});
}

}  // namespace hocket::platform
