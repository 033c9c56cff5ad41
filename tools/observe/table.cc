// SPDX-License-Identifier: BSD-3-Clause
#include "observe/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

namespace hocket::observe {
namespace {

constexpr size_t kMostNamed = 4;       // ranges of ranks in a list
constexpr size_t kShortestPlace = 12;  // characters
constexpr size_t kNicePlace = 32;      // for which columns are left out
constexpr size_t kGap = 2;             // between columns
constexpr const char* kBold = "\033[1m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kYellow = "\033[33m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kPlain = "\033[0m";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

size_t length_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// With ".." at the end where something was cut off.
std::string cut(const std::string& text, size_t most) {
  if (length_of(text) <= most) return text;
  constexpr size_t kDots = 2;
  const size_t kept = most > kDots ? most - kDots : 0;
  std::string shown;
  size_t characters = 0;
  for (const char byte : text) {
    if (begins_character(byte) && ++characters > kept) break;
    shown += byte;
  }
  return shown + std::string(std::min(most, kDots), '.');
}

std::string padded(std::string text, size_t width, bool is_right) {
  const size_t length = length_of(text);
  if (length >= width) return text;
  return is_right ? std::string(width - length, ' ') + text : text + std::string(width - length, ' ');
}

std::string percent(const std::optional<double>& share) {
  return share ? std::to_string(std::lround(*share * 100)) + " %" : "-";
}

std::string rate_of(const std::optional<double>& rate) {
  if (!rate) return "-";
  char text[32];
  std::snprintf(text, sizeof text, *rate < 9.95 ? "%.1f" : "%.0f", *rate);
  return text;
}

std::optional<int> number_in(const std::string& name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

struct Column {
  const char* name;
  bool is_right;
  std::string (*text)(const RankView&);
};

// Shorter than in a sentence: of communicators with a name, the name.
std::string place_of(const RankView& one) {
  std::string text = one.place + (one.after.empty() ? "" : ", after " + one.after);
  const std::string word = " of communicator \"";
  if (const size_t at = text.find(word); at != text.npos) text.replace(at, word.size(), " of \"");
  return text;
}

constexpr Column kRank = {"RANK", true,
                          [](const RankView& one) { return one.rank < 0 ? "?" : std::to_string(one.rank); }};
constexpr Column kProcess = {"PROCESS", true, [](const RankView& one) { return std::to_string(one.process); }};
constexpr Column kLate = {"LATE", true,
                          [](const RankView& one) { return one.awaited_by_count == 0 ? "-" : time_of(one.late_s); }};
constexpr Column kWhere = {"WHERE", false, place_of};
constexpr Column kFor = {"FOR", true, [](const RankView& one) {
                           return one.state == kHasEnded || one.place.empty() ? "-" : time_of(one.for_s);
                         }};
constexpr Column kWaitsFor = {"WAITS FOR", false,
                              [](const RankView& one) { return list_of(one.waits_for, one.waits_for_count); }};
constexpr Column kState = {"STATE", false, [](const RankView& one) { return one.state; }};
constexpr Column kWaited = {"WAITED", true, [](const RankView& one) { return percent(one.waited_share); }};
constexpr Column kCpu = {"CPU", true, [](const RankView& one) { return percent(one.cpu_share); }};

constexpr Column kCalls = {"CALLS/S", true, [](const RankView& one) { return rate_of(one.calls_per_s); }};

// The first that a narrow terminal does without stands last.
constexpr Column kSpared[] = {kWaited, kCpu, kState, kCalls};

std::vector<Column> columns_of(const TableOptions& options) {
  if (options.has_rates) return {kRank, kProcess, kLate, kWaited, kCpu, kCalls, kWhere, kFor, kWaitsFor, kState};
  return {kRank, kProcess, kLate, kWhere, kFor, kWaitsFor, kState};
}

struct Layout {
  std::vector<Column> columns;
  std::vector<size_t> widths;
};

size_t width_of(const Column& column, const std::vector<RankView>& ranks, size_t rows) {
  size_t most = length_of(column.name);
  for (size_t i = 0; i < rows; ++i) most = std::max(most, length_of(column.text(ranks[i])));
  return most;
}

// Where lines are too long for the terminal columns are left out, then the place gives way, and what is still too long
// is cut at its end.
Layout layout_of(const std::vector<RankView>& ranks, size_t rows, const TableOptions& options) {
  Layout layout{columns_of(options), {}};
  for (const Column& column : layout.columns) layout.widths.push_back(width_of(column, ranks, rows));
  const auto find = [&](const Column& column) {
    return std::find_if(layout.columns.begin(), layout.columns.end(),
                        [&](const Column& one) { return one.text == column.text; });
  };
  const auto surplus = [&] {
    size_t all = 0;
    for (const size_t width : layout.widths) all += width + kGap;
    return options.width != 0 && all > options.width ? all - options.width : 0;
  };
  const auto place = [&]() -> size_t& {
    return layout.widths[static_cast<size_t>(find(kWhere) - layout.columns.begin())];
  };
  for (size_t i = std::size(kSpared); i-- > 0 && surplus() != 0 && place() < surplus() + kNicePlace;) {
    const auto spared = find(kSpared[i]);
    if (spared == layout.columns.end()) continue;
    layout.widths.erase(layout.widths.begin() + (spared - layout.columns.begin()));
    layout.columns.erase(spared);
  }
  const size_t most = place(), least = std::min(most, kShortestPlace), too_long = surplus();
  place() = std::max(least, most > too_long ? most - too_long : 0);
  return layout;
}

template <typename Cell>
std::string line_of(const Layout& layout, size_t width, const Cell& cell) {
  std::string line;
  for (size_t i = 0; i < layout.columns.size(); ++i) {
    const Column& column = layout.columns[i];
    line += std::string(kGap, ' ') + padded(cut(cell(column), layout.widths[i]), layout.widths[i], column.is_right);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return width == 0 ? line : cut(line, width);
}

std::string coloured(const std::string& line, const char* colour, const TableOptions& options) {
  return options.has_colours && *colour != 0 ? colour + line + kPlain : line;
}

const char* colour_of(const RankView& one, const TableOptions& options) {
  if (one.awaited_by_count != 0 && one.late_s >= options.late_after_s)
    return one.standing == Standing::kLate ? kRed : kYellow;
  return one.standing == Standing::kEnded ? kDim : "";
}

// Where the first `characters` of a text end.
size_t bytes_of(const std::string& text, size_t characters) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && ++seen > characters) break;
  return at;
}

// In as many lines as they need: what is wrong is not cut, but where there is no room for words.
void add_wrapped(const std::string& text, const char* colour, const TableOptions& options,
                 std::vector<std::string>& lines) {
  constexpr size_t kNarrowest = 20;
  std::string rest = text;
  while (options.width >= kNarrowest && length_of(rest) > options.width) {
    const size_t most = bytes_of(rest, options.width);
    size_t blank = rest.rfind(' ', most);
    if (blank == std::string::npos || blank < most / 2) blank = most;
    lines.push_back(coloured(rest.substr(0, blank), colour, options));
    rest.erase(0, blank);
    rest = "  " + rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  lines.push_back(coloured(options.width == 0 ? rest : cut(rest, options.width), colour, options));
}

std::string to_be_looked_at(const RankView& one) {
  return "where " + (one.rank < 0 ? "process " + std::to_string(one.process) : "rank " + std::to_string(one.rank)) +
         " is: gdb -p " + std::to_string(one.process) + " -batch -ex 'thread apply all bt'";
}

// The cause, if there is one that waits for nobody; else one of those that wait in a ring.
const RankView* first_to_look_at(const JobView& job) {
  if (job.here.front().standing == Standing::kLate) return &job.here.front();
  const auto in_ring =
      std::find_if(job.here.begin(), job.here.end(), [](const RankView& one) { return one.is_in_ring; });
  return in_ring == job.here.end() ? &job.here.front() : &*in_ring;
}

std::vector<std::string> findings_of(const JobView& job, const TableOptions& options) {
  std::vector<std::string> lines;
  if (job.here.empty()) return lines;
  for (const std::string& one : job.deadlocks) add_wrapped("a deadlock: " + one, kRed, options, lines);
  for (const std::string& one : job.possible_deadlocks)
    add_wrapped("perhaps a deadlock: " + one, kYellow, options, lines);
  const bool is_late = job.late_s() > 0 && job.late_s() >= options.late_after_s;
  const bool is_stuck = !is_late && job.stuck_s() > 0 && job.stuck_s() >= options.late_after_s;
  if (is_stuck)
    add_wrapped(
        "nobody is known to be late, and all ranks have been in calls for " + time_of(job.stuck_s()) + " or longer",
        kYellow, options, lines);
  const RankView* const first = first_to_look_at(job);
  if ((is_late || is_stuck) && first->state != kHasEnded) add_wrapped(to_be_looked_at(*first), "", options, lines);
  return lines;
}

}  // namespace

std::string time_of(double seconds) {
  char text[32];
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1f s", std::max(seconds, 0.0));
    return text;
  }
  const double most = 1e9;
  const auto whole = static_cast<long>(std::min(seconds, most));
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string(whole / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string list_of(const std::vector<std::string>& names, size_t count) {
  if (names.empty()) return count == 0 ? "-" : std::to_string(count) + (count == 1 ? " rank" : " ranks");
  std::vector<int> numbers;
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (const auto number = number_in(name))
      numbers.push_back(*number);
    else
      others.push_back(name);
  }
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  size_t shown = 0, ranges = 0;
  for (size_t begin = 0; begin < numbers.size() && ranges < kMostNamed; ++ranges) {
    size_t end = begin;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (end == begin + 1) end = begin;  // two are shorter with a comma
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[begin]);
    if (end != begin) text += "-" + std::to_string(numbers[end]);
    shown += end - begin + 1;
    begin = end + 1;
  }
  for (const std::string& name : others) {
    if (ranges++ >= kMostNamed) break;
    text += (text.empty() ? "" : ", ") + name;
    ++shown;
  }
  const size_t all = std::max(count, names.size());
  return shown < all ? text + " and " + std::to_string(all - shown) + " more" : text;
}

std::string heading_of(const JobView& job) {
  const size_t here = static_cast<size_t>(
      std::count_if(job.here.begin(), job.here.end(), [](const RankView& one) { return one.state != kHasEnded; }));
  std::string text =
      "job " + job.label + ": " + (job.program.empty() ? "a program" : job.program) + ", " + std::to_string(here);
  if (job.ranks > 0) text += " of " + std::to_string(job.ranks);
  text += job.ranks == 1 ? " rank" : " ranks";
  if (!job.host.empty()) text += " on " + job.host;
  return job.library.empty() ? text : text + ", " + job.library;
}

std::vector<std::string> table_of(const JobView& job, const TableOptions& options) {
  std::vector<std::string> findings = findings_of(job, options);
  constexpr size_t kHeadLines = 2, kFewestRows = 1;
  // Some ranks rather than all that is said of them, and the latest rather than how many more there are.
  const size_t fewest = std::min(job.here.size(), kFewestRows) + (job.here.size() > kFewestRows ? 1 : 0);
  while (options.lines != 0 && !findings.empty() && kHeadLines + fewest + findings.size() > options.lines)
    findings.pop_back();
  size_t rows = job.here.size();
  const size_t others = kHeadLines + findings.size();
  if (options.lines != 0 && rows + others > options.lines)
    rows = std::min(rows, std::max(options.lines > others + 1 ? options.lines - others - 1 : 0, kFewestRows));
  const Layout layout = layout_of(job.here, rows, options);
  const std::string heading = heading_of(job);
  std::vector<std::string> lines{
      coloured(options.width == 0 ? heading : cut(heading, options.width), kBold, options),
      coloured(line_of(layout, options.width, [](const Column& one) { return std::string(one.name); }), kDim, options)};
  for (size_t i = 0; i < rows; ++i) {
    const RankView& rank = job.here[i];
    const std::string line = line_of(layout, options.width, [&](const Column& one) { return one.text(rank); });
    lines.push_back(coloured(line, colour_of(rank, options), options));
  }
  if (const size_t more = job.here.size() - rows; more != 0) {
    const std::string text = "  ... and " + std::to_string(more) + (more == 1 ? " more rank" : " more ranks");
    lines.push_back(options.width == 0 ? text : cut(text, options.width));
  }
  lines.insert(lines.end(), findings.begin(), findings.end());
  // Of three lines the last is the latest rank; of two it takes the place of the columns' names.
  if (options.lines == 2 && lines.size() > 2) lines.erase(lines.begin() + 1);
  if (options.lines != 0 && lines.size() > options.lines) lines.resize(options.lines);
  return lines;
}

}  // namespace hocket::observe
