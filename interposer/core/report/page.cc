// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/page.h"

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

std::string without_blanks_behind(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

struct Row {
  std::string label;
  uint64_t ns = 0;        // of all ranks together
  uint64_t whole_ns = 0;  // of which the share is told
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

void append_row(std::string& text, const Row& row, const TerminalStyle& style) {
  char seconds[40];
  std::snprintf(seconds, sizeof seconds, "%10.3f", static_cast<double>(row.ns) / 1e9 / row.among);
  const double share = share_of(row.ns, row.whole_ns);
  const std::string bar = coloured(bar_text(share, kBarWidth, style.has_blocks), row.colour, style);
  text += without_blanks_behind("  " + fit_text(row.label, kLabelWidth) + seconds + percent_text(row.ns, row.whole_ns) +
                                row.further + "  " + bar) +
          "\n";
}

void append_times(std::string& text, const JobReport& report, const TerminalStyle& style) {
  const uint64_t job = report.job_ns(), within = report.within_ns();
  append_heading(text, "time of a rank, the mean of all", "   seconds    share", style);
  const auto append = [&](const char* label, uint64_t ns, std::string_view colour) {
    append_row(text, {label, ns, job, report.ranks, colour}, style);
  };
  append("from MPI_Init to MPI_Finalize", job, kCyan);
  append("in collectives", within, kCyan);
  if (report.timed_ns == 0) return;
  append("  waiting for late ranks", report.waited_ns, kYellow);
  append("  moving bytes, and the rest", report.timed_ns - report.waited_ns, kCyan);
  const uint64_t unknown = within > report.timed_ns ? within - report.timed_ns : 0;
  if (unknown * 1000 >= job) append("  started, or by the MPI: not told apart", unknown, kCyan);
}

void append_late(std::string& text, const JobReport& report, const TerminalStyle& style) {
  if (report.late.empty()) return;
  append_heading(text, "waited for most, by all others together", "   seconds    share", style);
  uint64_t all = report.other_late_ns;
  for (const LateRank& one : report.late) all += one.ns;
  uint64_t others = report.other_late_ns;
  for (const LateRank& one : report.late) {
    // What doesn't show is no news.
    if (one.ns * 1000 < all)
      others += one.ns;
    else
      append_row(text, {"rank " + std::to_string(one.rank), one.ns, all, 1, kYellow}, style);
  }
  if (others * 1000 >= all) append_row(text, {"others", others, all, 1, kYellow}, style);
}

// Of a call site the share of its own time that was spent waiting; nothing where no wait was measured at all.
std::string waiting_of(const PlacedSite& site, const JobReport& report) {
  return report.timed_ns == 0 ? std::string() : percent_text(site.waited_ns, site.ns);
}

void append_sites(std::string& text, const JobReport& report, const TerminalStyle& style) {
  const std::span<const PlacedSite> sites = report.sites.sites();
  if (sites.empty()) return;
  append_heading(text, "call sites where it went, a rank",
                 report.timed_ns == 0 ? "   seconds    share" : "   seconds    share  waiting", style);
  const uint64_t within = report.within_ns();
  PlacedSite others = report.sites.others;
  const auto append = [&](const std::string& label, const PlacedSite& site) {
    append_row(text, {label, site.ns, within, report.ranks, kCyan, waiting_of(site, report)}, style);
  };
  size_t shown = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const PlacedSite& site = sites[i];
    if (shown == kMostSites || site.ns * 1000 < within) {
      add_numbers(others, site);
      continue;
    }
    ++shown;
    const SourceLine line = i < report.lines.size() ? report.lines[i] : SourceLine();
    append(fit_text(mpi_name(site.collective), kNameWidth) + " " + place_text(site, line), site);
  }
  if (others.ns * 1000 >= within) append("others", others);
}

std::string bytes_text(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string choice_text(const ChoiceTimes& choice) {
  const ChoiceKey& key = choice.key;
  std::string label = fit_text(mpi_name(key.collective), kNameWidth) + " " + std::string(key.algorithm);
  if (key.bytes != 0) label += ", " + bytes_text(key.bytes);
  label += ", " + std::to_string(key.ranks) + (key.ranks == 1 ? " rank" : " ranks");
  char here[24], best[24] = "        -";
  std::snprintf(here, sizeof here, "%10.3f", static_cast<double>(choice.ns) / 1000 / static_cast<double>(choice.calls));
  if (!choice.best.empty()) std::snprintf(best, sizeof best, "%9.3f ", choice.best_us);
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
  if (report.within_ns() == 0 || report.job_ns() == 0) return {};
  std::string text;
  append_times(text, report, style);
  append_late(text, report, style);
  append_sites(text, report, style);
  append_choices(text, report, style);
  return text;
}

}  // namespace hocket::interposer
