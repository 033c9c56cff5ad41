// SPDX-License-Identifier: BSD-3-Clause
// "tree:degree=3,segment=16K", "leader:leaders=2,across=bruck/4", and back.
#include <algorithm>
#include <charconv>

#include "algorithms/facts.h"
#include "algorithms/given_tree.h"
#include "selection/table.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

using algorithms::Algorithm;
using algorithms::Part;

Status invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Status unknown_algorithm(schedule::Collective collective, std::string_view name, bool for_part) {
  std::string known;
  for (const Algorithm* algorithm : algorithms::all_of(collective)) {
    if (algorithm->collective != schedule::base_of(collective)) continue;
    if (for_part && algorithms::heeds_nodes(*algorithm)) continue;
    if (!known.empty()) known += ", ";
    known += algorithm->name;
  }
  return invalid("there is no algorithm " + quoted(name) + " for " + std::string(schedule::name(collective)) +
                 "; there are: " + (known.empty() ? "none" : known) + (for_part ? "" : ", and mpi, the MPI's own"));
}

// `key`: as it was written.
Result<uint32_t> parse_degree(const Algorithm& algorithm, std::string_view key, std::string_view value) {
  if (algorithm.takes_tree) return algorithms::parse_given_tree(value);
  const std::string said = std::string(key) + std::string(value);
  if (algorithm.degrees.empty())
    return invalid(std::string(algorithm.name) + " has no degree, but " + said + " is asked for");
  if (value == "flat" || value == algorithm.degree_most) return kFlat;
  uint32_t degree = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), degree);
  if (error != std::errc() || end != value.data() + value.size() || degree == 0 || degree == kFlat)
    return invalid(said + ": it is a number from 1, or " + quoted(algorithm.degree_most));
  return degree;
}

Status set_segment(Spec& spec, std::string_view value) {
  if (spec.segment_bytes != 0) return invalid("segment is given twice");
  if (!spec.algorithm->segmented)
    return invalid(std::string(spec.algorithm->name) + " is not cut into segments, but segment=" + std::string(value) +
                   " is asked for");
  Result<uint64_t> bytes = parse_size(value);
  if (!bytes.is_ok()) return bytes.take_status();
  if (bytes.value() == 0) return invalid("segment=" + std::string(value) + ": a segment has at least one byte");
  spec.segment_bytes = bytes.value();
  return Status::ok();
}

Status set_piece(Spec& spec, std::string_view value) {
  if (spec.piece_bytes != 0) return invalid("piece is given twice");
  if (spec.degree != 0)
    return invalid("piece=" + std::string(value) + ": how many pieces there are is said by degree=");
  Result<uint64_t> bytes = parse_size(value);
  if (!bytes.is_ok()) return bytes.take_status();
  if (bytes.value() == 0) return invalid("piece=" + std::string(value) + ": a piece has at least one byte");
  spec.piece_bytes = bytes.value();
  return Status::ok();
}

Status set_part(const Part& part, PartSpec& spec, std::string_view value) {
  if (spec.algorithm != nullptr) return invalid(std::string(part.name) + " is given twice");
  Result<PartSpec> parsed = parse_part_spec(part.collective, value);
  if (!parsed.is_ok()) return parsed.take_status();
  spec = parsed.value();
  if (!algorithms::is_composition(*spec.algorithm)) return Status::ok();
  return invalid(std::string(part.name) + "=" + std::string(value) + ": " + std::string(spec.algorithm->name) +
                 " is made of parts itself");
}

// "degree=NUMBER|flat, segment=BYTES"
std::string parameters_of(const Algorithm& algorithm) {
  std::string text;
  const auto add = [&](const std::string& parameter) { text += (text.empty() ? "" : ", ") + parameter; };
  if (algorithm.takes_tree) add("a list of parents");
  if (!algorithm.degrees.empty())
    add(std::string(algorithm.degree_name) + "=NUMBER|" + std::string(algorithm.degree_most));
  if (algorithm.segmented) add("segment=BYTES");
  if (algorithm.has_pieces) add("piece=BYTES");
  for (const Part& part : algorithm.parts) add(std::string(part.name) + "=ALGORITHM[/DEGREE]");
  return text.empty() ? "it has none" : "there are " + text;
}

Status set_parameter(Spec& spec, std::string_view parameter) {
  const Algorithm& algorithm = *spec.algorithm;
  const size_t equals = parameter.find('=');
  const std::string_view key = parameter.substr(0, equals);
  if (equals != std::string_view::npos) {
    const std::string_view value = parameter.substr(equals + 1);
    if (key == "segment") return set_segment(spec, value);
    if (key == "piece" && algorithm.has_pieces) return set_piece(spec, value);
    if (key == "degree" || (!algorithm.degrees.empty() && key == algorithm.degree_name)) {
      if (spec.degree != 0) return invalid(std::string(key) + " is given twice");
      if (spec.piece_bytes != 0)
        return invalid(std::string(parameter) + ": how many pieces there are is said by piece=");
      Result<uint32_t> degree = parse_degree(algorithm, parameter.substr(0, equals + 1), value);
      if (!degree.is_ok()) return degree.take_status();
      spec.degree = degree.value();
      return Status::ok();
    }
    for (size_t i = 0; i < algorithm.parts.size(); ++i)
      if (algorithm.parts[i].name == key) return set_part(algorithm.parts[i], spec.parts[i], value);
  } else if (algorithm.takes_tree && spec.degree == 0) {
    Result<uint32_t> tree = parse_degree(algorithm, "", parameter);
    if (!tree.is_ok()) return tree.take_status();
    spec.degree = tree.value();
    return Status::ok();
  }
  return invalid(quoted(parameter) + " is not a parameter of " + std::string(algorithm.name) + ": " +
                 parameters_of(algorithm));
}

std::string degree_to_text(const Algorithm& algorithm, uint32_t degree) {
  if (algorithm.takes_tree) return algorithms::given_tree_to_text(degree);
  return degree == kFlat ? std::string(algorithm.degree_most) : std::to_string(degree);
}

}  // namespace

Result<Spec> parse_spec(schedule::Collective collective, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Spec spec;
  if (text == kMpisOwn) {
    spec.is_mpis = true;
    return spec;
  }
  if (name == kMpisOwn) return invalid(quoted(text) + ": mpi has no parameters");
  spec.algorithm = algorithms::find(collective, name);
  if (spec.algorithm == nullptr) return unknown_algorithm(collective, name, /*for_part=*/false);
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

Result<PartSpec> parse_part_spec(schedule::Collective collective, std::string_view text) {
  const size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  PartSpec spec;
  spec.algorithm = algorithms::find(collective, name);
  if (spec.algorithm == nullptr) return unknown_algorithm(collective, name, /*for_part=*/true);
  if (slash == std::string_view::npos) return spec;
  Result<uint32_t> degree = parse_degree(*spec.algorithm, text.substr(0, slash + 1), text.substr(slash + 1));
  if (!degree.is_ok()) return degree.take_status();
  spec.degree = degree.value();
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

std::string to_text(const PartSpec& part) {
  std::string text(part.algorithm->name);
  if (part.degree != 0) text += "/" + degree_to_text(*part.algorithm, part.degree);
  return text;
}

std::string to_text(const Spec& spec) {
  if (spec.is_mpis) return std::string(kMpisOwn);
  const Algorithm& algorithm = *spec.algorithm;
  std::string text(algorithm.name);
  char separator = ':';
  const auto add = [&](std::string_view key, const std::string& value) {
    text += separator;
    if (!key.empty()) text.append(key).append("=");
    text += value;
    separator = ',';
  };
  if (spec.degree != 0) add(algorithm.takes_tree ? "" : algorithm.degree_name, degree_to_text(algorithm, spec.degree));
  if (spec.piece_bytes != 0) add("piece", size_to_text(spec.piece_bytes));
  if (spec.segment_bytes != 0) add("segment", size_to_text(spec.segment_bytes));
  for (size_t i = 0; i < algorithm.parts.size(); ++i)
    if (spec.parts[i].algorithm != nullptr) add(algorithm.parts[i].name, to_text(spec.parts[i]));
  return text;
}

}  // namespace hocket::selection
