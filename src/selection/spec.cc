// SPDX-License-Identifier: BSD-3-Clause
// "tree:degree=3,segment=16K" and back.
#include <charconv>

#include "selection/table.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

Status invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Status unknown_algorithm(schedule::Collective collective, std::string_view name) {
  std::string known;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(collective)) continue;
    if (!known.empty()) known += ", ";
    known += algorithm->name;
  }
  return invalid("there is no algorithm " + quoted(name) + " for " + std::string(schedule::name(collective)) +
                 "; there are: " + (known.empty() ? "none" : known));
}

Status set_degree(Spec& spec, std::string_view value) {
  if (spec.algorithm->degrees.empty())
    return invalid(std::string(spec.algorithm->name) + " has no degree, but degree=" + std::string(value) +
                   " is asked for");
  if (value == "flat") {
    spec.degree = kFlat;
    return Status::ok();
  }
  uint32_t degree = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), degree);
  if (error != std::errc() || end != value.data() + value.size() || degree == 0 || degree == kFlat)
    return invalid("degree=" + std::string(value) + ": a degree is a number from 1, or `flat`");
  spec.degree = degree;
  return Status::ok();
}

Status set_segment(Spec& spec, std::string_view value) {
  if (!spec.algorithm->segmented)
    return invalid(std::string(spec.algorithm->name) + " is not cut into segments, but segment=" + std::string(value) +
                   " is asked for");
  Result<uint64_t> bytes = parse_size(value);
  if (!bytes.is_ok()) return bytes.take_status();
  if (bytes.value() == 0) return invalid("segment=" + std::string(value) + ": a segment has at least one byte");
  spec.segment_bytes = bytes.value();
  return Status::ok();
}

Status set_parameter(Spec& spec, std::string_view parameter) {
  const size_t equals = parameter.find('=');
  const std::string_view key = parameter.substr(0, equals);
  if (equals == std::string_view::npos || (key != "degree" && key != "segment"))
    return invalid(quoted(parameter) + " is not a parameter: there are degree=NUMBER|flat and segment=BYTES");
  const std::string_view value = parameter.substr(equals + 1);
  if (key == "degree") {
    if (spec.degree != 0) return invalid("degree is given twice");
    return set_degree(spec, value);
  }
  if (spec.segment_bytes != 0) return invalid("segment is given twice");
  return set_segment(spec, value);
}

}  // namespace

Result<Spec> parse_spec(schedule::Collective collective, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Spec spec;
  spec.algorithm = algorithms::find(collective, name);
  if (spec.algorithm == nullptr) return unknown_algorithm(collective, name);
  if (colon == std::string_view::npos) return spec;
  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    HOCKET_TRY(set_parameter(spec, rest.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return spec;
}

std::string names_of_collectives() {
  std::string names;
  for (int i = 0; i < schedule::kCollectives; ++i)
    names.append(i == 0 ? "" : ", ").append(name(static_cast<schedule::Collective>(i)));
  return names;
}

std::string forcing_variable(schedule::Collective collective) {
  std::string variable = "HOCKET_";
  for (const char c : schedule::name(collective)) {
    variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return variable;
}

std::string to_text(const Spec& spec) {
  std::string text(spec.algorithm->name);
  if (spec.degree != 0) text += ":degree=" + (spec.degree == kFlat ? "flat" : std::to_string(spec.degree));
  if (spec.segment_bytes != 0)
    text += (spec.degree != 0 ? ",segment=" : ":segment=") + size_to_text(spec.segment_bytes);
  return text;
}

}  // namespace hocket::selection
