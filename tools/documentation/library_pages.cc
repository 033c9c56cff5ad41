// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "documentation/pages.h"
#include "documentation/public_header.h"

namespace hocket::documentation {
namespace {

constexpr const char* kManual = "hocket library";
constexpr const char* kOverview = "libhocket";

std::string include_of(const std::string& name) { return "#include <" + name + ">\n"; }

void add_statuses(RoffPage& page, const PublicHeaders& headers) {
  page.section("ERRORS");
  for (const StatusValue& status : headers.statuses)
    if (status.is_error) page.item(roff_bold(status.name), roff_text(status.meaning));
}

// The definitions of types that `code` mentions, and of those that these mention.
void find_types(const PublicHeaders& headers, const std::string& code, std::vector<const Declarations*>& found) {
  for (const HeaderSection& section : headers.sections) {
    for (const Declarations& group : section.groups) {
      const bool is_new = std::find(found.begin(), found.end(), &group) == found.end();
      if (group.type.empty() || !group.functions.empty() || !is_new || code.find(group.type) == std::string::npos)
        continue;
      found.push_back(&group);
      find_types(headers, group.code, found);
    }
  }
}

std::string function_page(const PublicHeaders& headers, const HeaderSection& section, const Declarations& group,
                          const Edition& edition) {
  RoffPage page(group.functions.front(), 3, edition, kManual);
  page.names(group.functions, "hocket: " + section.title);
  page.section("SYNOPSIS");
  page.verbatim(include_of(headers.names[section.header]) + "\n" + group.code, true);
  page.section("DESCRIPTION");
  page.blocks(split_blocks(group.comment));
  page.blocks(split_blocks(section.text));
  // That of the first stands in libhocket(3).
  if (section.header != 0) page.section("NOTES");
  if (section.header != 0) page.blocks(split_blocks(headers.introductions[section.header]));
  std::vector<const Declarations*> types;
  find_types(headers, group.code, types);
  if (!types.empty()) page.section("TYPES");
  for (const Declarations* type : types) {
    page.subsection(type->type);
    page.blocks(split_blocks(type->comment));
    page.verbatim(type->code);
  }
  page.section("RETURN VALUE");
  page.paragraph("A function that returns a status returns " + roff_bold("HOCKET_OK") +
                 " or what stands under ERRORS; " + roff_reference("hocket_error_text", 3) + " says more.");
  add_statuses(page, headers);
  page.see_also(
      {roff_reference(kOverview, 3), roff_reference("hocket_error_text", 3), roff_reference("hocket-environment", 7)});
  return page.text();
}

Page overview(const PublicHeaders& headers, const Edition& edition) {
  RoffPage page(kOverview, 3, edition, kManual);
  page.names({kOverview}, "collective communication on ordinary Linux machines");
  page.section("SYNOPSIS");
  std::string includes;
  for (const std::string& name : headers.names) includes += include_of(name);
  page.verbatim(includes + "\ncc program.c $(pkg-config --cflags --libs hocket)", true);
  page.section("DESCRIPTION");
  page.blocks(split_blocks(headers.introductions.front()));
  for (size_t header = 1; header < headers.names.size(); ++header) {
    page.subsection(headers.names[header]);
    page.blocks(split_blocks(headers.introductions[header]));
  }
  page.section("FUNCTIONS");
  for (const HeaderSection& section : headers.sections) {
    std::string list;
    for (const Declarations& group : section.groups)
      for (const std::string& function : group.functions)
        list += (list.empty() ? "" : ", ") + roff_reference(function, 3);
    if (!list.empty()) page.subsection(section.title);
    if (!list.empty()) page.paragraph(list);
  }
  page.section("TYPES AND VALUES");
  for (const HeaderSection& section : headers.sections) {
    for (const Declarations& group : section.groups) {
      if (!group.functions.empty() || !group.type.empty()) continue;
      page.blocks(split_blocks(group.comment));
      page.verbatim(group.code);
    }
  }
  add_statuses(page, headers);
  page.see_also({roff_reference("hocket", 1), roff_reference("hocket-environment", 7)});
  return {"man3/libhocket.3", page.text()};
}

}  // namespace

Result<std::vector<Page>> library_pages(const std::vector<HeaderText>& texts, const Edition& edition) {
  Result<PublicHeaders> read = read_public_headers(texts);
  if (!read.is_ok()) return read.take_status();
  const PublicHeaders headers = read.take();
  std::vector<Page> pages = {overview(headers, edition)};
  for (const HeaderSection& section : headers.sections) {
    for (const Declarations& group : section.groups) {
      for (const std::string& function : group.functions) {
        const std::string file = "man3/" + function + ".3";
        const bool is_first = function == group.functions.front();
        pages.push_back({file, is_first ? function_page(headers, section, group, edition)
                                        : ".so man3/" + group.functions.front() + ".3\n"});
      }
    }
  }
  return pages;
}

}  // namespace hocket::documentation
