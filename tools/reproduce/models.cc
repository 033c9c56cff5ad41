// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/models.h"

#include <numeric>

namespace hocket::reproduce {
namespace {

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What does not change what is simulated.
Json asked_of(Json call) {
  for (const char* field : {"name", "beside", "quantity", "rank", "computing_us", "unit", "x"}) call.erase(field);
  return call;
}

Json merged(Json base, const Json& more) {
  for (const auto& [field, value] : more.items()) {
    if (field == "with" && base.contains("with"))
      base["with"].update(value);
    else
      base[field] = value;
  }
  return base;
}

}  // namespace

double quantity_of(const Json& call, const command::Simulated& found) {
  const std::string quantity = call.value("quantity", std::string("end"));
  if (quantity == "rank_mean") return mean_of(found.rank_mean_us);
  // Who has the message from the beginning waits for nothing.
  if (quantity == "rank_mean_but_root")
    return mean_of({found.rank_mean_us.begin() + (found.rank_mean_us.empty() ? 0 : 1), found.rank_mean_us.end()});
  if (quantity == "rank") {
    const int rank = call.value("rank", 0);
    const auto ranks = static_cast<int>(found.rank_mean_us.size());
    return found.rank_mean_us.at(simulated_rank(call, static_cast<size_t>(rank < 0 ? ranks + rank : rank)));
  }
  if (quantity == "packets") return static_cast<double>(found.packets);
  if (quantity == "path_messages") return found.path_messages;
  if (quantity == "messages_a_rank")
    return static_cast<double>(found.messages) / static_cast<double>(found.rank_mean_us.size());
  const double end_us = mean_of(found.ends_us) + call.value("computing_us", 0.0) / ranks_of(call);
  if (quantity == "bandwidth") return call.value("bytes", 0.0) * ranks_of(call) / end_us / 1000;
  return end_us;
}

const Result<command::Simulated>& Models::simulated(const Json& call) {
  const std::string key = asked_of(call).dump();
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, simulate_call(call)).first->second;
}

Line Models::line_of(const Json& call, const Json& x) {
  Line line;
  line.name = call.value("name", std::string());
  line.beside = call.value("beside", line.name);
  line.unit = call.value("unit", std::string());
  const std::string axis = x.value("axis", std::string("nodes"));
  const auto keep_problem = [&line](const Status& status) {
    if (line.problem.empty()) line.problem = status.message();
  };
  if (axis == "rank") {
    const Result<command::Simulated>& found = simulated(call);
    if (!found.is_ok())
      keep_problem(found.status());
    else
      for (size_t rank = 1; rank < found.value().rank_mean_us.size(); ++rank)
        line.points.emplace_back(static_cast<double>(rank), found.value().rank_mean_us[simulated_rank(call, rank)]);
    return line;
  }
  for (const Json& value : x.value("values", Json::array())) {
    const Json here = at_x(call, axis, value.get<double>());
    const Result<command::Simulated>& found = simulated(here);
    if (found.is_ok())
      line.points.emplace_back(value.get<double>(), quantity_of(here, found.value()));
    else
      keep_problem(found.status());
  }
  line.sort();
  return line;
}

std::vector<Line> Models::lines_of(const Item& item) {
  std::vector<Line> lines;
  const Json& model = item.model;
  Json base = model.value("call", Json::object());
  if (!base.contains("network") && !item.network.empty()) base["network"] = item.network;
  for (const Json& line : model.value("lines", Json::array())) {
    const Json call = merged(base, line);
    lines.push_back(line_of(call, line.contains("x") ? line["x"] : model.value("x", Json::object())));
  }
  return lines;
}

}  // namespace hocket::reproduce
