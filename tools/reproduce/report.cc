// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/report.h"

#include <map>

#include "reproduce/figure.h"

namespace hocket::reproduce {
namespace {

using nlohmann::ordered_json;

std::string model_text(const Compared& compared) {
  return compared.model.is_there() ? compared.model.text : compared.why_no_model;
}

std::string with_difference(const Compared& compared) {
  return model_text(compared) + (compared.model.difference.empty() ? "" : " (" + compared.model.difference + ")");
}

pages::Table claims_table(const Comparison& comparison) {
  pages::Table table{"", {"what", "paper", "model", "agrees", "measured here"}, {}, true};
  for (const Compared& compared : comparison.claims) {
    if (compared.claim->role == Role::kSetting) continue;
    std::string agrees = name_of(compared.model.outcome);
    if (compared.claim->role == Role::kFit && !agrees.empty()) agrees += ", not counted";
    table.rows.push_back(
        {compared.claim->text, compared.claim->said, with_difference(compared), agrees, compared.measured.text});
  }
  return table;
}

pages::Table settings_table(const Comparison& comparison) {
  pages::Table table{"Settings of the paper", {"what", "paper"}, {}, true};
  for (const Compared& compared : comparison.claims)
    if (compared.claim->role == Role::kSetting) table.rows.push_back({compared.claim->text, compared.claim->said});
  return table;
}

// A column for each: what they say to the same claims.
pages::Table besides_table(const Comparison& comparison) {
  pages::Table table{"Other measurements, and what had been predicted before", {"what"}, {}, true};
  for (const Besides& besides : comparison.besides) table.headers.push_back(besides.what);
  for (const Compared& compared : comparison.claims) {
    std::vector<std::string> row = {compared.claim->text};
    bool has_any = false;
    for (const Besides& besides : comparison.besides) {
      std::string& cell = row.emplace_back();
      for (const auto& [claim, finding] : besides.findings)
        if (claim == compared.claim) cell = finding.text;
      has_any = has_any || !cell.empty();
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

// Each reason once, with the lines that it keeps away.
void add_problems(const Comparison& comparison, pages::Section& section) {
  std::map<std::string, std::string> lines_of;
  const auto add = [&lines_of](const char* whose, const Line& line) {
    if (line.problem.empty()) return;
    std::string& list = lines_of[line.problem];
    if (!list.empty()) list += "; ";
    list.append(whose).append(line.name).append(line.points.empty() ? "" : " (in part)");
  };
  for (const Line& line : comparison.model) add("model: ", line);
  for (const Line& line : comparison.measured) add("here: ", line);
  for (const auto& [problem, lines] : lines_of) {
    std::string text = "Missing, ";
    section.add_paragraph(text.append(problem).append(": ").append(lines).append("."));
  }
}

void add_section(const Comparison& comparison, const Paper& paper, pages::Page& page) {
  const Item& item = *comparison.item;
  pages::Section& section = page.add_section(item.id, item.title);
  section.add_paragraph(paper.authors + ", " + std::to_string(paper.year) + ", " + item.place + ". " + item.says);
  if (!item.note.empty()) section.add_paragraph(item.note);
  if (const pages::Table claims = claims_table(comparison); !claims.rows.empty()) section.add_table(claims);
  for (const pages::Chart& chart : charts_of(comparison)) section.add_chart(chart);
  if (const std::optional<pages::Table> lines = lines_table(comparison)) section.add_table(*lines);
  add_problems(comparison, section);
  if (!comparison.source.empty()) section.add_paragraph(comparison.source);
  if (const pages::Table besides = besides_table(comparison); !besides.rows.empty()) section.add_table(besides);
  if (const pages::Table settings = settings_table(comparison); !settings.rows.empty()) section.add_table(settings);
  if (comparison.verdict != pages::Verdict::kNone)
    section.set_verdict(comparison.verdict, comparison.why);
  else
    section.add_paragraph(item.is_unreadable ? "Nothing to reproduce: what it says is not known."
                          : item.is_schematic
                              ? "Nothing to reproduce: a drawing that explains."
                              : "Nothing to reproduce: the machine and the method, or what only serves for fitting.");
}

const Paper& paper_of(const Item& item) {
  for (const Paper& paper : papers())
    for (const Item& one : paper.items)
      if (&one == &item) return paper;
  return papers().front();
}

pages::Table numbers_table(const std::vector<Comparison>& comparisons) {
  pages::Table table{"", {"what", "paper", "model", "difference", "measured here", "figure"}, {}, true};
  for (const Comparison& comparison : comparisons) {
    for (const Compared& compared : comparison.claims) {
      const Claim& claim = *compared.claim;
      const bool counts = claim.role == Role::kPredict || (compared.model.is_there() && claim.role != Role::kFit);
      if (!claim.value || !counts) continue;
      table.rows.push_back({claim.text, claim.said, model_text(compared), compared.model.difference,
                            compared.measured.text, comparison.item->id});
    }
  }
  return table;
}

ordered_json number_json(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json json_of(const Compared& compared) {
  const Claim& claim = *compared.claim;
  return {{"id", claim.id},
          {"text", claim.text},
          {"role", name_of(claim.role)},
          {"paper", claim.said},
          {"value", number_json(claim.value)},
          {"unit", claim.unit},
          {"model", compared.model.text},
          {"model_value", number_json(compared.model.value)},
          {"difference", compared.model.difference},
          {"agrees", name_of(compared.model.outcome)},
          {"why_no_model", compared.why_no_model},
          {"measured", compared.measured.text},
          {"measured_value", number_json(compared.measured.value)}};
}

void add_lines(const char* whose, const std::vector<Line>& lines, ordered_json& list) {
  for (const Line& line : lines) {
    ordered_json points = ordered_json::array();
    for (const auto& [x, y] : line.points) points.push_back({x, y});
    list.push_back({{"of", whose},
                    {"name", line.name},
                    {"beside", line.beside},
                    {"points", std::move(points)},
                    {"problem", line.problem}});
  }
}

}  // namespace

pages::Page page_of(const std::vector<Comparison>& comparisons, const std::vector<std::string>& measured_anew) {
  pages::Page page("The papers' figures: what they say, what the model says, and what was measured");
  page.add_paragraph(
      "Each figure and number of the texts of five papers beside simulated figures (`hocket simulate`) and kept "
      "measurements of one machine with two cores. The model's figures come of simulating the schedules on networks "
      "whose numbers are the vendors' or assumed; what is fitted, the figure says.");
  page.add_paragraph(
      "A number is reproduced within 10 % of the paper's, in part within a factor of two or, of a factor, if the right "
      "one is faster; an order, if it holds at all points, in part at more than half; growing and falling means by "
      "more than 5 %, and the same means within 10 %. What is wider says so. Verdicts are the model's: measurements "
      "are of another machine and stand beside it.");
  for (const std::string& file : measured_anew) page.add_paragraph("Measured anew: `" + file + "`.");
  if (comparisons.size() > 1) {
    if (const pages::Table numbers = numbers_table(comparisons); !numbers.rows.empty())
      page.add_section("numbers", "All numbers").add_table(numbers);
  }
  const Paper* last = nullptr;
  for (const Comparison& comparison : comparisons) {
    const Paper& paper = paper_of(*comparison.item);
    if (&paper != last && comparisons.size() > 1) {
      pages::Section& section = page.add_section(paper.key, paper.title);
      section.add_paragraph(paper.authors + ": " + paper.title + ". " + paper.where + ", " +
                            std::to_string(paper.year) + ".");
      if (!paper.note.empty()) section.add_paragraph(paper.note);
    }
    last = &paper;
    add_section(comparison, paper, page);
  }
  return page;
}

nlohmann::ordered_json json_of(const std::vector<Comparison>& comparisons) {
  ordered_json list = ordered_json::array();
  for (const Comparison& comparison : comparisons) {
    ordered_json claims = ordered_json::array(), lines = ordered_json::array();
    for (const Compared& compared : comparison.claims) claims.push_back(json_of(compared));
    add_lines("paper", comparison.item->lines, lines);
    add_lines("model", comparison.model, lines);
    add_lines("measured", comparison.measured, lines);
    list.push_back({{"id", comparison.item->id},
                    {"title", comparison.item->title},
                    {"verdict", pages::name_of(comparison.verdict)},
                    {"why", comparison.why},
                    {"claims", std::move(claims)},
                    {"lines", std::move(lines)}});
  }
  return list;
}

}  // namespace hocket::reproduce
