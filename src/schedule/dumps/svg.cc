// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>

#include "schedule/describe.h"
#include "schedule/dumps/dump.h"
#include "schedule/verifier/trace.h"

namespace hocket::schedule {
namespace {

constexpr uint32_t kLeft = 70;
constexpr uint32_t kTop = 90;
constexpr uint32_t kRow = 34;
constexpr uint32_t kMinWidth = 640;  // of the legend

struct Style {
  std::string_view name;
  std::string_view colour;
  std::string_view dashes;
  std::string_view legend;
};

constexpr Style kData = {"data", "#1f6fb4", "", "data"};
constexpr Style kSignal = {"signal", "#d9641e", "4 3", "counter"};
constexpr Style kReady = {"ready", "#8a8a8a", "2 3", "exposed memory"};
constexpr Style kMulticast = {"multicast", "#7b3fb5", "6 2", "multicast"};
constexpr Style kStyles[] = {kData, kSignal, kReady, kMulticast};

const Style& style(LinkKind kind) {
  if (kind == LinkKind::kSignal) return kStyles[1];
  if (kind == LinkKind::kMulticast) return kStyles[3];
  return kind == LinkKind::kReady ? kStyles[2] : kStyles[0];
}

std::string_view colour(StepKind kind) {
  switch (kind) {
    case StepKind::kAdd:
    case StepKind::kWaitUntil:
      return kSignal.colour;
    case StepKind::kMulticast:
      return kMulticast.colour;
    case StepKind::kReceiveCombine:
    case StepKind::kCombineFrom:
    case StepKind::kCombine:
      return "#2e8b57";
    default:
      return kData.colour;
  }
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

class SvgWriter {
 public:
  SvgWriter(std::span<const Plan> plans, const Trace& traced) : plans_(plans), traced_(traced) {
    const size_t ranks = plans.size();
    column_ = ranks <= 8 ? 96 : ranks <= 24 ? 56 : 36;
    rows_ = std::max(1u, traced.report.critical_path);
    width_ = std::max<uint32_t>(kMinWidth, kLeft + static_cast<uint32_t>(ranks) * column_ + 20);
    height_ = kTop + (rows_ + 1) * kRow;
  }

  std::string write(std::string_view title) {
    const std::string size = std::to_string(width_) + "\" height=\"" + std::to_string(height_);
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" font-family=\"sans-serif\" " +
            "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<defs>\n";
    for (const Style& each : kStyles) arrowhead(each);
    text_ += "</defs>\n";
    label(12, 24, escaped(title), "start", "font-size=\"16\" font-weight=\"bold\"");
    legend();
    grid();
    for (const Link& link : traced_.links) arrow(link);
    for (uint32_t rank = 0; rank < plans_.size(); ++rank) {
      for (uint32_t step = 0; step < plans_[rank].steps.size(); ++step) mark({rank, step});
    }
    return text_ + "</svg>\n";
  }

 private:
  uint32_t x(uint32_t rank) const { return kLeft + rank * column_ + column_ / 2; }
  uint32_t y(uint32_t level) const { return kTop + level * kRow; }
  uint32_t y(Where where) const { return y(traced_.levels[where.rank][where.step]); }

  void arrowhead(const Style& each) {
    text_ += "<marker id=\"" + std::string(each.name) +
             "\" markerWidth=\"8\" markerHeight=\"8\" refX=\"11\" refY=\"3\" " +
             "orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"" + std::string(each.colour) + "\"/></marker>\n";
  }

  void label(uint32_t at_x, uint32_t at_y, const std::string& words, const char* anchor, const char* more = "") {
    text_ += "<text x=\"" + std::to_string(at_x) + "\" y=\"" + std::to_string(at_y) + "\" text-anchor=\"" + anchor +
             "\" " + more + ">" + words + "</text>\n";
  }

  void line(uint32_t x1, uint32_t y1, uint32_t x2, uint32_t y2, const std::string& attributes) {
    text_ += "<line x1=\"" + std::to_string(x1) + "\" y1=\"" + std::to_string(y1) + "\" x2=\"" + std::to_string(x2) +
             "\" y2=\"" + std::to_string(y2) + "\" " + attributes + "/>\n";
  }

  static std::string stroke(const Style& each) {
    std::string text = "stroke=\"" + std::string(each.colour) + "\" stroke-width=\"1.3\" marker-end=\"url(#" +
                       std::string(each.name) + ")\"";
    if (!each.dashes.empty()) text.append(" stroke-dasharray=\"").append(each.dashes).append("\"");
    return text;
  }

  void legend() {
    uint32_t at = 12;
    for (const Style& each : kStyles) {
      line(at, 44, at + 34, 44, stroke(each));
      label(at + 42, 48, std::string(each.legend), "start");
      at += 150;
    }
    text_ += "<circle cx=\"" + std::to_string(at + 6) + "\" cy=\"44\" r=\"4\" fill=\"" +
             std::string(colour(StepKind::kCombine)) + "\"/>\n";
    label(at + 18, 48, "combination", "start");
  }

  void grid() {
    for (uint32_t rank = 0; rank < plans_.size(); ++rank) {
      label(x(rank), kTop - 14, (plans_.size() <= 24 ? "rank " : "") + std::to_string(rank), "middle");
      line(x(rank), kTop, x(rank), height_ - kRow / 2, "stroke=\"#cccccc\"");
    }
    for (uint32_t level = 1; level <= rows_; ++level) {
      label(kLeft - 24, y(level) + 4, std::to_string(level), "end", "fill=\"#777777\"");
      line(kLeft - 16, y(level), x(static_cast<uint32_t>(plans_.size()) - 1), y(level), "stroke=\"#f0f0f0\"");
    }
    label(kLeft - 24, kTop - 14, "step", "end", "fill=\"#777777\"");
  }

  // Arrows within a row bend, up to the right and down to the left, or those of an exchange would cover each other.
  void arrow(const Link& link) {
    if (link.from.rank == link.to.rank) return;
    const int x1 = static_cast<int>(x(link.from.rank));
    const int x2 = static_cast<int>(x(link.to.rank));
    const int y1 = static_cast<int>(y(link.from));
    const int y2 = static_cast<int>(y(link.to));
    const int distance = std::abs(x2 - x1) / static_cast<int>(column_);
    const int bend = y1 != y2 ? 0 : std::min(6 + 5 * distance, 26) * (x1 < x2 ? -1 : 1);
    text_ += "<path d=\"M" + std::to_string(x1) + "," + std::to_string(y1) + " Q" + std::to_string((x1 + x2) / 2) +
             "," + std::to_string((y1 + y2) / 2 + bend) + " " + std::to_string(x2) + "," + std::to_string(y2) +
             "\" fill=\"none\" " + stroke(style(link.kind)) + "/>\n";
  }

  void mark(Where where) {
    const Step& step = plans_[where.rank].steps[where.step];
    text_ += "<circle cx=\"" + std::to_string(x(where.rank)) + "\" cy=\"" + std::to_string(y(where)) +
             "\" r=\"4\" fill=\"" + std::string(colour(step.kind)) + "\"><title>rank " + std::to_string(where.rank) +
             " step " + std::to_string(where.step) + ": " + escaped(describe(step)) + "</title></circle>\n";
  }

  std::span<const Plan> plans_;
  const Trace& traced_;
  uint32_t column_;
  uint32_t rows_;
  uint32_t width_;
  uint32_t height_;
  std::string text_;
};

}  // namespace

Result<std::string> dump_svg(std::span<const Plan> plans, std::string_view title) {
  if (plans.size() > kMaxSvgRanks) {
    return Status(Code::kInvalidArgument,
                  "a picture of more than " + std::to_string(kMaxSvgRanks) + " ranks would show nothing");
  }
  // Enough elements that no slice of the usual cuts is empty; a picture shows no sizes.
  const Trace traced = trace(plans, 5040);
  if (!traced.report.is_correct()) return Status(Code::kInvalidArgument, traced.report.text());
  return SvgWriter(plans, traced).write(title);
}

}  // namespace hocket::schedule
