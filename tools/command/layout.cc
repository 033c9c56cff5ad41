// SPDX-License-Identifier: BSD-3-Clause
#include "command/layout.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <random>
#include <vector>

#include "words/words.h"

namespace hocket::command {
namespace {

constexpr uint32_t kMaxRanks = 1 << 20;
constexpr const char* kTooMany = ": at most 1048576 ranks";

Status bad_layout(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Ranks on each node.
Result<std::vector<uint32_t>> parse_nodes(const std::string& text) {
  std::vector<uint32_t> ranks_on;
  uint64_t ranks = 0;
  for (const std::string& word : split_at_commas(text)) {
    const size_t times = word.find('x');
    const auto nodes = times == std::string::npos ? 1 : number(std::string_view(word).substr(0, times));
    const auto each = number(times == std::string::npos ? word : std::string_view(word).substr(times + 1));
    if (!nodes || !each || *nodes == 0 || *each == 0)
      return bad_layout(std::string("--nodes ")
                            .append(text)
                            .append(": `")
                            .append(word)
                            .append("` is neither NODESxRANKS, as 4x2, nor the ranks of a node"));
    ranks += uint64_t{*nodes} * *each;
    if (ranks > kMaxRanks) return bad_layout(std::string("--nodes ").append(text).append(kTooMany));
    ranks_on.insert(ranks_on.end(), *nodes, *each);
  }
  if (ranks_on.size() == 1 && text.find('x') == std::string::npos)
    return bad_layout("--nodes " + text + " is one node of " + text + " ranks: for several, say " + text +
                      "x2, or as many ranks on each, 3,1,4");
  return ranks_on;
}

// One rank a node, round and round, as long as nodes have room.
std::vector<uint64_t> cyclic(std::vector<uint32_t> room) {
  std::vector<uint64_t> labels;
  for (bool more = true; more;) {
    more = false;
    for (size_t node = 0; node < room.size(); ++node) {
      if (room[node] == 0) continue;
      --room[node];
      labels.push_back(node);
      more = true;
    }
  }
  return labels;
}

}  // namespace

Result<schedule::Nodes> parse_layout(const std::string& nodes, const std::string& order) {
  Result<std::vector<uint32_t>> ranks_on = parse_nodes(nodes);
  if (!ranks_on.is_ok()) return ranks_on.take_status();
  const schedule::Nodes blocks = schedule::Nodes::in_blocks(ranks_on.value());
  if (order == "block") return blocks;
  if (order == "cyclic") return schedule::Nodes(cyclic(ranks_on.value()));
  constexpr std::string_view kRandom = "random:";
  const bool is_random = order.starts_with(kRandom);
  const auto seed = number(std::string_view(order).substr(is_random ? kRandom.size() : 0));
  if (!is_random || !seed) return bad_layout("--order " + order + ": there are block, cyclic and random:SEED");
  std::vector<uint64_t> labels;
  for (uint32_t rank = 0; rank < blocks.ranks(); ++rank) labels.push_back(blocks.node_of(rank));
  std::mt19937 random(*seed);
  std::shuffle(labels.begin(), labels.end(), random);
  return schedule::Nodes(labels);
}

Result<std::optional<schedule::Nodes>> layout_of(const LayoutOptions& options, uint32_t& ranks) {
  if (options.nodes.empty()) {
    if (options.order != "block") return bad_layout("--order " + options.order + " needs --nodes, as 4x2 or 3,1,4");
    return std::optional<schedule::Nodes>();
  }
  Result<schedule::Nodes> nodes = parse_layout(options.nodes, options.order);
  if (!nodes.is_ok()) return nodes.take_status();
  if (ranks != 0 && ranks != nodes.value().ranks())
    return bad_layout("--ranks " + std::to_string(ranks) + ", but --nodes " + options.nodes + " has " +
                      std::to_string(nodes.value().ranks()));
  ranks = nodes.value().ranks();
  return std::optional(nodes.take());
}

void add_layout(CLI::App& subcommand, LayoutOptions& options) {
  subcommand.add_option("--nodes", options.nodes,
                        "of a cluster: 4x2 (four nodes of two ranks), or 3,1,4 (ranks on each)");
  subcommand.add_option("--order", options.order, "of ranks on nodes: block, cyclic or random:SEED")
      ->capture_default_str();
}

Result<std::shared_ptr<const schedule::Neighbours>> neighbours_of(schedule::Collective collective,
                                                                  const GridWords& words, uint32_t usual,
                                                                  uint32_t& ranks) {
  if (!schedule::is_among_neighbors(collective)) {
    if (!words.is_given()) return std::shared_ptr<const schedule::Neighbours>();
    return bad_layout("--grid is for collectives among neighbours, as neighbor_alltoall, and not for " +
                      std::string(schedule::name(collective)));
  }
  if (ranks == 0 && !words.has_points()) ranks = usual;
  const Result<GridShape> grid = read_grid(words, ranks);
  if (!grid.is_ok()) return bad_layout(grid.status().message());
  return neighbours_on(grid.value());
}

void add_grid(CLI::App& subcommand, GridWords& words) {
  subcommand
      .add_option("--grid", words.lengths,
                  "among neighbours: ranks on a grid, 4x2 or 2x2x2; 3d: three dimensions, as even as the ranks allow "
                  "(default: 2d)")
      ->type_name("LENGTHS");
  subcommand
      .add_option("--periodic", words.periodic,
                  "whether the ends of a dimension are neighbours: yes, no, or one for each, as yes,no")
      ->type_name("YES,NO")
      ->capture_default_str();
  subcommand
      .add_option("--stencil", words.stencil,
                  "who are neighbours: faces, two in each dimension; full, with all diagonal ones, 8 or 26")
      ->check(CLI::IsMember({"faces", "full"}))
      ->capture_default_str();
}

}  // namespace hocket::command
