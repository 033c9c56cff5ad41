// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "schedule/describe.h"
#include "schedule/dumps/dump.h"

namespace hocket::schedule {
namespace {

std::string right(uint64_t number, size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), ' ').append(text) : text;
}

std::string left(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

void append_totals(std::string& text, const char* what, const uint32_t (&totals)[kMaxCounters]) {
  for (int number = 0; number < kMaxCounters; ++number) {
    if (totals[number] == 0) continue;
    text.append("  ").append(what).append(" counter ").append(std::to_string(number));
    text.append(": ").append(std::to_string(totals[number])).append(" in total\n");
  }
}

}  // namespace

std::string dump_text(const Plan& plan) {
  const Shape& shape = plan.shape;
  std::string text(name(plan.collective));
  text.append(", rank ").append(std::to_string(shape.rank)).append(" of ").append(std::to_string(shape.size));
  text.append(", root ").append(std::to_string(shape.root)).append(", segments ");
  text.append(std::to_string(shape.segments));
  if (shape.degree != 0) text.append(", degree ").append(std::to_string(shape.degree));
  text.append(shape.keep_order ? ", in rank order\n" : "\n");
  for (size_t area = 0; area < plan.scratch.size(); ++area) {
    text.append("  scratch").append(std::to_string(area)).append(": ");
    text.append(std::to_string(plan.scratch[area].numerator)).append("/");
    text.append(std::to_string(plan.scratch[area].denominator)).append(" of the count\n");
  }
  append_totals(text, "own", plan.own_total);
  append_totals(text, "shared", plan.shared_total);
  size_t width = 0;
  for (const Step& step : plan.steps) width = std::max(width, headline(step).size());
  const size_t digits = std::to_string(plan.steps.size()).size();
  text.append("  ").append(left("step", digits)).append(" stage\n");
  uint64_t stage = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string head = headline(plan.steps[i]);
    const bool begins_stage = i == 0 || plan.steps[i - 1].ends_stage;
    text.append("  ").append(right(i, std::max<size_t>(digits, 4))).append(" ");
    text.append(begins_stage ? right(stage, 5) : "    |").append("  ").append(left(head, width));
    text.append(describe(plan.steps[i]).substr(head.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    if (plan.steps[i].ends_stage) ++stage;
  }
  return text;
}

std::string dump_text(std::span<const Plan> plans) {
  std::string text;
  for (const Plan& plan : plans) text.append(text.empty() ? "" : "\n").append(dump_text(plan));
  return text;
}

}  // namespace hocket::schedule
