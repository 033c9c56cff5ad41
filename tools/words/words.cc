// SPDX-License-Identifier: BSD-3-Clause
#include "words/words.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/environment.h"
#include "base/size_text.h"

namespace hocket::command {
std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

Result<double> read_time(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "ms" ? 1e-3 : 0;
  if (end == text.c_str() || factor == 0 || !(number * factor > 0) || number * factor > 86400)
    return Status(Code::kInvalidArgument, option + " " + text + ": a time up to a day, such as 60s, 5m or 500ms");
  return number * factor;
}

Result<std::vector<uint64_t>> read_sizes(const std::string& option, const std::string& text) {
  constexpr uint64_t kMost = 1ull << 32;
  std::vector<uint64_t> sizes;
  for (const std::string& word : split_at_commas(text)) {
    const size_t dots = word.find("..");
    Result<uint64_t> first = parse_size(word.substr(0, dots));
    if (!first.is_ok()) return first.take_status();
    Result<uint64_t> last = parse_size(dots == std::string::npos ? word : word.substr(dots + 2));
    if (!last.is_ok()) return last.take_status();
    if (first.value() == 0 || first.value() > last.value() || last.value() > kMost)
      return Status(Code::kInvalidArgument, "`" + word + "`: sizes go from 1 byte to 4G, and ranges upwards");
    for (uint64_t size = first.value(); size <= last.value(); size *= 2) sizes.push_back(size);
  }
  if (sizes.empty()) return Status(Code::kInvalidArgument, option + " names no size");
  return sizes;
}

Status check_writable(const std::string& option, const std::string& path) {
  if (path.empty()) return Status::ok();
  const bool is_new = access(path.c_str(), F_OK) != 0;
  const std::ofstream file(path, std::ios::app);
  if (!file) return Status(Code::kInvalidArgument, option + ": can't write " + path + ": " + std::strerror(errno));
  if (is_new) unlink(path.c_str());
  return Status::ok();
}

const char* why_no_multicast() {
  constexpr int kOn = 1;
  constexpr int kOff = 2;
  const Result<int> setting = environment::get_enum("HOCKET_MULTICAST");
  if (setting.is_ok() && setting.value() == kOn) return "";
  if (setting.is_ok() && setting.value() == kOff) return "HOCKET_MULTICAST=off";
  return "no network is tried here; HOCKET_MULTICAST=on takes it for granted";
}

}  // namespace hocket::command
