// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/page.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace hocket::interposer {
namespace {

constexpr size_t kLabelWidth = 52;
constexpr size_t kBarWidth = 24;
constexpr size_t kNameWidth = 16;
constexpr size_t kMostSites = 8;
constexpr size_t kMostChoices = 4;
constexpr uint64_t kOften = 100;

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kCyan = "\033[36m";
constexpr std::string_view kPlain = "\033[0m";

std::string coloured(const std::string& text, std::string_view colour, const TerminalStyle& style) {
  if (!style.has_colour || text.empty()) return text;
  return std::string(colour) + text + std::string(kPlain);
}

double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// What doesn't show is no news.
bool shows(uint64_t part, uint64_t whole) { return share_of(part, whole) >= 0.001; }

std::string without_blanks_behind(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

struct Row {
  std::string label;
  uint64_t us = 0;        // of all ranks together
  uint64_t whole_us = 0;  // of which the share is told
  int among = 1;          // ranks among which the time is divided
  std::string_view colour = kCyan;
  std::string further = {};  // a column more
};

void append_heading(std::string& text, const char* label, const char* columns, const TerminalStyle& style) {
  text += "\n" + coloured(fit_text(label, kLabelWidth + 2) + columns, kBold, style) + "\n";
}

std::string percent_text(uint64_t part, uint64_t whole) {
  char text[24];
  std::snprintf(text, sizeof text, " %6.1f %%", 100 * share_of(part, whole));
  return text;
}

// As wide as its column, with as many digits behind the point as there is room for.
std::string column_text(double number, int width) {
  char text[64];
  for (const int digits : {3, 1, 0})
    if (std::snprintf(text, sizeof text, "%*.*f", width, digits, number) == width) return text;
  std::snprintf(text, sizeof text, "%*.2e", width, number);
  return text;
}

void append_row(std::string& text, const Row& row, const TerminalStyle& style) {
  const std::string seconds = column_text(static_cast<double>(row.us) / 1e6 / row.among, 10);
  const double share = share_of(row.us, row.whole_us);
  const std::string bar = coloured(bar_text(share, kBarWidth, style.has_blocks), row.colour, style);
  text += without_blanks_behind("  " + fit_text(row.label, kLabelWidth) + seconds + percent_text(row.us, row.whole_us) +
                                row.further + "  " + bar) +
          "\n";
}

bool starts(std::string_view function) { return function.starts_with("MPI_I") || function.ends_with("_init"); }

// Of which calls nobody knows who came last, of those that there were.
std::string not_told_apart(const JobReport& report) {
  bool are_started = false, are_among_neighbours = false, are_by_mpi = false;
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const std::string_view function = mpi_name(collective);
    uint64_t calls = 0, passed_through = 0;
    for (int j = 0; j < kOutcomes; ++j) {
      const auto outcome = static_cast<Outcome>(j);
      const uint64_t those = report.calls[static_cast<size_t>(counter_index(collective, outcome))];
      calls += those;
      if (!is_by_hocket(outcome)) passed_through += those;
    }
    if (calls == 0) continue;
    if (starts(function))
      are_started = true;
    else if (function.starts_with("MPI_Neighbor"))
      are_among_neighbours = true;
    else if (passed_through != 0)
      are_by_mpi = true;
  }
  std::string which;
  if (are_started) which += "started";
  if (are_among_neighbours) which += which.empty() ? "among neighbours" : ", among neighbours";
  if (are_by_mpi) which += which.empty() ? "by the MPI" : ", or by the MPI";
  return which.empty() ? "not told apart" : which + ": not told apart";
}

void append_times(std::string& text, const JobReport& report, const TerminalStyle& style) {
  const uint64_t job = report.job_us(), within = report.within_us();
  append_heading(text, "time of a rank, the mean of all", "   seconds    share", style);
  const auto append = [&](const std::string& label, uint64_t us, std::string_view colour) {
    append_row(text, {label, us, job, report.ranks, colour}, style);
  };
  append("from MPI_Init to MPI_Finalize", job, kCyan);
  append("in collectives", within, kCyan);
  if (report.timed_us == 0) return;
  append("  waiting for late ranks", report.waited_us, kYellow);
  append("  moving bytes, and the rest", report.moving_us(), kCyan);
  const uint64_t unknown = report.not_told_apart_us();
  if (shows(unknown, job)) append("  " + not_told_apart(report), unknown, kCyan);
}

void append_late(std::string& text, const JobReport& report, const TerminalStyle& style) {
  if (report.late.empty()) return;
  append_heading(text, "waited for most, by all others together", "   seconds    share", style);
  uint64_t all = report.other_late_us;
  for (const LateRank& one : report.late) all += one.us;
  uint64_t others = report.other_late, others_us = report.other_late_us;
  for (const LateRank& one : report.late) {
    if (shows(one.us, all)) {
      append_row(text, {"rank " + std::to_string(one.rank), one.us, all, 1, kYellow}, style);
    } else {
      ++others;
      others_us += one.us;
    }
  }
  if (shows(others_us, all))
    append_row(text, {std::to_string(others) + (others == 1 ? " other" : " others"), others_us, all, 1, kYellow},
               style);
}

// Of a call site the share of its own time that was spent waiting; nothing where no wait was measured at all.
std::string waiting_of(const PlacedSite& site, const JobReport& report) {
  return report.timed_us == 0 ? std::string() : percent_text(site.waited_us, site.us);
}

void append_sites(std::string& text, const JobReport& report, const TerminalStyle& style) {
  const std::span<const PlacedSite> sites = report.sites.sites();
  if (sites.empty()) return;
  append_heading(text, "call sites where it went, a rank",
                 report.timed_us == 0 ? "   seconds    share" : "   seconds    share  waiting", style);
  const uint64_t within = report.within_us();
  PlacedSite others = report.sites.others;
  const auto append = [&](const std::string& label, const PlacedSite& site) {
    append_row(text, {label, site.us, within, report.ranks, kCyan, waiting_of(site, report)}, style);
  };
  size_t shown = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const PlacedSite& site = sites[i];
    if (shown == kMostSites || !shows(site.us, within)) {
      add_numbers(others, site);
      continue;
    }
    ++shown;
    const SourceLine line = i < report.lines.size() ? report.lines[i] : SourceLine();
    append(fit_text(mpi_name(site.collective), kNameWidth) + " " + place_text(site, line), site);
  }
  if (shows(others.us, within)) append("others", others);
}

std::string bytes_text(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string choice_text(const ChoiceTimes& choice) {
  const ChoiceKey& key = choice.key;
  std::string label = fit_text(mpi_name(key.collective), kNameWidth) + " " + std::string(key.algorithm);
  if (key.bytes != 0) label += ", " + bytes_text(key.bytes);
  label += ", " + std::to_string(key.ranks) + (key.ranks == 1 ? " rank" : " ranks");
  const std::string here =
      column_text(static_cast<double>(choice.ns) / 1000 / static_cast<double>(std::max(choice.calls, uint64_t{1})), 10);
  const std::string best = choice.best.empty() ? "        -" : column_text(choice.best_us, 9) + " ";
  std::string text = "  " + fit_text(label, kLabelWidth) + here + best + choice.best;
  if (choice.best_bytes != key.bytes && !choice.best.empty()) text += ", " + bytes_text(choice.best_bytes);
  return text + "\n";
}

// Those that took a twentieth of all and more, without their waits, and were called often: the mean of few calls is
// chance.
void append_choices(std::string& text, const JobReport& report, const TerminalStyle& style) {
  uint64_t all = 0;
  for (const ChoiceTimes& choice : report.choices) all += choice.ns;
  bool has_shipped = false, lacks_best = false;
  size_t shown = 0;
  for (const ChoiceTimes& choice : report.choices) {
    if (shown == kMostChoices || choice.ns * 20 < all) break;
    if (choice.calls < kOften) continue;
    if (shown++ == 0)
      append_heading(text, "hocket's choice, a call without its waits", "   us here  us best that was measured", style);
    text += choice_text(choice);
    has_shipped = has_shipped || choice.best_is_shipped;
    lacks_best = lacks_best || choice.best.empty();
  }
  if (has_shipped)
    text += "  measured on another machine, for the built-in table; `hocket tune` measures on this one\n";
  if (lacks_best) text += "  -: nothing was measured with such ranks and lengths; `hocket tune` does\n";
}

}  // namespace

std::string page_text(const JobReport& report, const TerminalStyle& style) {
  if (report.within_us() == 0 || report.job_us() == 0) return {};
  std::string text;
  append_times(text, report, style);
  append_late(text, report, style);
  append_sites(text, report, style);
  append_choices(text, report, style);
  return text;
}

}  // namespace hocket::interposer
