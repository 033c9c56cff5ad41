// SPDX-License-Identifier: BSD-3-Clause
// How long something takes that differs from time to time: skew between ranks, noise.
//
//   50us                 always this
//   uniform:0..1ms       anything from here to there, each as likely
//   exponential:20us     of this mean, mostly shorter, sometimes much longer
//   normal:100us,20us    of this mean and this deviation; never less than nothing
//
// Units are ns, us, ms and s; a number without one is in microseconds.
//
// Thread safety: a value.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "simulation/core/random.h"
#include "simulation/core/time.h"

namespace hocket::simulation {

class Distribution {
 public:
  enum class Kind : uint8_t { kConstant, kUniform, kExponential, kNormal };

  Distribution() = default;  // nothing, always
  Distribution(Kind kind, double first_us, double second_us = 0) : kind_(kind), first_(first_us), second_(second_us) {}

  static Result<Distribution> parse(std::string_view text);
  std::string text() const;

  bool is_nothing() const { return kind_ == Kind::kConstant && first_ == 0; }
  // What comes of these draws; the same for the same.
  Time draw(uint64_t seed, Purpose purpose, uint64_t number, uint64_t further = 0) const;

  bool operator==(const Distribution&) const = default;

 private:
  Kind kind_ = Kind::kConstant;
  double first_ = 0;   // the constant, the beginning or the mean
  double second_ = 0;  // the end or the deviation
};

// "12us", "0.5 ms", "3": microseconds. kInvalidArgument for what is none, or is negative.
Result<double> parse_us(std::string_view text);

}  // namespace hocket::simulation
