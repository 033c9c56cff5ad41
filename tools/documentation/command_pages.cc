// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "documentation/pages.h"

namespace hocket::documentation {
namespace {

constexpr std::string_view kExitCodes = "Exit codes:";
constexpr std::string_view kCommands = "hocket commands";

// "hocket lab up" -> "hocket-lab-up".
std::string page_name(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '-');
  return path;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string names_in_bold(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + roff_bold(name);
  return text;
}

// The command's words in bold, places to fill in in italics.
std::string usage_of(const Command& command) {
  std::string roff = roff_bold(command.path);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) roff += word == "--" ? roff_bold(word) : word == "..." ? word : roff_italic(word);
    word.clear();
  };
  for (const char c : command.usage.substr(std::min(command.path.size(), command.usage.size()))) {
    if (c == ' ' || c == '[' || c == ']') {
      end_word();
      roff += c;
    } else {
      word += c;
    }
  }
  end_word();
  return roff;
}

// Words that --help names by itself are not listed once more.
bool names_all(const std::string& help, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return help.find(word) != std::string::npos; });
}

// What --help has in one line, as a sentence's parts.
std::string description_of(const Argument& argument) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& roff) { parts.push_back(roff); };
  if (!argument.help.empty()) add(roff_text(argument.help));
  if (!names_all(argument.help, argument.choices)) add("one of " + names_in_bold(argument.choices));
  if (!argument.limits.empty()) add(roff_text(argument.limits));
  if (!argument.default_value.empty()) add("default: " + roff_bold(argument.default_value));
  if (argument.delimiter != 0)
    add(std::string("several are separated by ") + (argument.delimiter == ';' ? "semicolons" : "commas"));
  if (!argument.needs.empty()) add("needs " + names_in_bold(argument.needs));
  if (!argument.excludes.empty()) add("not with " + names_in_bold(argument.excludes));
  if (argument.is_required) add("required");
  return joined(parts, "; ");
}

void add_arguments(RoffPage& page, const Command& command) {
  if (!command.positionals.empty()) page.section("ARGUMENTS");
  for (const Argument& argument : command.positionals)
    page.item(roff_italic(argument.names.front()), description_of(argument));
  page.section("OPTIONS");
  for (const Argument& argument : command.options) {
    std::string term = names_in_bold(argument.names);
    for (int i = 0; i < argument.least; ++i) term += " " + roff_italic(argument.type);
    if (argument.takes_many()) term += " ...";
    page.item(term, description_of(argument));
  }
}

// The parts of a footer, each for a section of its own.
struct Footer {
  std::vector<Block> description, examples;
  std::string exit_codes;
};

Footer sort_footer(const Command& command) {
  Footer footer;
  bool are_examples = false;
  for (const Block& block : split_blocks(command.footer)) {
    if (block.paragraph.starts_with(kExitCodes)) {
      footer.exit_codes = block.paragraph.substr(kExitCodes.size() + 1);
    } else if (block.is_list() && are_examples) {
      footer.examples.push_back(block);
    } else {
      are_examples = block.paragraph == "Examples:" || block.paragraph == "First steps:";
      if (!are_examples) footer.description.push_back(block);
    }
  }
  return footer;
}

std::string page_of(const Command& command, const std::string& parent, const Edition& edition) {
  const Footer footer = sort_footer(command);
  const std::string name = page_name(command.path);
  RoffPage page(name, 1, edition, kCommands);
  page.names({name}, command.summary);
  page.section("SYNOPSIS");
  page.paragraph(usage_of(command));
  page.section("DESCRIPTION");
  page.paragraph(roff_text(command.summary + "."));
  page.blocks(footer.description);
  add_arguments(page, command);
  std::vector<std::string> others;
  if (!parent.empty()) others.push_back(roff_reference(page_name(parent), 1));
  if (!command.subcommands.empty()) page.section("COMMANDS");
  for (const Command& subcommand : command.subcommands) {
    others.push_back(roff_reference(page_name(subcommand.path), 1));
    page.item(others.back(), roff_text(subcommand.summary));
  }
  page.section("EXIT STATUS");
  page.paragraph(footer.exit_codes.empty() ? "See " + roff_reference("hocket", 1) + "." : roff_text(footer.exit_codes));
  page.section("ENVIRONMENT");
  page.paragraph("The settings that " + roff_reference("hocket-environment", 7) + " lists.");
  if (!footer.examples.empty()) page.section("EXAMPLES");
  page.blocks(footer.examples);
  others.push_back(roff_reference("libhocket", 3));
  others.push_back(roff_reference("hocket-environment", 7));
  page.see_also(others);
  return page.text();
}

void add_pages(std::vector<Page>& pages, const Command& command, const std::string& parent, const Edition& edition) {
  pages.push_back({"man1/" + page_name(command.path) + ".1", page_of(command, parent, edition)});
  for (const Command& subcommand : command.subcommands) add_pages(pages, subcommand, command.path, edition);
}

}  // namespace

std::vector<Page> command_pages(const Command& command, const Edition& edition) {
  std::vector<Page> pages;
  add_pages(pages, command, "", edition);
  return pages;
}

}  // namespace hocket::documentation
