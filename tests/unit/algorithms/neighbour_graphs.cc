// SPDX-License-Identifier: BSD-3-Clause
#include "neighbour_graphs.h"

#include <algorithm>
#include <functional>

namespace hocket::algorithms {
namespace {

using schedule::Neighbours;
using Lengths = std::vector<uint32_t>;
using Periods = std::vector<bool>;

uint32_t up_to(uint32_t last, std::mt19937& random) { return std::uniform_int_distribution<uint32_t>(0, last)(random); }

// visit(lengths, periods, points, name) of each.
void each_grid(uint32_t longest,
               const std::function<void(const Lengths&, const Periods&, uint32_t, const std::string&)>& visit) {
  for (uint32_t dimensions = 1; dimensions <= 3; ++dimensions) {
    uint32_t kinds = 1;
    for (uint32_t d = 0; d < dimensions; ++d) kinds *= 2 * longest;
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      Lengths lengths;
      Periods periods;
      uint32_t points = 1;
      std::string name;
      for (uint32_t d = 0, rest = kind; d < dimensions; ++d, rest /= 2 * longest) {
        lengths.push_back(1 + rest % longest);
        periods.push_back(rest / longest % 2 == 1);
        points *= lengths.back();
        name += (d == 0 ? "" : "x") + std::to_string(lengths.back()) + (periods.back() ? "p" : "");
      }
      visit(lengths, periods, points, name);
    }
  }
}

std::vector<int32_t> all_around(uint32_t dimensions) {
  std::vector<int32_t> offsets;
  int32_t kinds = 1;
  for (uint32_t d = 0; d < dimensions; ++d) kinds *= 3;
  for (int32_t kind = 0; kind < kinds; ++kind)
    for (int32_t d = 0, rest = kind; d < static_cast<int32_t>(dimensions); ++d, rest /= 3)
      offsets.push_back(rest % 3 - 1);
  return offsets;
}

}  // namespace

std::vector<Graph> small_grids(uint32_t longest) {
  std::vector<Graph> graphs;
  each_grid(longest, [&](const Lengths& lengths, const Periods& periods, uint32_t points, const std::string& name) {
    graphs.push_back({"grid " + name, Neighbours::of_grid(lengths, periods, points).take()});
  });
  return graphs;
}

std::vector<Graph> small_stencils(uint32_t longest, std::mt19937& random) {
  std::vector<Graph> graphs;
  each_grid(longest, [&](const Lengths& lengths, const Periods& periods, uint32_t points, const std::string& name) {
    const auto dimensions = static_cast<uint32_t>(lengths.size());
    graphs.push_back(
        {"around " + name, Neighbours::of_stencil(lengths, periods, all_around(dimensions), points).take()});
    std::vector<int32_t> offsets;
    for (uint32_t i = up_to(9, random) * dimensions; i > 0; --i)
      offsets.push_back(static_cast<int32_t>(up_to(6, random)) - 3);
    std::string text;
    for (const int32_t one : offsets) text += " " + std::to_string(one);
    graphs.push_back(
        {"stencil " + name + " of" + text, Neighbours::of_stencil(lengths, periods, offsets, points).take()});
  });
  return graphs;
}

std::vector<Graph> lists_of_tori(uint32_t longest, std::mt19937& random) {
  std::vector<Graph> graphs;
  each_grid(longest, [&](const Lengths& lengths, const Periods& periods, uint32_t points, const std::string& name) {
    if (std::count(periods.begin(), periods.end(), false) != 0) return;
    const auto torus =
        Neighbours::of_stencil(lengths, periods, all_around(static_cast<uint32_t>(lengths.size())), points).take();
    const auto neighbours = static_cast<uint32_t>(torus->destinations(0).size());
    std::vector<uint32_t> order(neighbours);
    for (uint32_t k = 0; k < neighbours; ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Neighbours::Lists> lists(points);
    for (uint32_t rank = 0; rank < points; ++rank) {
      const auto destinations = torus->destinations(rank);
      const auto sources = torus->sources(rank);
      lists[rank].destinations.assign(destinations.begin(), destinations.end());
      for (const uint32_t k : order) lists[rank].sources.push_back(sources[k]);
    }
    graphs.push_back({"lists of " + name, Neighbours::of_lists(lists).take()});
  });
  return graphs;
}

Graph random_graph(uint32_t most, std::mt19937& random) {
  const uint32_t ranks = 1 + up_to(most - 1, random);
  std::vector<Neighbours::Lists> lists(ranks);
  const uint32_t edges = up_to(4 * ranks, random);
  // Few of them have much.
  const uint32_t busy = 1 + up_to(ranks - 1, random);
  for (uint32_t i = 0; i < edges; ++i) {
    const uint32_t from = up_to(busy - 1, random);
    const uint32_t to = up_to(i % 3 == 0 ? busy - 1 : ranks - 1, random);
    lists[from].destinations.push_back(to);
    lists[to].sources.push_back(from);
  }
  for (auto& own : lists) std::shuffle(own.sources.begin(), own.sources.end(), random);
  return {"random graph of " + std::to_string(ranks) + " ranks", Neighbours::of_lists(lists).take()};
}

}  // namespace hocket::algorithms
