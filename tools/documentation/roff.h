// SPDX-License-Identifier: BSD-3-Clause
// Manual pages, in the macros of man(7).
//
// Thread safety: a page belongs to one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documentation/text_blocks.h"

namespace hocket::documentation {

// Of all pages of a set.
struct Edition {
  std::string date;     // "2026-11-27"
  std::string version;  // "0.1.0"
};

// In text, `this` is bold.
std::string roff_text(std::string_view text);
std::string roff_bold(std::string_view literal);
std::string roff_italic(std::string_view literal);
// "hocket\-run(1)", in bold but for the section.
std::string roff_reference(std::string_view page, int section);

class RoffPage {
 public:
  RoffPage(std::string_view name, int section, const Edition& edition, std::string_view manual);

  void section(std::string_view title);
  void subsection(std::string_view title);
  // What NAME has: "names - summary".
  void names(const std::vector<std::string>& names, std::string_view summary);
  // These take text that is roff already.
  void paragraph(std::string_view roff);
  void item(std::string_view term_roff, std::string_view text_roff);
  // As it stands, line by line.
  void verbatim(std::string_view text, bool is_bold = false);
  void blocks(const std::vector<Block>& blocks);
  void see_also(const std::vector<std::string>& references);

  const std::string& text() const { return text_; }

 private:
  void fill(std::string_view roff);
  void separate();  // from what stands before

  std::string text_;
};

}  // namespace hocket::documentation
