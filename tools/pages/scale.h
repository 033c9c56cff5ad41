// SPDX-License-Identifier: BSD-3-Clause
// The scales of a chart's axes: which numbers an axis begins and ends with, which of them are written beside it, and
// where a number lies on it.
//
// Thread safety: a value.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hocket::pages {

// kBytes: powers of two, written as sizes are: 64K.
enum class ScaleKind { kLinear, kLog2, kLog10, kBytes };

struct Tick {
  double value;
  std::string label;
};

class Scale {
 public:
  // Whether a scale of this kind has a place for the number: none has for what is not finite or beyond 1e30, and
  // logarithmic ones have none for zero and less, or for what is below 1e-30.
  static bool can_show(ScaleKind kind, double value);

  // From `lowest` to `highest`, both of which it can show, or further. `most_ticks`, at least 2, is what there is room
  // for; an axis may have one more.
  static Scale make(ScaleKind kind, double lowest, double highest, int most_ticks);

  // 0 at the axis' beginning, 1 at its end.
  double place_of(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  Scale(ScaleKind kind, double last, std::vector<Tick> ticks) : kind_(kind), last_(last), ticks_(std::move(ticks)) {}

  ScaleKind kind_;
  double last_;  // the axis' end, which may lie behind the last tick
  std::vector<Tick> ticks_;
};

}  // namespace hocket::pages
