// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/job_report.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace hocket::interposer {
namespace {

constexpr size_t kMostLate = 10;
// For all files together, of which there are few; most take some milliseconds. Those that took most time are first.
constexpr uint64_t kTimeoutNs = 5'000'000'000;

std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

uint64_t JobReport::within_us() const { return std::accumulate(times.begin(), times.end() - 1, uint64_t{0}); }

void keep_parts_within(JobReport& report) {
  report.timed_us = std::min(report.timed_us, report.within_us());
  report.waited_us = std::min(report.waited_us, report.timed_us);
}

void keep_latest(JobReport& report, const std::vector<uint64_t>& us) {
  report.late.clear();
  for (size_t rank = 0; rank < us.size(); ++rank)
    if (us[rank] != 0) report.late.push_back({rank, us[rank]});
  std::sort(report.late.begin(), report.late.end(),
            [](const LateRank& a, const LateRank& b) { return a.us != b.us ? a.us > b.us : a.rank < b.rank; });
  const size_t kept = std::min(kMostLate, report.late.size());
  report.other_late = report.late.size() - kept;
  report.other_late_us = 0;
  for (size_t i = kept; i < report.late.size(); ++i) report.other_late_us += report.late[i].us;
  report.late.resize(kept);
}

void find_lines(JobReport& report) {
  const std::span<const PlacedSite> sites = report.sites.sites();
  report.lines.assign(sites.size(), {});
  const uint64_t end_ns = now_ns() + kTimeoutNs;
  std::vector<bool> is_asked(sites.size());
  for (size_t first = 0; first < sites.size(); ++first) {
    if (is_asked[first]) continue;
    const std::string_view object = sites[first].object;
    std::vector<size_t> those;
    std::vector<uint64_t> offsets;
    for (size_t i = first; i < sites.size(); ++i) {
      if (object != sites[i].object) continue;
      is_asked[i] = true;
      those.push_back(i);
      offsets.push_back(sites[i].offset);
    }
    const std::vector<SourceLine> lines = source_lines(std::string(object), offsets, end_ns);
    for (size_t i = 0; i < those.size(); ++i) report.lines[those[i]] = lines[i];
  }
  merge_lines(report);
}

void merge_lines(JobReport& report) {
  SiteTable merged;
  merged.others = report.sites.others;
  std::vector<SourceLine> lines;
  const std::span<const PlacedSite> sites = report.sites.sites();
  for (size_t i = 0; i < sites.size(); ++i) {
    size_t same = 0;
    while (same < merged.used && (report.lines[i].file.empty() || report.lines[i] != lines[same] ||
                                  sites[i].collective != merged.places[same].collective))
      ++same;
    if (same == merged.used) {
      merged.places[merged.used++] = sites[i];
      lines.push_back(report.lines[i]);
    } else {
      add_numbers(merged.places[same], sites[i]);
    }
  }
  std::vector<size_t> order(merged.used);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return merged.places[a].us != merged.places[b].us ? merged.places[a].us > merged.places[b].us : a < b;
  });
  report.lines.clear();
  report.sites = merged;
  for (size_t i = 0; i < order.size(); ++i) {
    report.sites.places[i] = merged.places[order[i]];
    report.lines.push_back(lines[order[i]]);
  }
}

std::string place_text(const PlacedSite& site, const SourceLine& line) {
  const std::string function = line.function.empty() ? site.function : line.function;
  if (!line.file.empty()) {
    const std::string place = std::string(name_of_file(line.file)) + ":" + std::to_string(line.line);
    return function.empty() ? place : function + ", " + place;
  }
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(site.offset));
  const std::string place = std::string(name_of_file(site.object)) + offset;
  return function.empty() ? place : function + ", " + place;
}

}  // namespace hocket::interposer
