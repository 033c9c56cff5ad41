// SPDX-License-Identifier: BSD-3-Clause
// Rows as tables for people and as JSON for programs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/bench.h"

namespace hocket::bench {
namespace {

constexpr double kVisiblySlower = 0.95;

// Four significant digits in a column.
std::string time_text(double us) {
  char text[32];
  const int decimals = us < 10 ? 3 : us < 100 ? 2 : us < 1000 ? 1 : 0;
  std::snprintf(text, sizeof(text), "%.*f", decimals, us);
  return text;
}

std::string spread_text(const Summary& summary) { return time_text(summary.p10_us) + ".." + time_text(summary.p90_us); }

// The clock counts nanoseconds: digits beyond them are noise.
double rounded(double us) { return std::round(us * 1e4) / 1e4; }

nlohmann::ordered_json as_json(const Row& row) {
  nlohmann::ordered_json object = {{"collective", row.collective},
                                   {"ranks", row.ranks},
                                   {"nodes", row.nodes},
                                   {"ranks_a_node", row.ranks_a_node == 0 ? row.ranks : row.ranks_a_node},
                                   {"bytes", row.bytes},
                                   {"variant", row.variant},
                                   {"timing", row.timing},
                                   {"median_us", rounded(row.summary.median_us)},
                                   {"p10_us", rounded(row.summary.p10_us)},
                                   {"p90_us", rounded(row.summary.p90_us)},
                                   {"p99_us", rounded(row.summary.p99_us)},
                                   {"max_us", rounded(row.summary.max_us)},
                                   {"iterations", row.summary.iterations}};
  if (!row.grid.empty()) object.update({{"grid", row.grid}, {"periodic", row.periodic}, {"stencil", row.stencil}});
  if (row.cpu_percent >= 0) object["cpu_percent"] = row.cpu_percent;
  return object;
}

}  // namespace

Reporter::Reporter(const Options& options, bool speaks, std::string title)
    : options_(options), speaks_(speaks), title_(std::move(title)) {
  if (speaks_) std::printf("%s\n", title_.c_str());
}

void Reporter::progress(const std::string& text) {
  if (!speaks_ || !options_.progress) return;
  std::fflush(stdout);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Reporter::clear_progress() {
  if (!progress_shown_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  progress_shown_ = false;
}

std::string Reporter::ratio_text(double ratio) const {
  char text[48];
  const char* colour = ratio < kVisiblySlower ? "\033[31m" : ratio > 1 ? "\033[32m" : "";
  std::snprintf(text, sizeof(text), "%s%7.2f%s", options_.colour ? colour : "", ratio,
                options_.colour && *colour != '\0' ? "\033[0m" : "");
  return text;
}

void Reporter::head(const Row& row, size_t variants) {
  const std::string head = row.collective + row.timing;
  if (head == last_head_) return;
  last_head_ = head;
  std::string among;
  if (!row.grid.empty()) among = ", grid " + row.grid + ", periodic: " + row.periodic + ", " + row.stencil;
  std::printf("\n%s, %d ranks on %d node%s%s, %s, microseconds\n", row.collective.c_str(), row.ranks, row.nodes,
              row.nodes == 1 ? "" : "s", among.c_str(), row.timing.c_str());
  if (row.cpu_percent >= 0)
    std::printf("%-30s %10s %10s\n", "variant", "CPU us", "% of a core");
  else if (variants == 2)
    std::printf("%10s %10s %20s %10s %20s %7s\n", "bytes", "mpi", "p10..p90", "hocket", "p10..p90", "mpi/hocket");
  else
    std::printf("%10s  %-30s %10s %20s %10s %7s\n", "bytes", "variant", "median", "p10..p90", "p99", "ratio");
}

// By its name, with or without parameters.
bool Reporter::is_printed(const Row& row) const {
  const std::string_view whole = row.variant;
  const std::string_view algorithm = whole.substr(0, whole.find(':'));
  return options_.printed.empty() || std::any_of(options_.printed.begin(), options_.printed.end(),
                                                 [&](const auto& name) { return name == whole || name == algorithm; });
}

void Reporter::pair(const Row& reference, const Row& row) {
  const double ratio = row.summary.median_us > 0 ? reference.summary.median_us / row.summary.median_us : 0;
  std::printf("%10llu %10s %20s %10s %20s %s\n", static_cast<unsigned long long>(row.bytes),
              time_text(reference.summary.median_us).c_str(), spread_text(reference.summary).c_str(),
              time_text(row.summary.median_us).c_str(), spread_text(row.summary).c_str(), ratio_text(ratio).c_str());
}

void Reporter::list(std::span<const Row> rows) {
  const Summary& reference = rows.front().summary;
  for (const Row& row : rows) {
    if (!is_printed(row)) continue;
    if (row.cpu_percent >= 0) {
      std::printf("%-30s %10s %10.2f\n", row.variant.c_str(), time_text(row.summary.median_us).c_str(),
                  row.cpu_percent);
      continue;
    }
    if (row.summary.iterations == 0) {
      std::printf("%10llu  %-30s not here: %s\n", static_cast<unsigned long long>(row.bytes), row.variant.c_str(),
                  row.summary.why_not.c_str());
      continue;
    }
    const bool comparable = reference.iterations > 0 && row.summary.median_us > 0;
    std::printf("%10llu  %-30s %10s %20s %10s %s\n", static_cast<unsigned long long>(row.bytes), row.variant.c_str(),
                time_text(row.summary.median_us).c_str(), spread_text(row.summary).c_str(),
                time_text(row.summary.p99_us).c_str(),
                comparable ? ratio_text(reference.median_us / row.summary.median_us).c_str() : "");
  }
}

void Reporter::cell(std::span<const Row> rows) {
  for (const Row& row : rows)
    if (row.summary.iterations > 0) rows_.push_back(row);
  if (!speaks_ || rows.empty()) return;
  clear_progress();
  const bool compares = rows.size() == 2 && rows[0].variant == "mpi" && rows[1].variant == "hocket" &&
                        rows[0].cpu_percent < 0 && rows[0].summary.iterations > 0 && rows[1].summary.iterations > 0;
  head(rows.front(), compares ? 2 : 0);
  if (compares)
    pair(rows[0], rows[1]);
  else
    list(rows);
  std::fflush(stdout);
}

std::string Reporter::finish() {
  clear_progress();
  if (!speaks_ || options_.json.empty()) return {};
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : rows_) rows.push_back(as_json(row));
  std::ofstream file(options_.json);
  file << rows.dump(1) << "\n";
  file.close();
  return file ? "" : "can't write " + options_.json;
}

}  // namespace hocket::bench
