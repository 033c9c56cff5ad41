// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "pages/page.h"
#include "pages/style.h"
#include "pages/text.h"

namespace hocket::pages {
namespace {

// Forms that differ without their colours: a tick in a disc, half a disc, a cross in a square.
std::string badge_html(Verdict verdict) {
  const char* look = "";
  const char* picture = "";
  switch (verdict) {
    case Verdict::kReproduced:
      look = "reproduced";
      picture = "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path d=\"M4.5,8.2l2.5,2.5l4.5,-5\"/>";
      break;
    case Verdict::kInPart:
      look = "in-part";
      picture = "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"full\" d=\"M8,1a7,7 0 0,0 0,14z\"/>";
      break;
    case Verdict::kNotReproduced:
      look = "not-reproduced";
      picture = "<path d=\"M1,1h14v14h-14zM4.5,4.5l7,7M11.5,4.5l-7,7\"/>";
      break;
    case Verdict::kNone:
      return "";
  }
  return "<span class=\"badge " + std::string(look) + "\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\">" + picture +
         "</svg>" + name_of(verdict) + "</span>";
}

std::string literals_html(std::string_view text) {
  std::string html;
  while (true) {
    const size_t open = text.find('`');
    const size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return html + escaped(text);
    html += escaped(text.substr(0, open)) + "<code>" + escaped(text.substr(open + 1, close - open - 1)) + "</code>";
    text.remove_prefix(close + 1);
  }
}

std::string paragraph_html(std::string_view text) { return "<p>" + literals_html(text) + "</p>\n"; }

// Wide tables scroll in a box that the keyboard reaches.
std::string boxed(const std::string& name, const std::string& table) {
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(name) + "\">\n" + table +
         "</div>\n";
}

std::string head_cell(const std::string& text, bool is_numeric) {
  return (is_numeric ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">") + literals_html(text) + "</th>";
}

std::string table_html(const Table& table) {
  const size_t columns = table.columns();
  std::vector<bool> is_numeric;
  for (size_t column = 0; column < columns; ++column) is_numeric.push_back(table.is_numeric(column));
  std::string html = table.stacks_when_narrow ? "<table class=\"stacks\">\n" : "<table>\n";
  if (!table.headers.empty()) {
    html += "<thead><tr>";
    for (size_t column = 0; column < columns; ++column)
      html += head_cell(column < table.headers.size() ? table.headers[column] : "", is_numeric[column]);
    html += "</tr></thead>\n";
  }
  html += "<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (size_t column = 0; column < columns; ++column) {
      html += is_numeric[column] ? "<td class=\"number\"" : "<td";
      const bool is_labelled = table.stacks_when_narrow && column > 0 && column < table.headers.size() &&
                               column < row.size() && !row[column].empty();
      html += is_labelled ? " data-label=\"" + escaped(table.headers[column]) + "\">" : ">";
      html += literals_html(column < row.size() ? row[column] : "") + "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n</table>\n";
  const std::string caption =
      table.caption.empty() ? "" : "<figcaption>" + literals_html(table.caption) + "</figcaption>\n";
  return "<figure>\n" + caption + boxed(table.caption.empty() ? "table" : table.caption, html) + "</figure>\n";
}

std::string section_html(const Section& section) {
  std::string html = "<section id=\"" + section.anchor() + "\">\n<h2>";
  if (!section.id().empty()) html += "<span class=\"id\">" + escaped(section.id()) + "</span>";
  html += literals_html(section.heading()) + "</h2>\n";
  bool is_among_charts = false;
  for (const Block& block : section.blocks()) {
    const bool is_chart = std::holds_alternative<Chart>(block);
    if (is_chart != is_among_charts) html += is_chart ? "<div class=\"charts\">\n" : "</div>\n";
    is_among_charts = is_chart;
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) html += paragraph_html(paragraph->text);
    if (const auto* table = std::get_if<Table>(&block)) html += table_html(*table);
    if (const auto* chart = std::get_if<Chart>(&block)) html += "<figure>\n" + chart_svg(*chart) + "</figure>\n";
  }
  if (is_among_charts) html += "</div>\n";
  if (section.verdict() != Verdict::kNone)
    html += "<p class=\"verdict\">" + badge_html(section.verdict()) + literals_html(section.why()) + "</p>\n";
  return html + "</section>\n";
}

}  // namespace

std::string Page::summary_html() const {
  if (sections_.empty()) return "";
  const Table table = summary();
  std::string html = "<table class=\"summary\">\n<thead><tr>";
  for (const std::string& header : table.headers) html += head_cell(header, false);
  html += "</tr></thead>\n<tbody>\n";
  for (const Section& section : sections_) {
    const std::string& shown = section.id().empty() ? section.anchor() : section.id();
    html += "<tr><td><a href=\"#" + section.anchor() + "\">" + escaped(shown) + "</a></td><td>" +
            literals_html(section.heading()) + "</td>";
    if (table.headers.size() > 2) html += "<td>" + badge_html(section.verdict()) + "</td>";
    html += "</tr>\n";
  }
  return "<nav aria-label=\"Summary\">\n" + boxed("Summary", html + "</tbody>\n</table>\n") + "</nav>\n";
}

std::string Page::html() const {
  const std::string title = escaped(title_);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>" +
      title + "</title>\n<style>\n" + page_style() + chart_style() + "</style>\n</head>\n<body>\n<main>\n<h1>" + title +
      "</h1>\n";
  for (const std::string& paragraph : introduction_) html += paragraph_html(paragraph);
  html += summary_html();
  for (const Section& section : sections_) html += section_html(section);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace hocket::pages
