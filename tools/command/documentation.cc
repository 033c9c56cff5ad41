// SPDX-License-Identifier: BSD-3-Clause
// hocket completion, for people; hocket documentation, by which the build makes manual pages and completions.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "algorithms/algorithm.h"
#include "base/environment.h"
#include "command/command.h"
#include "documentation/completion.h"
#include "documentation/pages.h"
#include "hocket/hocket.h"
#include "schedule/collective.h"

namespace hocket::command {
namespace {

constexpr const char* kCompletionFooter = R"(
Examples:
  source <(hocket completion bash)                 for this shell; in ~/.bashrc for all to come
  source <(hocket completion zsh)                  the same in zsh, behind compinit
  hocket completion fish | source                  the same in fish
An installed hocket has put these where the shells look for them by themselves.)";

documentation::Vocabulary vocabulary() {
  documentation::Vocabulary words;
  for (int i = 0; i < schedule::kAllCollectives; ++i) {
    const auto collective = static_cast<schedule::Collective>(i);
    words.collectives.emplace_back(schedule::name(collective));
    words.algorithms.emplace_back(schedule::name(collective), std::vector<std::string>());
    const auto registered =
        schedule::is_among_neighbors(collective) ? algorithms::all_among_neighbors() : algorithms::all();
    for (const algorithms::Algorithm* algorithm : registered)
      if (algorithms::find(collective, algorithm->name) == algorithm)
        words.algorithms.back().second.emplace_back(algorithm->name);
  }
  words.measurements = {"all", "pingpong", "wait"};
  words.measurements.insert(words.measurements.end(), words.collectives.begin(), words.collectives.end());
  words.lab_directory = environment::find("HOCKET_LAB_DIRECTORY")->default_value;
  return words;
}

std::string completion_for(const std::string& shell, const documentation::Command& tree) {
  if (shell == "bash") return documentation::bash_completion(tree, vocabulary());
  if (shell == "zsh") return documentation::zsh_completion(tree, vocabulary());
  return documentation::fish_completion(tree, vocabulary());
}

struct DocumentationOptions {
  std::string directory;
  std::vector<std::string> headers;
  std::string date;
};

// As man expects it: year, month and day.
std::string wrong_date(const std::string& date) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  bool is_right = date.size() == kForm.size();
  for (size_t i = 0; is_right && i < kForm.size(); ++i)
    is_right = kForm[i] == 'd' ? date[i] >= '0' && date[i] <= '9' : date[i] == kForm[i];
  return is_right ? "" : "`" + date + "` is no date: year, month and day are needed, as in 2026-11-27";
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::trunc);
  file << text;
  return file.flush().good();
}

int write_documentation(const DocumentationOptions& options, const documentation::Command& tree) {
  std::vector<documentation::HeaderText> headers;
  for (const std::string& name : options.headers) {
    std::ifstream file(name);
    if (!file) return fail(kUsage, "can't read `" + name + "`, which --header names");
    const std::string included = "hocket/" + std::filesystem::path(name).filename().string();
    headers.push_back({included, std::string((std::istreambuf_iterator<char>(file)), {})});
  }
  const documentation::Edition edition = {options.date, hocket_version()};
  Result<std::vector<documentation::Page>> library = documentation::library_pages(headers, edition);
  if (!library.is_ok()) return fail(kFailure, library.status().message());
  std::vector<documentation::Page> pages = documentation::command_pages(tree, edition);
  pages.push_back(documentation::settings_page(edition));
  for (documentation::Page& page : library.value()) pages.push_back(std::move(page));
  for (documentation::Page& page : pages) page.file.insert(0, "man/");
  pages.push_back({"completion/hocket", completion_for("bash", tree)});
  pages.push_back({"completion/_hocket", completion_for("zsh", tree)});
  pages.push_back({"completion/hocket.fish", completion_for("fish", tree)});
  for (const documentation::Page& page : pages) {
    const std::filesystem::path path = std::filesystem::path(options.directory) / page.file;
    if (!write_file(path, page.text)) return fail(kFailure, "can't write to `" + path.string() + "`");
  }
  return kSuccess;
}

}  // namespace

void add_documentation(CLI::App& app, Invocation& invocation) {
  auto* completion = app.add_subcommand("completion", "Print what makes a shell complete hocket's command line");
  completion->footer(kCompletionFooter);
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "whose")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([=, &app, &invocation] {
    invocation.run = [=, &app] {
      std::fputs(completion_for(*shell, documentation::read_command(app)).c_str(), stdout);
      return kSuccess;
    };
  });

  auto* all = app.add_subcommand("documentation", "manual pages and completions, for the build");
  all->group("");
  auto options = std::make_shared<DocumentationOptions>();
  all->add_option("directory", options->directory, "where to write them")->required();
  all->add_option("--header", options->headers, "hocket.h, and those beside it by an option each")
      ->required()
      ->expected(1)
      ->take_all();
  all->add_option("--date", options->date, "of the pages, 2026-11-27")
      ->required()
      ->check(CLI::Validator(wrong_date, ""));
  all->callback([=, &app, &invocation] {
    invocation.run = [=, &app] { return write_documentation(*options, documentation::read_command(app)); };
  });
}

}  // namespace hocket::command
