// SPDX-License-Identifier: BSD-3-Clause
// What the five papers say, as the files in src/simulation/papers have it; their README describes the fields. Here is
// what everything needs; how a figure is measured and modelled stays in the item's own fields.
//
// Invariants: the files are the command's own, and a test reads them all; what is missing in them is empty here.
// Thread safety: a value that does not change once it is read.
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hocket::reproduce {

using Json = nlohmann::json;

// Points of a figure: from the paper, from the model, or from this machine.
struct Line {
  std::string name;
  std::string beside;  // the paper's line that it goes with; its own name if it is the paper's
  std::string unit;    // if not the item's
  std::vector<std::pair<double, double>> points;  // in the order of x
  std::string problem;                            // why there is no point

  std::optional<double> at(double x) const;
  void sort();
};

// What a claim is good for; papers/README.md.
enum class Role { kFit, kPredict, kCount, kSetting, kConsistency };
const char* name_of(Role role);

struct Claim {
  std::string id;
  std::string text;
  Role role = Role::kSetting;
  std::optional<double> value;  // if it is one number
  std::string said;             // value, relation and unit in words; of an order where it holds
  std::string unit;
  std::string relation;
  std::string less, more;      // of an order; "" otherwise
  std::vector<double> places;  // of an order, where these are numbers
  std::string note;

  bool is_order() const { return !less.empty(); }
};

struct Item {
  std::string id;  // "nic-barrier/figure-5"
  std::string title, place, says, note, unit, network;
  std::string x_label, y_label;
  bool is_schematic = false, is_unreadable = false;
  std::vector<Line> lines;
  std::vector<Claim> claims;
  Json json;                    // all of it
  Json model = Json::object();  // how it is modelled

  const Claim* find(const std::string& claim) const;
};

struct Paper {
  std::string key, title, authors, where, note;
  int year = 0;
  std::deque<Item> items;
};

const std::vector<Paper>& papers();

// The items that a word names: a paper's key, an item's id, its part behind the `/` (in whichever papers), or `all`.
Result<std::vector<const Item*>> find_items(const std::string& word);

}  // namespace hocket::reproduce
