// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace_setting.h"

#include <charconv>

namespace hocket {
namespace {

constexpr std::string_view kRing = "ring:";

Status refuse(std::string_view text, const std::string& why) {
  return {Code::kInvalidArgument, "HOCKET_TRACE=" + std::string(text) + ": " + why +
                                      "; give a file's name, in which %h is the host's name and %% is %, or "
                                      "ring:N:FILE for the last N events, 1 to " +
                                      std::to_string(TraceSetting::kMostEvents)};
}

// "", or what is wrong.
std::string problem_of_file(std::string_view file) {
  if (file.find_first_not_of(" \t\r\n") == std::string_view::npos) return "no file is named";
  if (file.back() == '/') return "a folder is no file";
  for (size_t at = file.find('%'); at != std::string_view::npos; at = file.find('%', at + 2))
    if (at + 1 == file.size() || (file[at + 1] != 'h' && file[at + 1] != '%'))
      return "`" + std::string(file.substr(at, 2)) + "` stands for nothing";
  return {};
}

}  // namespace

Result<TraceSetting> parse_trace_setting(std::string_view text) {
  TraceSetting setting;
  if (text.empty()) return setting;
  setting.events = TraceSetting::kAllEvents;
  std::string_view file = text;
  if (text.starts_with(kRing)) {
    const std::string_view rest = text.substr(kRing.size());
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return refuse(text, "a ring names the number of events and a file");
    const std::string_view number = rest.substr(0, colon);
    const auto [stop, error] = std::from_chars(number.begin(), number.end(), setting.events);
    if (error != std::errc() || stop != number.end() || setting.events == 0 ||
        setting.events > TraceSetting::kMostEvents)
      return refuse(text, "`" + std::string(number) + "` is no number of events");
    setting.at_events = true;
    file = rest.substr(colon + 1);
  }
  const std::string problem = problem_of_file(file);
  if (!problem.empty()) return refuse(text, problem);
  setting.file = file;
  return setting;
}

std::string trace_file_name(std::string_view pattern, std::string_view host) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size())
      name += pattern[i];
    else if (pattern[++i] == 'h')
      name += host;
    else
      name += pattern[i];
  }
  return name;
}

}  // namespace hocket
