// SPDX-License-Identifier: BSD-3-Clause
#include "bench/comparison/variants.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "selection/table.h"

namespace hocket::command {
namespace {

constexpr const char* kAll = "all";

}  // namespace

std::vector<std::string> all_variants(bench::Collective collective, bool has_mpi) {
  std::vector<std::string> names;
  if (has_mpi) names.emplace_back(kMpiVariant);
  names.emplace_back(kOwnChoice);
  const auto registered =
      schedule::is_among_neighbors(collective) ? algorithms::all_among_neighbors() : algorithms::all();
  for (const algorithms::Algorithm* algorithm : registered)
    if (algorithm->collective == schedule::base_of(collective) && !algorithm->takes_tree)
      names.emplace_back(algorithm->name);
  return names;
}

Status set_halo(const GridWords& words, int ranks, bool has_mpi, bench::Options& options) {
  if (std::none_of(options.collectives.begin(), options.collectives.end(), schedule::is_among_neighbors))
    return Status::ok();
  auto count = static_cast<uint32_t>(ranks);
  const Result<GridShape> grid = read_grid(words, count);
  if (!grid.is_ok()) return {grid.status().code(), grid.status().message()};
  // Of diagonal neighbours MPI has no topology but a graph of who is there.
  using Form = bench::Halo::Form;
  options.halo.form = !grid.value().is_full ? Form::kGrid : has_mpi ? Form::kLists : Form::kStencil;
  auto neighbours =
      options.halo.form == Form::kLists ? listed_neighbours_on(grid.value()) : neighbours_on(grid.value());
  if (!neighbours.is_ok()) return neighbours.take_status();
  options.halo.neighbours = neighbours.take();
  const GridWords said = grid.value().words();
  options.halo.grid = said.lengths;
  options.halo.periodic = said.periodic;
  options.halo.stencil = said.stencil;
  return Status::ok();
}

std::vector<std::string> variants_of(const bench::Options& options, bench::Collective collective,
                                     const std::vector<std::string>& usual) {
  if (options.variants.empty()) return usual;
  const bool has_mpi = std::find(usual.begin(), usual.end(), kMpiVariant) != usual.end();
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& variant : options.variants) {
    if (variant != kAll)
      add(variant);
    else
      for (const std::string& name : all_variants(collective, has_mpi)) add(name);
  }
  return names;
}

std::string unknown_variant(const bench::Options& options, bool has_mpi) {
  for (const std::string& variant : options.variants) {
    if (variant == kOwnChoice || variant == kAll) continue;
    if (variant == kMpiVariant) {
      if (has_mpi) continue;
      return "--variants: there is no MPI to be measured: give a launcher behind --";
    }
    std::string why = "--variants: " + variant + ": no collective is measured that could have it";
    for (bench::Collective collective : options.collectives) {
      const Result<selection::Spec> spec = selection::parse_spec(collective, variant);
      if (spec.is_ok()) {
        why.clear();
        break;
      }
      why = "--variants: " + std::string(spec.status().message());
    }
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace hocket::command
