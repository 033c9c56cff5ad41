// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/roff.h"

#include <algorithm>
#include <cctype>

namespace hocket::documentation {
namespace {

constexpr size_t kFillColumns = 78;

// What would be taken for something else than itself.
std::string_view roff_character(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '"':
      return "\\(dq";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

std::string in_font(char font, std::string_view literal) {
  std::string roff = "\\f";
  roff += font;
  for (const char c : literal) {
    const std::string_view special = roff_character(c);
    special.empty() ? roff += c : roff += special;
  }
  return roff + "\\fR";
}

std::string escaped(std::string_view literal) {
  const std::string roff = in_font('R', literal);
  return roff.substr(3, roff.size() - 6);
}

// A line of text that begins so would be a request.
std::string guarded(std::string_view line) { return (line.starts_with('.') ? "\\&" : "") + std::string(line); }

}  // namespace

std::string roff_bold(std::string_view literal) { return in_font('B', literal); }
std::string roff_italic(std::string_view literal) { return in_font('I', literal); }
std::string roff_reference(std::string_view page, int section) {
  return roff_bold(page) + "(" + std::to_string(section) + ")";
}

std::string roff_text(std::string_view text) {
  std::string roff;
  while (!text.empty()) {
    const size_t open = text.find('`');
    const size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return roff + escaped(text);
    roff += escaped(text.substr(0, open)) + roff_bold(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return roff;
}

RoffPage::RoffPage(std::string_view name, int section, const Edition& edition, std::string_view manual) {
  std::string title(name);
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  text_ = ".\\\" Made at build time from what --help and the public header say.\n.TH " + escaped(title) + " " +
          std::to_string(section) + " " + edition.date + " \"hocket " + edition.version + "\" \"" +
          std::string(manual) + "\"\n.nh\n.ad l\n";
}

void RoffPage::section(std::string_view title) { text_ += ".SH " + escaped(title) + "\n"; }
void RoffPage::subsection(std::string_view title) { text_ += ".SS " + escaped(title) + "\n"; }

void RoffPage::names(const std::vector<std::string>& names, std::string_view summary) {
  section("NAME");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + escaped(name);
  fill(list + " \\- " + roff_text(summary));
}

void RoffPage::fill(std::string_view roff) {
  while (!roff.empty()) {
    size_t end = roff.size();
    if (end > kFillColumns) {
      end = roff.rfind(' ', kFillColumns);
      if (end == std::string_view::npos) end = std::min(roff.find(' '), roff.size());
    }
    text_ += guarded(roff.substr(0, end)) + "\n";
    roff.remove_prefix(std::min(end + 1, roff.size()));
    roff.remove_prefix(std::min(roff.find_first_not_of(' '), roff.size()));
  }
}

void RoffPage::paragraph(std::string_view roff) {
  separate();
  fill(roff);
}

void RoffPage::separate() {
  // Behind a heading it would be one too many.
  const size_t last = text_.rfind('\n', text_.size() - 2);
  const std::string_view line = std::string_view(text_).substr(last + 1);
  if (!line.starts_with(".SH ") && !line.starts_with(".SS ")) text_ += ".PP\n";
}

void RoffPage::item(std::string_view term_roff, std::string_view text_roff) {
  if (text_roff.empty()) return paragraph(term_roff);
  text_ += ".TP\n" + guarded(term_roff) + "\n";
  fill(text_roff);
}

void RoffPage::verbatim(std::string_view text, bool is_bold) {
  separate();
  text_ += ".EX\n";
  for (const std::string_view line : split_lines(text))
    text_ += (line.empty() ? "" : is_bold ? roff_bold(line) : guarded(escaped(line))) + "\n";
  text_ += ".EE\n";
}

void RoffPage::blocks(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (!block.is_list()) paragraph(roff_text(block.paragraph));
    for (const Item& one : block.items) item(roff_bold(one.term), roff_text(one.text));
  }
}

void RoffPage::see_also(const std::vector<std::string>& references) {
  section("SEE ALSO");
  std::string list;
  for (const std::string& reference : references) list += (list.empty() ? "" : ", ") + reference;
  fill(list);
}

}  // namespace hocket::documentation
