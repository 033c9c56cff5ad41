// SPDX-License-Identifier: BSD-3-Clause
#include "tune/earlier.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace hocket::command {
namespace {

constexpr uint32_t kMostRanks = 1 << 20;

using Cell = std::tuple<schedule::Collective, uint32_t, uint32_t, bool, uint64_t>;

Cell cell_of(const Measurement& one) {
  return {one.collective, one.node_count(), one.ranks_a_node(), one.oversubscribed, one.bytes};
}

// Throws std::exception.
Measurement measurement_of(const nlohmann::json& row) {
  Measurement one;
  const auto word = row.at("collective").get<std::string>();
  const auto collective = schedule::collective_from_name(word);
  if (!collective) throw std::runtime_error("`" + word + "` is no collective");
  one.collective = *collective;
  one.ranks = row.at("ranks").get<uint32_t>();
  const auto nodes = row.at("nodes").get<uint32_t>();
  const auto ranks_a_node = row.at("ranks_a_node").get<uint32_t>();
  if (one.ranks == 0 || one.ranks > kMostRanks || uint64_t{nodes} * ranks_a_node != one.ranks)
    throw std::runtime_error(std::to_string(one.ranks) + " ranks are not " + std::to_string(nodes) + " nodes of " +
                             std::to_string(ranks_a_node));
  if (nodes > 1)
    one.nodes =
        std::make_shared<const schedule::Nodes>(schedule::Nodes::in_blocks(std::vector<uint32_t>(nodes, ranks_a_node)));
  one.oversubscribed = row.at("crowded").get<bool>();
  one.bytes = row.at("bytes").get<uint64_t>();
  one.variant = row.at("variant").get<std::string>();
  one.isolated_us = row.at("isolated_us").get<double>();
  one.back_to_back_us = row.at("back_to_back_us").get<double>();
  one.calls = row.at("calls").get<uint64_t>();
  one.wobble = row.at("wobble").get<double>();
  if (!(one.isolated_us > 0 && one.back_to_back_us > 0)) throw std::runtime_error("a time is not above 0");
  return one;
}

double mean(const std::vector<const Measurement*>& all, double Measurement::* time) {
  double sum = 0;
  for (const Measurement* one : all) sum += std::log(one->*time);
  return std::exp(sum / static_cast<double>(all.size()));
}

Measurement mean_of(const std::vector<const Measurement*>& all) {
  Measurement one = *all.front();
  one.isolated_us = mean(all, &Measurement::isolated_us);
  one.back_to_back_us = mean(all, &Measurement::back_to_back_us);
  for (const Measurement* other : all) {
    one.calls = std::min(one.calls, other->calls);
    one.wobble = std::max(one.wobble, other->wobble);
  }
  return one;
}

}  // namespace

Result<Survey> read_survey(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::system("--from: cannot read " + path, errno);
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    Survey survey;
    survey.mpi = json.at("mpi").get<std::string>();
    survey.wire = json.at("wire").get<std::string>();
    survey.took_s = json.at("took_s").get<double>();
    survey.cells = json.at("cells").get<size_t>();
    survey.cells_measured = json.at("cells_measured").get<size_t>();
    for (const nlohmann::json& row : json.at("measurements")) survey.measurements.push_back(measurement_of(row));
    if (survey.measurements.empty()) throw std::runtime_error("no measurements");
    return survey;
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument,
                  "--from " + path + ": not what `hocket tune --json -- LAUNCHER` prints: " + error.what());
  }
}

Survey together(const std::vector<Survey>& surveys) {
  std::map<Cell, std::set<size_t>> measured_by;
  std::map<Cell, std::set<std::string>> under;
  std::set<std::string> mpis;
  std::map<Cell, std::map<std::string, std::vector<const Measurement*>>> cells;
  Survey all;
  for (size_t i = 0; i < surveys.size(); ++i) {
    if (all.mpi.find(surveys[i].mpi) == std::string::npos) all.mpi += (all.mpi.empty() ? "" : "; ") + surveys[i].mpi;
    all.took_s += surveys[i].took_s;
    all.cells = std::max(all.cells, surveys[i].cells);
    mpis.insert(surveys[i].mpi);
    for (const Measurement& one : surveys[i].measurements) {
      under[cell_of(one)].insert(surveys[i].mpi);
      measured_by[cell_of(one)].insert(i);
      cells[cell_of(one)][one.variant].push_back(&one);
    }
  }
  for (const auto& [cell, variants] : cells) {
    if (under[cell].size() < mpis.size()) continue;
    std::vector<Measurement> of_all;
    for (const auto& [variant, measurements] : variants)
      if (measurements.size() == measured_by[cell].size()) of_all.push_back(mean_of(measurements));
    // One that nothing is left to compare with says nothing.
    if (of_all.size() > 1 || variants.size() == 1)
      all.measurements.insert(all.measurements.end(), of_all.begin(), of_all.end());
  }
  all.cells_measured = by_cell(all.measurements).size();
  all.cells = std::max(all.cells, all.cells_measured);
  return all;
}

}  // namespace hocket::command
