// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/comparison.h"

#include <algorithm>

#include "reproduce/measuring.h"

namespace hocket::reproduce {
namespace {

const Json& object_in(const Json& json, const char* field) {
  static const Json kEmpty = Json::object();
  return json.contains(field) ? json[field] : kEmpty;
}

Json recipe_of(const Item& item, const std::string& claim) {
  for (const Json& recipe : item.model.value("claims", Json::array()))
    if (recipe.value("claim", std::string()) == claim) return recipe;
  return Json::object();
}

std::string problem_of(const std::vector<Line>& lines, const Claim& claim, const Json& recipe) {
  const std::string less = recipe.value("less", claim.less), more = recipe.value("more", claim.more);
  for (const Line& line : lines) {
    if (line.problem.empty()) continue;
    for (const std::string& name :
         {recipe.value("of", std::string()), recipe.value("over", std::string()), recipe.value("minus", std::string()),
          recipe.value("below", std::string()), less, more})
      if (!name.empty() && (line.name == name || line.beside == name)) return line.problem;
  }
  const bool has_any = std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.problem.empty(); });
  return has_any || lines.empty() || claim.role != Role::kPredict ? "" : lines.front().problem;
}

std::string why_no_model(const Item& item, const Claim& claim, const std::vector<Line>& lines, const Json& recipe) {
  const Json& model = item.model;
  if (model.contains("no_model")) {
    const Json& why = model["no_model"];
    if (why.is_string()) return why.get<std::string>();
    if (why.contains(claim.id)) return why[claim.id].get<std::string>();
  }
  if (const std::string problem = problem_of(lines, claim, recipe); !problem.empty()) return problem;
  switch (claim.role) {
    case Role::kSetting:
      return "a setting";
    case Role::kConsistency:
      return "follows from others";
    case Role::kCount:
      return "by definition";
    case Role::kFit:
      return "for fitting";
    default:
      return "no model of it yet";
  }
}

Finding finding_in(const Json& measured, const Claim& claim, const Json& recipe, const std::vector<Line>& lines,
                   Results& results) {
  if (const std::optional<double> number = results.number_for(measured, claim.id); number)
    return judge(claim, recipe, *number);
  return find(claim, recipe, lines);
}

// "barrier-bridge", or of a page its table.
std::string source_name(const Json& measured) {
  const std::string file = measured.value("file", std::string());
  const std::string stem = file.substr(file.rfind('/') + 1, file.rfind('.') - file.rfind('/') - 1);
  const std::string table = measured.value("table", stem);
  return measured.contains("note") && table == stem
             ? table + ", " + measured["note"].get<std::string>()
             : table.substr(std::min(table.find_first_not_of("# "), table.size()));
}

void look_besides(const Item& item, Results& results, Comparison& comparison) {
  std::vector<std::pair<std::string, Json>> all;
  for (const Json& also : item.json.value("measured_also", Json::array())) all.emplace_back("", also);
  if (item.json.contains("predicted_before")) all.emplace_back("predicted before: ", item.json["predicted_before"]);
  for (const auto& [what, measured] : all) {
    Besides besides;
    besides.what = what + source_name(measured);
    const std::vector<Line> lines = results.lines_of(measured);
    for (const Claim& claim : item.claims) {
      if (claim.role == Role::kSetting) continue;
      const Finding finding = finding_in(measured, claim, recipe_of(item, claim.id), lines, results);
      if (finding.is_there()) besides.findings.emplace_back(&claim, finding);
    }
    if (!besides.findings.empty()) comparison.besides.push_back(std::move(besides));
  }
}

bool counts(const Claim& claim) { return claim.role != Role::kFit && claim.role != Role::kSetting; }

std::string beside_paper(const Compared& compared) {
  return compared.claim->text + " (" + compared.claim->said + "; model " + compared.model.text +
         (compared.model.difference.empty() ? "" : ", " + compared.model.difference) + ")";
}

struct Tally {
  size_t judged = 0, reproduced = 0, in_part = 0, without = 0, measured = 0;
  size_t beyond_counting = 0;  // of those that were judged
  size_t fits = 0, missed_fits = 0;
  std::string partly, missed, reason;
};

Tally tally_of(const Comparison& comparison) {
  Tally tally;
  for (const Compared& compared : comparison.claims) {
    if (compared.claim->role == Role::kFit && compared.model.is_there()) {
      ++tally.fits;
      tally.missed_fits += compared.model.outcome == Outcome::kNot ? 1 : 0;
    }
    if (!counts(*compared.claim)) continue;
    if (!compared.model.is_there()) {
      if (compared.claim->role != Role::kPredict) continue;
      ++tally.without;
      tally.measured += compared.measured.outcome == Outcome::kReproduced ? 1 : 0;
      if (tally.reason.empty()) tally.reason = compared.why_no_model;
      continue;
    }
    ++tally.judged;
    tally.beyond_counting += compared.claim->role == Role::kCount ? 0 : 1;
    std::string* list = nullptr;
    if (compared.model.outcome == Outcome::kReproduced) ++tally.reproduced;
    if (compared.model.outcome == Outcome::kInPart) ++tally.in_part, list = &tally.partly;
    if (compared.model.outcome == Outcome::kNot) list = &tally.missed;
    if (list != nullptr) *list += (list->empty() ? "" : "; ") + beside_paper(compared);
  }
  return tally;
}

std::string source_of(const Item& item, const Json& measured, bool is_new) {
  if (measured.empty()) return "";
  std::string text;
  if (measured.contains("file") && !is_new) text = "`" + measured["file"].get<std::string>() + "`";
  for (const Json& chart : measured.value("charts", Json::array()))
    text += (text.empty() ? "`" : ", `") + chart.get<std::string>() + "`";
  std::string note = measured.value("note", std::string());
  if (note.ends_with('.')) note.pop_back();
  if (!note.empty()) text += (text.empty() ? "" : "; ") + note;
  const std::string command = command_for(item);
  return "Measured here: " + text + (command.empty() || is_new ? "" : "; anew by `" + command + "`") + ".";
}

}  // namespace

void judge(Comparison& comparison) {
  const Tally tally = tally_of(comparison);
  if (tally.judged + tally.without == 0) return;
  // What follows from the algorithm alone says nothing of the figure.
  if (tally.judged == 0 || (tally.without > 0 && tally.beyond_counting == 0)) {
    comparison.verdict = tally.measured > 0 ? pages::Verdict::kInPart : pages::Verdict::kNotReproduced;
    comparison.why =
        tally.reason + (tally.measured > 0 ? "; as the paper says, measured here: " + std::to_string(tally.measured) +
                                                 " of " + std::to_string(tally.without)
                                           : "");
    return;
  }
  const bool is_all = tally.reproduced == tally.judged && tally.without + tally.missed_fits == 0;
  const bool is_some = tally.reproduced + tally.in_part > 0;
  comparison.verdict = is_all    ? pages::Verdict::kReproduced
                       : is_some ? pages::Verdict::kInPart
                                 : pages::Verdict::kNotReproduced;
  comparison.why = std::to_string(tally.reproduced) + " of " + std::to_string(tally.judged) + " come out of the model";
  if (!tally.partly.empty()) comparison.why += ". In part: " + tally.partly;
  if (!tally.missed.empty()) comparison.why += ". Not: " + tally.missed;
  if (tally.without > 0) comparison.why += ". Without a model: " + std::to_string(tally.without) + ", " + tally.reason;
  if (tally.missed_fits > 0)
    comparison.why += ". Missed of what a network may be fitted to: " + std::to_string(tally.missed_fits) + " of " +
                      std::to_string(tally.fits);
  const std::string reason = comparison.item->model.value("why", std::string());
  if (!reason.empty()) comparison.why += ". " + reason;
}

Comparison compare(const Item& item, Models& models, Results& results) {
  Comparison comparison;
  comparison.item = &item;
  comparison.model = models.lines_of(item);
  Json measured = object_in(item.json, "measured");
  const bool is_new = results.is_new(anew_name(item));
  if (is_new) {
    measured = item.model["anew"];
    measured["file"] = anew_name(item);
  }
  comparison.source = source_of(item, measured, is_new);
  comparison.measured = results.lines_of(measured);
  for (const Claim& claim : item.claims) {
    Compared& compared = comparison.claims.emplace_back();
    const Json recipe = recipe_of(item, claim.id);
    compared.claim = &claim;
    compared.model = find(claim, recipe, comparison.model);
    if (!compared.model.is_there()) compared.why_no_model = why_no_model(item, claim, comparison.model, recipe);
    if (claim.role != Role::kSetting)
      compared.measured = finding_in(measured, claim, recipe, comparison.measured, results);
  }
  look_besides(item, results, comparison);
  judge(comparison);
  return comparison;
}

}  // namespace hocket::reproduce
