// SPDX-License-Identifier: BSD-3-Clause
// Shapes of clusters, and rules that are replaced when one is measured anew.
#include <algorithm>

#include "base/size_text.h"
#include "tune/on_mpi.h"
#include "words/words.h"

namespace hocket::command {
namespace {

std::vector<uint32_t> powers_up_to(uint32_t first, uint32_t most) {
  std::vector<uint32_t> numbers;
  for (uint32_t number = first; number < most; number *= 2) numbers.push_back(number);
  numbers.push_back(most);
  return numbers;
}

Result<ClusterShape> shape_of(const std::string& word, const schedule::Nodes& placement) {
  const size_t cross = word.find('x');
  const Result<uint64_t> nodes = parse_size(word.substr(0, cross));
  const Result<uint64_t> ranks = parse_size(cross == std::string::npos ? "" : word.substr(cross + 1));
  const auto wrong = [&](const std::string& why) { return Status(Code::kInvalidArgument, "--shapes " + word + why); };
  if (!nodes.is_ok() || !ranks.is_ok()) return wrong(": nodes and ranks a node, like 4x2");
  if (nodes.value() < 1 || ranks.value() < 1 || nodes.value() * ranks.value() < 2)
    return wrong(": one node of two ranks, or two of one, are the least");
  if (nodes.value() > placement.count() || ranks.value() > placement.fewest())
    return wrong(": this job has " + std::to_string(placement.count()) + " nodes, and " +
                 std::to_string(placement.fewest()) + " ranks on the one that has the fewest");
  return ClusterShape{static_cast<uint32_t>(nodes.value()), static_cast<uint32_t>(ranks.value())};
}

bool covers(const selection::Interval& outer, const selection::Interval& inner) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

}  // namespace

Result<std::vector<ClusterShape>> shapes_of(const std::string& text, const schedule::Nodes& placement) {
  std::vector<ClusterShape> shapes;
  const bool has_nodes = placement.count() > 1;
  if (text.empty())
    for (const uint32_t ranks : powers_up_to(has_nodes ? 1 : 2, placement.fewest()))
      for (const uint32_t nodes : powers_up_to(has_nodes ? 2 : 1, placement.count())) shapes.push_back({nodes, ranks});
  for (const std::string& word : split_at_commas(text)) {
    const Result<ClusterShape> shape = shape_of(word, placement);
    if (!shape.is_ok()) return Status(shape.status().code(), shape.status().message());
    if (std::find(shapes.begin(), shapes.end(), shape.value()) == shapes.end()) shapes.push_back(shape.value());
  }
  std::sort(shapes.begin(), shapes.end(), [](const ClusterShape& a, const ClusterShape& b) {
    return a.ranks_a_node != b.ranks_a_node ? a.ranks_a_node < b.ranks_a_node : a.nodes < b.nodes;
  });
  return shapes;
}

std::vector<selection::Rule> left_beside(std::span<const selection::Rule> fresh, std::span<const selection::Rule> old) {
  std::vector<selection::Rule> left;
  for (const selection::Rule& rule : old) {
    const bool is_replaced = std::any_of(fresh.begin(), fresh.end(), [&](const selection::Rule& one) {
      return one.collective == rule.collective && one.when == rule.when && covers(one.nodes, rule.nodes) &&
             covers(one.ranks_a_node, rule.ranks_a_node) && covers(one.ranks, rule.ranks) &&
             (rule.spec.is_mpis || !one.spec.is_mpis) && selection::names_wire(one.wire, rule.wire);
    });
    if (!is_replaced) left.push_back(rule);
  }
  return left;
}

}  // namespace hocket::command
