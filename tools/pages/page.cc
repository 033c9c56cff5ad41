// SPDX-License-Identifier: BSD-3-Clause
#include "pages/page.h"

#include <algorithm>
#include <cctype>

#include "pages/text.h"

namespace hocket::pages {
namespace {

// What needs no escape in a link: letters, digits, and - for everything else.
std::string anchor_of(const std::string& id) {
  std::string anchor;
  for (const unsigned char c : id) {
    const bool is_kept = (c < 0x80 && std::isalnum(c) != 0) || c == '.' || c == '_';
    if (is_kept)
      anchor += static_cast<char>(c);
    else if (!anchor.ends_with('-'))
      anchor += '-';
  }
  return anchor.empty() || anchor == "-" ? "section" : anchor;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReproduced:
      return "reproduced";
    case Verdict::kInPart:
      return "reproduced in part";
    case Verdict::kNotReproduced:
      return "not reproduced";
    default:
      return "";
  }
}

size_t Table::columns() const {
  size_t most = headers.size();
  for (const std::vector<std::string>& row : rows) most = std::max(most, row.size());
  return most;
}

bool Table::is_numeric(size_t column) const {
  bool has_number = false;
  for (const std::vector<std::string>& row : rows) {
    if (column >= row.size() || row[column].empty() || row[column] == "-" || row[column] == "–") continue;
    if (!is_number(row[column])) return false;
    has_number = true;
  }
  return has_number;
}

void Section::set_verdict(Verdict verdict, std::string why) {
  verdict_ = verdict;
  why_ = std::move(why);
}

Section& Page::add_section(std::string id, std::string heading) {
  const std::string wanted = anchor_of(id);
  std::string anchor = wanted;
  const auto has_it = [&anchor](const Section& other) { return other.anchor() == anchor; };
  for (int number = 2; std::any_of(sections_.begin(), sections_.end(), has_it); ++number)
    anchor = wanted + "-" + std::to_string(number);
  return sections_.emplace_back(std::move(id), std::move(anchor), std::move(heading));
}

Table Page::summary() const {
  const auto has_verdict = [](const Section& section) { return section.verdict() != Verdict::kNone; };
  const bool has_verdicts = std::any_of(sections_.begin(), sections_.end(), has_verdict);
  Table table{"Summary", {"", "what"}, {}};
  if (has_verdicts) table.headers.emplace_back("verdict");
  for (const Section& section : sections_) {
    table.rows.push_back({section.id(), section.heading()});
    if (has_verdicts) table.rows.back().emplace_back(name_of(section.verdict()));
  }
  return table;
}

}  // namespace hocket::pages
