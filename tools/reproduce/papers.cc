// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/papers.h"

#include <algorithm>
#include <cmath>

#include "base/nearest_word.h"
#include "reproduce/embedded.h"

namespace hocket::reproduce {
namespace {

std::string text_of(const Json& json, const char* field) { return json.value(field, std::string()); }

std::string value_text(const Json& value) {
  if (value.is_number()) return value.dump();  // as the text has it: 25.72
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return "";
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : ", ") + value_text(one);
  return text;
}

Role role_of(const std::string& word) {
  for (const Role role : {Role::kFit, Role::kPredict, Role::kCount, Role::kConsistency})
    if (word == name_of(role)) return role;
  return Role::kSetting;
}

void say(Claim& claim, const Json& json) {
  if (claim.is_order()) {
    claim.said = "at " + value_text(json.at("order").value("at", Json()));
    if (claim.said.starts_with("at as ")) claim.said.erase(0, 3);
    return;
  }
  claim.said = value_text(json.value("value", Json()));
  if (const std::string formula = text_of(json, "formula"); !formula.empty()) claim.said = formula;
  if (claim.said.empty()) claim.said = claim.relation == "about" ? "the same" : claim.relation;
  const bool is_before = claim.relation == ">=" || claim.relation == "<=" || claim.relation == "about";
  if (claim.value && is_before) claim.said = claim.relation + " " + claim.said;
  if (!claim.unit.empty() && claim.said != claim.relation) claim.said += " " + claim.unit;
}

Claim claim_of(const Json& json) {
  Claim claim;
  claim.id = text_of(json, "id");
  claim.text = text_of(json, "text");
  claim.role = role_of(text_of(json, "role"));
  claim.unit = text_of(json, "unit");
  claim.relation = text_of(json, "relation");
  claim.note = text_of(json, "note");
  if (json.contains("value") && json["value"].is_number()) claim.value = json["value"].get<double>();
  if (json.contains("order")) {
    const Json& order = json["order"];
    claim.less = text_of(order, "less");
    claim.more = text_of(order, "more");
    if (order.contains("at") && order["at"].is_array()) claim.places = order["at"].get<std::vector<double>>();
  }
  say(claim, json);
  return claim;
}

Line line_of(const Json& json) {
  Line line;
  line.name = line.beside = text_of(json, "name");
  line.unit = text_of(json, "unit");
  for (const Json& point : json.value("points", Json::array()))
    line.points.emplace_back(point.at("x").get<double>(), point.at("y").get<double>());
  line.sort();
  return line;
}

Item item_of(const Json& json) {
  Item item;
  item.id = text_of(json, "id");
  item.title = text_of(json, "title");
  item.place = text_of(json, "place");
  item.says = text_of(json, "says");
  item.note = text_of(json, "note");
  item.unit = text_of(json, "unit");
  item.network = text_of(json, "network");
  if (json.contains("axes")) {
    item.x_label = text_of(json["axes"], "x");
    item.y_label = text_of(json["axes"], "y");
  }
  item.is_schematic = json.value("schematic", false);
  item.is_unreadable = json.value("unreadable", false);
  for (const Json& line : json.value("series", Json::array())) item.lines.push_back(line_of(line));
  for (const Json& claim : json.value("claims", Json::array())) item.claims.push_back(claim_of(claim));
  item.json = json;
  return item;
}

Json models_of(const std::string& key) {
  for (const EmbeddedText& file : kModelTexts)
    if (file.name == key) return Json::parse(file.text);
  return Json::object();
}

// The order of docs/paper-figures.md.
std::pair<size_t, std::string> place_of(const Paper& paper) {
  constexpr std::string_view kOrder[] = {"nic-barrier", "nic-reduction", "multicast-broadcast", "multicore-alltoall",
                                         "intra-cell"};
  const auto* place = std::find(std::begin(kOrder), std::end(kOrder), paper.key);
  return {static_cast<size_t>(place - std::begin(kOrder)), paper.key};
}

std::vector<Paper> read_papers() {
  std::vector<Paper> all;
  for (const EmbeddedText& file : kPaperTexts) {
    const Json json = Json::parse(file.text);
    Paper& paper = all.emplace_back();
    paper.key = text_of(json, "key");
    paper.title = text_of(json, "title");
    paper.authors = value_text(json.value("authors", Json()));
    paper.where = text_of(json, "where");
    paper.note = text_of(json, "note");
    paper.year = json.value("year", 0);
    const Json models = models_of(paper.key);
    for (const Json& item : json.at("items")) {
      Item& made = paper.items.emplace_back(item_of(item));
      if (models.contains(made.id)) made.model = models[made.id];
    }
  }
  std::sort(all.begin(), all.end(), [](const Paper& a, const Paper& b) { return place_of(a) < place_of(b); });
  return all;
}

std::string_view behind_slash(std::string_view id) { return id.substr(id.find('/') + 1); }

}  // namespace

std::optional<double> Line::at(double x) const {
  for (const auto& [own_x, y] : points)
    if (std::abs(own_x - x) <= 1e-9 * std::abs(x)) return y;
  return std::nullopt;
}

void Line::sort() { std::sort(points.begin(), points.end()); }

const char* name_of(Role role) {
  switch (role) {
    case Role::kFit:
      return "fit";
    case Role::kPredict:
      return "predict";
    case Role::kCount:
      return "count";
    case Role::kConsistency:
      return "consistency";
    default:
      return "setting";
  }
}

const Claim* Item::find(const std::string& claim) const {
  for (const Claim& one : claims)
    if (one.id == claim) return &one;
  return nullptr;
}

const std::vector<Paper>& papers() {
  static const std::vector<Paper> all = read_papers();
  return all;
}

Result<std::vector<const Item*>> find_items(const std::string& word) {
  std::vector<const Item*> found;
  std::vector<std::string_view> names = {"all"};
  for (const Paper& paper : papers()) {
    names.push_back(paper.key);
    for (const Item& item : paper.items) {
      names.push_back(item.id);
      names.push_back(behind_slash(item.id));
      if (word == "all" || word == paper.key || word == item.id || word == behind_slash(item.id))
        found.push_back(&item);
    }
  }
  if (!found.empty()) return found;
  return Status(Code::kInvalidArgument, "`" + word + "` is no paper and none of their figures and numbers: " +
                                            question_after(nearest_word(word, names)) +
                                            "hocket reproduce --list has all");
}

}  // namespace hocket::reproduce
