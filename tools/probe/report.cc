// SPDX-License-Identifier: BSD-3-Clause
#include "probe/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/size_text.h"

namespace hocket::probe {
namespace {

using Json = nlohmann::ordered_json;

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

std::string plural(uint32_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Rows are sizes, columns numbers of ranks.
template <typename One>
std::string grid(const std::vector<One>& all, const char* corner, const char* column,
                 const std::function<std::pair<uint64_t, uint32_t>(const One&)>& place,
                 const std::function<double(const One&)>& value) {
  std::set<uint64_t> rows;
  std::set<uint32_t> columns;
  for (const One& one : all) {
    rows.insert(place(one).first);
    columns.insert(place(one).second);
  }
  std::string text = formatted("%10s", corner);
  for (const uint32_t count : columns) text += formatted("%12s", plural(count, column).c_str());
  text += "\n";
  for (const uint64_t row : rows) {
    text += formatted("%10s", size_to_text(row).c_str());
    for (const uint32_t count : columns) {
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const One& one) { return place(one) == std::pair(row, count); });
      text += found == all.end() ? formatted("%12s", "") : formatted("%12.4g", value(*found));
    }
    text += "\n";
  }
  return text;
}

std::string copies_text(const std::vector<Copies>& all) {
  if (all.empty()) return {};
  std::string text = formatted(
      "\nCopies of each of %u ranks into what is sent next (aggregation), and out of what has come (distribution),\n"
      "microseconds:\n%10s%14s%14s%10s\n",
      all.front().ranks, "bytes", "aggregation", "distribution", "ratio");
  for (const Copies& one : all)
    text += formatted("%10s%14.4g%14.4g%10.2f\n", size_to_text(one.bytes).c_str(), one.aggregation_us,
                      one.distribution_us, one.aggregation_us > 0 ? one.distribution_us / one.aggregation_us : 0.0);
  return text;
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json as_json(const Interface& interface) {
  return {{"wire_alpha_us", rounded(interface.alpha_us)},
          {"wire_overhead_us", rounded(interface.overhead_us)},
          {"wire_gap_us", rounded(interface.gap_us)},
          {"wire_beta_us_per_kib", rounded(interface.beta_us_per_kib)},
          {"wire_lanes", interface.lanes},
          {"wire_crowding", rounded(interface.crowding)},
          {"one_machine", interface.one_machine ? 1 : 0},
          {"bandwidth_off_by", rounded(interface.off_by)}};
}

template <typename One, typename Row>
Json rows_of(const std::vector<One>& all, const Row& row) {
  Json rows = Json::array();
  for (const One& one : all) rows.push_back(row(one));
  return rows;
}

}  // namespace

std::string to_text(const std::string& title, const Findings& found, const Interface& interface) {
  std::string text = title + ", " + plural(found.ranks, "rank") + " on " + plural(found.nodes, "node") +
                     (found.machines < found.nodes ? " of " + plural(found.machines, "machine") : "") +
                     (found.oversubscribed ? ", more ranks than cores" : "") + "\n";
  text += "\nHalf a round trip between two nodes, microseconds:\n     bytes          us\n";
  for (const Latency& one : found.latency) text += formatted("%10s%12.4g\n", size_to_text(one.bytes).c_str(), one.us);
  text += "\nProcessor time of a message, microseconds:\n     bytes     sending   receiving\n";
  for (const Overhead& one : found.overhead)
    text += formatted("%10s%12.4g%12.4g\n", size_to_text(one.bytes).c_str(), one.send_us, one.receive_us);
  text += "\nBandwidth between two nodes, both directions together, millions of bytes a second:\n";
  text += grid<Bandwidth>(
      found.bandwidth, "bytes", "pair", [](const Bandwidth& one) { return std::pair(one.bytes, one.pairs); },
      [](const Bandwidth& one) { return one.mb_per_s; });
  text += "\nIrecv-isend all-to-all of all nodes, the bytes from node to node staying the same, microseconds:\n";
  text += grid<StartUp>(
      found.start_up, "bytes", "rank",
      [](const StartUp& one) { return std::pair(one.bytes_a_node_pair, one.ranks_a_node); },
      [](const StartUp& one) { return one.us; });
  text += copies_text(found.copies);
  text += "\n" + judgement(interface, found) + "\n";
  text += "For a table's model line:\n  " + to_words(interface) + "\n";
  return text;
}

std::string to_json(const std::string& title, const Findings& found, const Interface& interface) {
  const Json all = {
      {"mpi", title},
      {"ranks", found.ranks},
      {"nodes", found.nodes},
      {"ranks_a_node", found.ranks_a_node},
      {"machines", found.machines},
      {"crowded", found.oversubscribed},
      {"latency", rows_of(found.latency,
                          [](const Latency& one) {
                            return Json{{"bytes", one.bytes}, {"us", rounded(one.us)}, {"spread", rounded(one.spread)}};
                          })},
      {"overhead", rows_of(found.overhead,
                           [](const Overhead& one) {
                             return Json{{"bytes", one.bytes},
                                         {"send_us", rounded(one.send_us)},
                                         {"receive_us", rounded(one.receive_us)}};
                           })},
      {"bandwidth", rows_of(found.bandwidth,
                            [](const Bandwidth& one) {
                              return Json{{"pairs", one.pairs},
                                          {"bytes", one.bytes},
                                          {"us", rounded(one.us)},
                                          {"mb_per_s", rounded(one.mb_per_s)},
                                          {"spread", rounded(one.spread)}};
                            })},
      {"start_up", rows_of(found.start_up,
                           [](const StartUp& one) {
                             return Json{{"ranks_a_node", one.ranks_a_node},
                                         {"bytes_a_node_pair", one.bytes_a_node_pair},
                                         {"message_bytes", one.message_bytes},
                                         {"us", rounded(one.us)},
                                         {"spread", rounded(one.spread)}};
                           })},
      {"copies", rows_of(found.copies,
                         [](const Copies& one) {
                           return Json{{"ranks", one.ranks},
                                       {"bytes", one.bytes},
                                       {"aggregation_us", rounded(one.aggregation_us)},
                                       {"distribution_us", rounded(one.distribution_us)}};
                         })},
      {"interface", as_json(interface)}};
  return all.dump(1);
}

}  // namespace hocket::probe
