// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "simulation/goal/loggops.h"

namespace hocket::simulation {
namespace {

constexpr uint64_t kMostNs = 1'000'000'000'000'000;  // eleven days
constexpr uint64_t kMostPerByte = 1'000'000'000;     // in ns

struct Parameter {
  char name;
  uint64_t LogGops::* value;
  bool is_per_byte;  // in ps
};
constexpr Parameter kParameters[] = {
    {'L', &LogGops::latency_ns, false},
    {'o', &LogGops::overhead_ns, false},
    {'g', &LogGops::gap_ns, false},
    {'G', &LogGops::gap_per_byte_ps, true},
    {'O', &LogGops::overhead_per_byte_ps, true},
    {'S', &LogGops::rendezvous_above_bytes, false},
};

// Digits up to `most`.
bool take_number(std::string_view& text, uint64_t most, uint64_t& value) {
  const size_t before = text.size();
  for (value = 0; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
    value = value * 10 + static_cast<uint64_t>(text.front() - '0');
    if (value > most) return false;
  }
  return text.size() != before;
}

bool read_value(std::string_view text, bool is_per_byte, uint64_t& value) {
  if (!take_number(text, is_per_byte ? kMostPerByte : kMostNs, value)) return false;
  if (!is_per_byte) return text.empty();
  value *= 1000;
  if (text.empty()) return true;
  if (text.front() != '.') return false;
  text.remove_prefix(1);
  const size_t digits = text.size();
  uint64_t fraction = 0;
  if (digits > 3 || !take_number(text, 999, fraction) || !text.empty()) return false;
  for (size_t i = digits; i < 3; ++i) fraction *= 10;
  value += fraction;
  return true;
}

Status no_parameters(const std::string& what) {
  return {Code::kInvalidArgument, what + "; write for instance L=2500,o=1500,g=1000,G=6,O=0,S=65535"};
}

}  // namespace

Result<LogGops> parse_loggops(std::string_view text) {
  LogGops parameters;
  bool is_told[std::size(kParameters)] = {};
  for (bool is_last = text.empty(); !is_last;) {
    const size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    is_last = comma == std::string_view::npos;
    text.remove_prefix(is_last ? text.size() : comma + 1);
    size_t i = 0;
    while (i < std::size(kParameters) && (one.size() < 2 || one[1] != '=' || one[0] != kParameters[i].name)) ++i;
    if (i == std::size(kParameters))
      return no_parameters("`" + std::string(one) + "` is none of L, o, g, G, O and S with = and a number");
    if (is_told[i]) return no_parameters("`" + std::string(one) + "`: " + one[0] + " is given twice");
    is_told[i] = true;
    const Parameter& parameter = kParameters[i];
    if (read_value(one.substr(2), parameter.is_per_byte, parameters.*parameter.value)) continue;
    return no_parameters("`" + std::string(one) + "`: " + one[0] +
                         (parameter.is_per_byte ? " is in ns up to 1000000000, with up to three digits behind the point"
                                                : " is a whole number up to 1000000000000000"));
  }
  return parameters;
}

}  // namespace hocket::simulation
