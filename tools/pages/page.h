// SPDX-License-Identifier: BSD-3-Clause
// One document with paragraphs, tables and charts: as a page of HTML that needs no other file and no script, as text
// for a terminal, and as JSON. The same content gives the same bytes; whatever the strings hold is shown, never obeyed.
//
//   Page page("The papers again");
//   page.add_paragraph("What `hocket simulate` says beside what was printed.");
//   Section& section = page.add_section("A9", "Barriers by a NIC engine");
//   section.add_table({"Latency in us", {"nodes", "paper", "model"}, {{"8", "25.72", "25.4"}}});
//   section.add_chart(chart);
//   section.set_verdict(Verdict::kReproduced, "within 2 % at all sizes");
//   puts(page.html().c_str());
//
// Thread safety: a page belongs to one thread.
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "pages/chart.h"

namespace hocket::pages {

enum class Verdict { kNone, kReproduced, kInPart, kNotReproduced };

// "reproduced", "reproduced in part", "not reproduced"; "" of kNone.
const char* name_of(Verdict verdict);

// In paragraphs, `this` is a literal.
struct Paragraph {
  std::string text;
};

// Columns of numbers are aligned at the right. Rows may be shorter or longer than the headers.
struct Table {
  std::string caption;
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
  // In a narrow window each row stands as a block of its own, its cells with their headers before them, instead of
  // being pushed sideways: for tables with sentences in them.
  bool stacks_when_narrow = false;

  size_t columns() const;
  // Whether all cells of the column that hold anything are numbers (is_number() of pages/text.h), and one does.
  bool is_numeric(size_t column) const;
};

using Block = std::variant<Paragraph, Table, Chart>;

class Section {
 public:
  Section(std::string id, std::string anchor, std::string heading)
      : id_(std::move(id)), anchor_(std::move(anchor)), heading_(std::move(heading)) {}

  void add_paragraph(std::string text) { blocks_.emplace_back(Paragraph{std::move(text)}); }
  void add_table(Table table) { blocks_.emplace_back(std::move(table)); }
  // Charts that follow each other stand side by side where there is room.
  void add_chart(Chart chart) { blocks_.emplace_back(std::move(chart)); }
  void set_verdict(Verdict verdict, std::string why);

  const std::string& id() const { return id_; }
  const std::string& anchor() const { return anchor_; }  // what a link to the section says behind its #
  const std::string& heading() const { return heading_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  Verdict verdict() const { return verdict_; }
  const std::string& why() const { return why_; }

 private:
  std::string id_;
  std::string anchor_;
  std::string heading_;
  std::vector<Block> blocks_;
  Verdict verdict_ = Verdict::kNone;
  std::string why_;
};

class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  // Before the summary, which lists the sections and their verdicts.
  void add_paragraph(std::string text) { introduction_.push_back(std::move(text)); }
  // The reference stays valid.
  Section& add_section(std::string id, std::string heading);

  std::string html() const;
  // Without charts: what they show belongs in tables, too.
  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  std::string summary_html() const;
  // Sections and, where one has a verdict, these: the summary, but for its links.
  Table summary() const;

  std::string title_;
  std::vector<std::string> introduction_;
  std::deque<Section> sections_;
};

}  // namespace hocket::pages
