// SPDX-License-Identifier: BSD-3-Clause
// hocket reproduce: the papers' figures and numbers, beside the model's and what was measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>

#include "command/command.h"
#include "reproduce/measuring.h"
#include "reproduce/report.h"

namespace hocket::command {
namespace {

using reproduce::Comparison;
using reproduce::Item;

constexpr const char* kReproduceFooter = R"(
Examples:
  hocket reproduce --list                                what there is
  hocket reproduce nic-barrier/figure-5                  one figure: what the paper says, the model, and this machine
  hocket reproduce multicast-broadcast                   one paper
  hocket reproduce --html papers.html                    everything as one page, for a browser or a phone
  hocket reproduce all --json - | jq '.[].verdict'
  hocket reproduce intra-cell/figure-2-right --measure   measures it on this machine first
  sudo hocket reproduce nic-barrier/figure-5 --measure --share 0.05    in labs, a twentieth of the rounds
How a verdict comes about, and what each figure's model is: docs/reproduce.md.)";

struct Wanted {
  std::vector<std::string> names;
  std::string html, json, results;
  bool is_list = false, measures = false;
  reproduce::MeasureOptions measure{.folder = "reproduced"};
};

int list_items() {
  for (const reproduce::Paper& paper : reproduce::papers()) {
    std::printf("%s: %s (%d)\n", paper.key.c_str(), paper.title.c_str(), paper.year);
    for (const Item& item : paper.items) std::printf("  %-38s %s\n", item.id.c_str(), item.title.c_str());
  }
  return kSuccess;
}

Result<std::vector<const Item*>> items_of(const std::vector<std::string>& names) {
  std::vector<const Item*> items;
  std::set<const Item*> seen;
  for (const std::string& name : names) {
    const Result<std::vector<const Item*>> found = reproduce::find_items(name);
    if (!found.is_ok()) return Status(found.status().code(), found.status().message());
    for (const Item* item : found.value())
      if (seen.insert(item).second) items.push_back(item);
  }
  return items;
}

// "-": stdout.
int write_to(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) < 0 ? kFailure : kSuccess;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) return fail(kFailure, "can't write " + path);
  return kSuccess;
}

int run_reproduce(const Wanted& wanted) {
  if (wanted.is_list) return list_items();
  const Result<std::vector<const Item*>> items =
      items_of(wanted.names.empty() ? std::vector<std::string>{"all"} : wanted.names);
  if (!items.is_ok()) return fail(kUsage, items.status().message());
  reproduce::Results results(wanted.results.empty() ? reproduce::kept_results() : wanted.results);
  std::vector<std::string> measured;
  if (wanted.measures) {
    Result<std::vector<std::string>> files = reproduce::measure(items.value(), wanted.measure, results);
    if (!files.is_ok()) return fail(kFailure, files.status().message());
    measured = files.take();
  }
  reproduce::Models models;
  std::vector<Comparison> comparisons;
  for (const Item* item : items.value()) comparisons.push_back(reproduce::compare(*item, models, results));
  const pages::Page page = reproduce::page_of(comparisons, measured);
  if (wanted.html.empty() && wanted.json.empty()) return write_to("-", page.text());
  if (!wanted.json.empty())
    if (const int code = write_to(wanted.json, reproduce::json_of(comparisons).dump(1) + "\n"); code != kSuccess)
      return code;
  return wanted.html.empty() ? kSuccess : write_to(wanted.html, page.html());
}

}  // namespace

void add_reproduce(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("reproduce", "Set five papers' figures beside the model's and this machine's");
  sub->footer(kReproduceFooter);
  auto wanted = std::make_shared<Wanted>();
  sub->add_option("names", wanted->names, "papers, figures and numbers, or all (default)")->type_name("NAME");
  sub->add_flag("--list", wanted->is_list, "what there is");
  sub->add_option("--html", wanted->html, "write a page that needs no other file; - is stdout")->type_name("FILE");
  sub->add_option("--json", wanted->json, "write it for a program to read; - is stdout")->type_name("FILE");
  sub->add_option("--results", wanted->results, "where bench/results is (default: in the checkout)")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  sub->add_flag("--measure", wanted->measures,
                "measure anew first what can be; what was measured in labs takes root, and hours");
  sub->add_option("--share", wanted->measure.share, "with --measure: the part of the rounds to run")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  sub->add_option("--keep", wanted->measure.folder, "with --measure: into which folder new files go")
      ->type_name("FOLDER")
      ->capture_default_str();
  sub->callback([=, &invocation] { invocation.run = [=] { return run_reproduce(*wanted); }; });
}

}  // namespace hocket::command
