// SPDX-License-Identifier: BSD-3-Clause
// What lines, of the model or of measurements, say to a claim of a paper, and how well that agrees.
//
//   a number     within 10 % of the paper's it is reproduced, within a factor of two in part; a factor ("times") in
//                part if it lies on the same side of one, however far; a bound (>=, <=) if it holds, in part within a
//                factor of two
//   an order     reproduced if it holds at all points, in part if at more than half of them
//   a relation   grows, falls: by more than 5 % from the first to the last point; about: all within 10 %, in part
//                within 25 %
//
// A recipe (an element of the model's `claims`, src/simulation/papers/README.md) says what of the lines the claim is
// about, and may widen what counts as reproduced (`factor`, `tolerance`).
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/papers.h"

namespace hocket::reproduce {

enum class Outcome { kReproduced, kInPart, kNot, kUnknown };
const char* name_of(Outcome outcome);

struct Finding {
  std::string text;             // "26.2 us"; of an order at how many points it holds; "" if there is nothing
  std::optional<double> value;  // of a claim of one number
  std::string difference;       // from the paper's: "+2 %"
  Outcome outcome = Outcome::kUnknown;

  bool is_there() const { return outcome != Outcome::kUnknown; }
};

// `recipe`: {} where none is needed.
Finding find(const Claim& claim, const Json& recipe, const std::vector<Line>& lines);
// The same of a number that is known already.
Finding judge(const Claim& claim, const Json& recipe, double value);

}  // namespace hocket::reproduce
