// SPDX-License-Identifier: BSD-3-Clause
// What this project has measured, as its kept files have it: the lines and numbers that an item's `measured` chooses
// (src/simulation/papers/README.md).
//
// Errors: a file that is not there, or has none of the rows, gives a line without points that says so.
// Thread safety: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/page_tables.h"
#include "reproduce/papers.h"

namespace hocket::reproduce {

// Where files called "bench/results/..." are: the folder `bench/results` of the source tree that the command was built
// in, or that it is called in. "": neither.
std::string kept_results();

class Results {
 public:
  // `folder`: a bench/results.
  explicit Results(std::string folder) : folder_(std::move(folder)) {}

  // The file, measured anew, lies there.
  void put(const std::string& file, const std::string& path) { measured_anew_[file] = path; }
  bool is_new(const std::string& file) const { return measured_anew_.contains(file); }

  std::vector<Line> lines_of(const Json& measured);
  // What its `ratios`, `slopes` or `spread` have for a claim.
  std::optional<double> number_for(const Json& measured, const std::string& claim);

 private:
  struct File {
    std::string text;
    Json rows;            // of a file of JSON
    std::string problem;  // why it can't be used
  };

  const File& file_of(const std::string& name);
  const PageTable& table_of(const std::string& name, const std::string& beginning);
  void fill_from_rows(const Json& measured, const Json& series, Line& line);
  void fill_from_page(const Json& measured, const Json& series, Line& line);
  void fill_from_transposed(const PageTable& table, const Json& series, Line& line);
  std::optional<double> cell_of(const std::string& file, const std::string& table, const Json& place);

  std::string folder_;
  std::map<std::string, std::string> measured_anew_;
  std::map<std::string, File> files_;
  std::map<std::string, PageTable> tables_;
};

}  // namespace hocket::reproduce
