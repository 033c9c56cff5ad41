// SPDX-License-Identifier: BSD-3-Clause
#include "tune/written/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hocket::command {
namespace {

// Above this noise a table is worth little.
constexpr double kBusy = 1.1;

nlohmann::ordered_json as_json(const Fit& fit) {
  nlohmann::ordered_json model;
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    if (one.price != nullptr)
      model[one.name] = fit.parameters.*one.price;
    else
      model[one.name] = fit.parameters.*one.number;
  }
  model["off_by"] = fit.off_by;
  model["costs"] = fit.costs;
  return model;
}

nlohmann::ordered_json as_json(const Survey& survey, const Fit& fit, const std::string& text) {
  const Machine machine = this_machine();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Measurement& one : survey.measurements)
    rows.push_back({{"collective", name(one.collective)},
                    {"ranks", one.ranks},
                    {"nodes", one.node_count()},
                    {"ranks_a_node", one.ranks_a_node()},
                    {"crowded", one.oversubscribed},
                    {"bytes", one.bytes},
                    {"variant", one.variant},
                    {"isolated_us", one.isolated_us},
                    {"back_to_back_us", one.back_to_back_us},
                    {"calls", one.calls},
                    {"wobble", one.wobble}});
  nlohmann::ordered_json json = {
      {"machine", {{"processor", machine.processor}, {"kernel", machine.kernel}, {"cores", machine.cores}}},
      {"cells", survey.cells},
      {"cells_measured", survey.cells_measured},
      {"model", as_json(fit)},
      {"measurements", rows},
      {"took_s", survey.took_s},
      {"table", text}};
  if (!survey.mpi.empty()) {
    json["mpi"] = survey.mpi;
    json["wire"] = survey.wire;
  }
  return json;
}

void report_what_is_missing(const TuneOptions& options, const Survey& survey) {
  if (survey.cells_measured == survey.cells) return;
  std::string unseen;
  for (const schedule::Collective collective : options.collectives) {
    const bool is_seen =
        std::any_of(survey.measurements.begin(), survey.measurements.end(),
                    [&](const Measurement& measurement) { return measurement.collective == collective; });
    if (!is_seen) unseen += (unseen.empty() ? "; nothing of " : ", ") + std::string(name(collective));
  }
  std::fprintf(stderr, "hocket tune: the budget ended after %zu of %zu cells%s; the model covers the rest\n",
               survey.cells_measured, survey.cells, unseen.c_str());
}

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  std::ofstream file(draft);
  file << text;
  file.close();
  if (!file || std::rename(draft.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(draft.c_str());
    return Status::system("cannot write " + path, error);
  }
  return Status::ok();
}

Status deliver(const Delivery& to, const std::string& text, const Survey& survey, const Fit& fit) {
  const std::string& path = to.path;
  if (!path.empty()) HOCKET_TRY(write_file(path, text));
  if (to.json)
    std::printf("%s\n", as_json(survey, fit, text).dump(1).c_str());
  else if (path.empty() && to.has_stdout)
    std::printf("%s", text.c_str());
  return Status::ok();
}

void say_what_became(const TuneOptions& options, const Survey& survey, double noise, const std::string& path) {
  report_what_is_missing(options, survey);
  if (noise > kBusy)
    std::fprintf(stderr, "hocket tune: the two halves of a measurement differ by %.0f %%: something else runs here\n",
                 (noise - 1) * 100);
  if (!path.empty()) std::fprintf(stderr, "hocket tune: wrote %s\n", path.c_str());
}

}  // namespace hocket::command
