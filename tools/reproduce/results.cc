// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/results.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reproduce/rows.h"

namespace hocket::reproduce {
namespace {

constexpr const char* kRoot = "bench/results/";

std::string name_in(const Json& json, const char* field) { return json.value(field, std::string()); }

bool is_page(const std::string& name) { return name.ends_with(".md"); }

// Whether a cell says what `wanted` does: the same words, or the same number.
bool says(const std::string& cell, const Json& wanted) {
  if (wanted.is_string()) return cell == wanted.get<std::string>();
  const std::optional<double> number = number_in(cell);
  return wanted.is_number() && number && *number == wanted.get<double>();
}

bool is_meant(const PageTable& table, const std::vector<std::string>& row, const Json& wanted) {
  for (const auto& [name, value] : wanted.items()) {
    const std::optional<size_t> column = table.column(name);
    if (!column || *column >= row.size() || !says(row[*column], value)) return false;
  }
  return true;
}

std::optional<double> cell_in(const PageTable& table, const std::vector<std::string>& row, const std::string& name,
                              int part = 1) {
  const std::optional<size_t> column = table.column(name);
  if (!column || *column >= row.size()) return std::nullopt;
  return number_in(row[*column], part);
}

std::string parent_with_results(std::filesystem::path folder) {
  std::error_code error;
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / kRoot / "README.md", error)) return (folder / "bench/results").string();
    if (folder == folder.root_path()) break;
  }
  return "";
}

}  // namespace

std::string kept_results() {
  std::error_code error;
  const std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string beside = parent_with_results(command.parent_path());
  return beside.empty() ? parent_with_results(std::filesystem::current_path(error)) : beside;
}

const Results::File& Results::file_of(const std::string& name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  File& file = files_[name];
  const auto anew = measured_anew_.find(name);
  const std::string inside = name.starts_with(kRoot) ? name.substr(std::string(kRoot).size()) : name;
  const std::string path = anew != measured_anew_.end() ? anew->second : folder_ + "/" + inside;
  if (folder_.empty() && anew == measured_anew_.end()) {
    file.problem = name + " is not here: --results FOLDER says where bench/results is";
    return file;
  }
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    file.problem = "can't read " + path;
    return file;
  }
  file.text = text.str();
  if (is_page(name)) return file;
  file.rows = Json::parse(file.text, nullptr, false);  // instead of throwing
  if (!file.rows.is_array()) file.problem = path + " is no list of rows in JSON";
  return file;
}

const PageTable& Results::table_of(const std::string& name, const std::string& beginning) {
  const std::string key = name + "\n" + beginning;
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;
  return tables_.emplace(key, find_table(file_of(name).text, beginning)).first->second;
}

void Results::fill_from_rows(const Json& measured, const Json& series, Line& line) {
  const File& file = file_of(name_in(measured, "file"));
  line.problem = file.problem;
  if (!line.problem.empty()) return;
  line.points = points_of(file.rows, series, measured.value("x_from", Json()));
}

std::optional<double> Results::cell_of(const std::string& file, const std::string& table, const Json& place) {
  const PageTable& found = table_of(file, table);
  for (const std::vector<std::string>& row : found.rows)
    if (is_meant(found, row, place.value("row", Json::object()))) return cell_in(found, row, name_in(place, "y"));
  return std::nullopt;
}

// Rows are lines: the head has x, and `*` is whatever cell of a column has a star.
void Results::fill_from_transposed(const PageTable& table, const Json& series, Line& line) {
  const std::string wanted = name_in(series, "row");
  for (const std::vector<std::string>& row : table.rows) {
    if (row.empty() || (wanted != "*" && row[0] != wanted)) continue;
    for (size_t column = 1; column < row.size() && column < table.head.size(); ++column) {
      if (wanted == "*" && !row[column].starts_with('*')) continue;
      const std::optional<double> x = number_in(table.head[column]), y = number_in(row[column]);
      if (x && y) line.points.emplace_back(*x, *y);
    }
  }
}

void Results::fill_from_page(const Json& measured, const Json& series, Line& line) {
  const std::string name = name_in(measured, "file");
  line.problem = file_of(name).problem;
  if (!line.problem.empty()) return;
  for (const Json& cell : series.value("cells", Json::array()))
    if (const std::optional<double> y = cell_of(name, name_in(cell, "table"), cell))
      line.points.emplace_back(cell.value("x", 0.0), *y);
  if (series.contains("cells")) return;
  const PageTable& table = table_of(name, name_in(measured, "table"));
  if (measured.value("transposed", false)) return fill_from_transposed(table, series, line);
  const Json wanted = series.value("row", Json::object());
  const double ranks = wanted.is_object() && wanted.contains("ranks") ? wanted["ranks"].get<double>() : 1;
  for (const std::vector<std::string>& row : table.rows) {
    if (!is_meant(table, row, wanted)) continue;
    for (const Json& column : series.value("columns", Json::array())) {
      const std::optional<double> x = number_in(column.get<std::string>());
      const std::optional<double> y = cell_in(table, row, column.get<std::string>());
      if (x && y) line.points.emplace_back(*x, *y);
    }
    if (series.contains("columns")) continue;
    const std::optional<double> x = cell_in(table, row, name_in(series, "x"));
    std::optional<double> y = cell_in(table, row, name_in(series, "y"), series.value("part", 1));
    if (x && y && name_in(measured, "y_from").starts_with("ranks")) y = ranks * *x / *y / 1000;
    if (x && y) line.points.emplace_back(*x, *y);
  }
}

std::vector<Line> Results::lines_of(const Json& measured) {
  std::vector<Line> lines;
  for (const Json& series : measured.value("series", Json::array())) {
    Line& line = lines.emplace_back();
    line.name = name_in(series, "name");
    line.beside = name_in(series, "beside");
    if (is_page(name_in(measured, "file")))
      fill_from_page(measured, series, line);
    else
      fill_from_rows(measured, series, line);
    line.sort();
    if (line.points.empty() && line.problem.empty()) line.problem = "no row of it in " + name_in(measured, "file");
  }
  return lines;
}

std::optional<double> Results::number_for(const Json& measured, const std::string& claim) {
  const std::string name = name_in(measured, "file");
  const Json x_from = measured.value("x_from", Json());
  for (const Json& ratio : measured.value("ratios", Json::array())) {
    if (name_in(ratio, "claim") != claim) continue;
    if (!is_page(name)) return ratio_of(file_of(name).rows, ratio);
    const std::optional<double> over = cell_of(name, name_in(measured, "table"), ratio.value("over", Json::object()));
    const std::optional<double> under = cell_of(name, name_in(measured, "table"), ratio.value("under", Json::object()));
    if (!over || !under || *under == 0) return std::nullopt;
    return name_in(ratio, "as").starts_with("100 (1 -") ? 100 * (1 - *over / *under) : *over / *under;
  }
  for (const Json& slope : measured.value("slopes", Json::array()))
    if (name_in(slope, "claim") == claim) return slope_of(file_of(name).rows, slope, x_from);
  for (const Json& spread : measured.value("spread", Json::array()))
    if (name_in(spread, "claim") == claim) return spread_of(file_of(name).rows, spread);
  return std::nullopt;
}

}  // namespace hocket::reproduce
