// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace_setting.h"

#include <charconv>

#include "base/file_pattern.h"

namespace hocket {
namespace {

constexpr std::string_view kRing = "ring:";

Status refuse(std::string_view text, const std::string& why) {
  return {Code::kInvalidArgument, "HOCKET_TRACE=" + std::string(text) + ": " + why +
                                      "; give a file's name, in which %h is the host's name and %% is %, or "
                                      "ring:N:FILE for the last N events, 1 to " +
                                      std::to_string(TraceSetting::kMostEvents)};
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
  const std::string problem = problem_of_file_pattern(file);
  if (!problem.empty()) return refuse(text, problem);
  setting.file = file;
  return setting;
}

}  // namespace hocket
