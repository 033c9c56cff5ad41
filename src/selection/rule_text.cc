// SPDX-License-Identifier: BSD-3-Clause
// A rule as the line of a table that it came from.
#include <cstdio>

#include "selection/table.h"

namespace hocket::selection {
namespace {

std::string range_to_text(const Interval& interval, std::string (*number)(uint64_t)) {
  if (interval.first == interval.last) return number(interval.first);
  std::string text;
  if (interval.first != 0) text += number(interval.first);
  text += "..";
  if (interval.last != UINT64_MAX) text += number(interval.last);
  return text;
}

bool is_everything(const Interval& interval) { return interval.first == 0 && interval.last == UINT64_MAX; }

std::string plain(uint64_t value) { return std::to_string(value); }

}  // namespace

std::string to_text(const Rule& rule) {
  std::string text(schedule::name(rule.collective));
  if (!is_everything(rule.ranks)) text += " ranks=" + range_to_text(rule.ranks, plain);
  if (!(rule.nodes.first == 1 && rule.nodes.last == 1)) text += " nodes=" + range_to_text(rule.nodes, plain);
  if (!is_everything(rule.ranks_a_node)) text += " ppn=" + range_to_text(rule.ranks_a_node, plain);
  if (!rule.wire.empty()) text += " wire=" + rule.wire;
  if (rule.when != When::kAlways) text += rule.when == When::kOversubscribed ? " crowded" : " uncrowded";
  if (!is_everything(rule.bytes)) text += " bytes=" + range_to_text(rule.bytes, size_to_text);
  return text + " " + to_text(rule.spec);
}

std::string us_to_text(double us) {
  constexpr double kWhole = 999.5;  // what three digits would round to 1e+03
  constexpr double kHuge = 1e15;    // no time; but a table may say anything
  char text[32];
  std::snprintf(text, sizeof(text), us >= kWhole && us < kHuge ? "%.0f" : "%.3g", us);
  return text;
}

}  // namespace hocket::selection
