// SPDX-License-Identifier: BSD-3-Clause
#include "tune/written/network.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "hocket/hocket.h"
#include "simulation/network/network_file.h"
#include "tune/written/output.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr std::string_view kEnding = ".network";

// Three digits, as tables have them.
double rounded(double value) {
  char text[64];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
  return std::strtod(text, nullptr);
}

simulation::Network rounded(const simulation::CostParameters& parameters) {
  simulation::Network network;
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    if (one.price != nullptr)
      network.costs.*one.price = rounded(parameters.*one.price);
    else
      network.costs.*one.number = parameters.*one.number;
  }
  return network;
}

// Whether some of the calls that were measured take what the parameter prices.
bool is_shown_by(std::string_view name, const std::vector<Measurement>& measurements) {
  return std::any_of(measurements.begin(), measurements.end(), [&](const Measurement& one) {
    if (name == "switch_us") return one.oversubscribed;
    if (name == "beta_us_per_kib") return one.bytes > 0;
    if (name == "gamma_us_per_kib") return one.bytes > 0 && schedule::combines(one.collective);
    return true;
  });
}

std::string source_of_fitted(std::string_view name, const MeasuredNetwork& measured) {
  if (!measured.fitted_elsewhere.empty()) return "of the table `" + measured.fitted_elsewhere + "`, not fitted here";
  if (measured.fit.measurements == 0 || !is_shown_by(name, measured.measurements))
    return "the default: no call that was measured shows it";
  char text[128];
  std::snprintf(text, sizeof text, "fitted to %zu times of collectives, off by a factor of %.2f in the mean",
                measured.fit.measurements, measured.fit.off_by);
  return text;
}

std::string source_of_wire(std::string_view name, const MeasuredNetwork& measured) {
  const bool is_known = name != "wire_dma" && name != "wire_pio_bytes" && name != "wire_miss_us_per_kib";
  if (!measured.has_nodes || !is_known) return {};
  return "measured between nodes, as hocket probe does";
}

// "": it isn't known.
std::string source_of(std::string_view name, const MeasuredNetwork& measured) {
  for (const std::string_view fitted : {"alpha_us", "beta_us_per_kib", "gamma_us_per_kib", "switch_us"})
    if (name == fitted) return source_of_fitted(name, measured);
  if (name.starts_with("wire_")) return source_of_wire(name, measured);
  if (name == "one_machine") return measured.has_nodes ? "found: whether all nodes are on one" : "";
  if (name == "cores") return "counted: those that ranks may use";
  const simulation::CostParameters usual;
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    if (name != one.name || one.of(measured.fit.parameters) == one.of(usual)) continue;
    if (!measured.fitted_elsewhere.empty()) return "of the table `" + measured.fitted_elsewhere + "`";
    if (one.number != nullptr) return "counted, as the kernel says";
    return name == "memory_after_kib" ? "counted: what the caches hold" : "measured between cores";
  }
  return {};
}

std::string head_of(const MeasuredNetwork& measured) {
  char text[512];
  std::snprintf(text, sizeof text, "%s, %u usable cores, %s\nMade by `hocket tune --network` of hocket %s on %s.",
                measured.machine.processor.c_str(), measured.machine.cores, measured.machine.kernel.c_str(),
                hocket_version(), today().c_str());
  if (measured.has_nodes) return std::string(text) + "\nMessages between nodes: " + measured.mpi;
  return std::string(text) + "\nNothing between nodes was measured: what simulations of several nodes take is assumed.";
}

}  // namespace

std::string network_text(const MeasuredNetwork& measured) {
  return simulation::network_to_text(rounded(measured.fit.parameters), head_of(measured),
                                     [&](std::string_view name) { return source_of(name, measured); });
}

Status check_network_path(const std::string& path) {
  if (path.empty()) return Status::ok();
  if (!path.ends_with(kEnding) || path.size() == kEnding.size())
    return {Code::kInvalidArgument, "--network " + path + ": a network's file has a name that ends in .network"};
  return check_writable("--network", path);
}

Status write_network(const std::string& path, const MeasuredNetwork& measured) {
  if (path.empty()) return Status::ok();
  const std::string text = network_text(measured);
  // What was written must be readable.
  const Result<simulation::Network> network = simulation::parse_network(text, path);
  if (!network.is_ok()) return {network.status().code(), network.status().message()};
  HOCKET_TRY(write_file(path, text));
  std::fprintf(stderr, "hocket tune: wrote %s\n", path.c_str());
  return Status::ok();
}

}  // namespace hocket::command
