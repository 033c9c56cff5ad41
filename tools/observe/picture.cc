// SPDX-License-Identifier: BSD-3-Clause
#include "observe/picture.h"

#include <algorithm>
#include <numeric>

namespace hocket::observe {
namespace {

// A heading, the names of columns, a rank, and how many more there are.
constexpr size_t kFewestLines = 4;

}  // namespace

std::vector<size_t> share_lines(const std::vector<size_t>& wanted, size_t available) {
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t one, size_t other) { return wanted[one] < wanted[other]; });
  std::vector<size_t> given(wanted.size());
  for (size_t i = 0; i < order.size(); ++i) {
    given[order[i]] = std::min(wanted[order[i]], available / (order.size() - i));
    available -= given[order[i]];
  }
  return given;
}

std::vector<std::string> picture_of(std::vector<JobView> jobs, const TableOptions& options) {
  const auto fitting = [&](std::string text) { return options.width == 0 ? text : text.substr(0, options.width); };
  if (jobs.empty()) return {fitting("no job with hocket in it runs here, or it is another user's")};
  std::sort(jobs.begin(), jobs.end(), [](const JobView& one, const JobView& other) {
    const double late = one.late_s(), other_late = other.late_s();
    return late != other_late ? late > other_late : one.label < other.label;
  });
  size_t shown = jobs.size();
  std::vector<size_t> lines(shown, 0);
  // An empty line behind each; one for those that don't fit.
  if (options.lines != 0 && (kFewestLines + 1) * shown > options.lines + 1)
    shown = std::max<size_t>(1, (options.lines > 0 ? options.lines - 1 : 0) / (kFewestLines + 1));
  if (options.lines != 0) {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < shown; ++i) {
      TableOptions all = options;
      all.lines = 0;
      wanted.push_back(table_of(jobs[i], all).size() + 1);
    }
    lines = share_lines(wanted, options.lines + 1 - (shown < jobs.size() ? 1 : 0));
  }
  std::vector<std::string> picture;
  for (size_t i = 0; i < shown; ++i) {
    if (i != 0) picture.emplace_back();
    TableOptions one = options;
    one.lines = lines[i] == 0 ? 0 : lines[i] - 1;
    for (std::string& line : table_of(jobs[i], one)) picture.push_back(std::move(line));
  }
  if (shown < jobs.size()) {
    const size_t more = jobs.size() - shown;
    picture.push_back(fitting("... and " + std::to_string(more) + (more == 1 ? " more job" : " more jobs")));
  }
  if (options.lines != 0 && picture.size() > options.lines) picture.resize(options.lines);
  return picture;
}

}  // namespace hocket::observe
