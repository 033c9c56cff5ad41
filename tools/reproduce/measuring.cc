// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/measuring.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pages/text.h"

extern char** environ;

namespace hocket::reproduce {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kSets = "bench/results/papers/";

// Those of an item's files that measure.py makes.
Words sets_of(const Item& item) {
  Words sets;
  const auto add = [&sets](const Json& measured) {
    const std::string file = measured.value("file", std::string());
    if (!file.starts_with(kSets)) return;
    const std::string set = fs::path(file).stem().string();
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  add(item.json.value("measured", Json::object()));
  for (const Json& also : item.json.value("measured_also", Json::array())) add(also);
  return sets;
}

std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain = word.find_first_of(" ;'\"*") == std::string::npos;
    line += (line.empty() ? "" : " ") + (is_plain ? word : "'" + word + "'");
  }
  return line;
}

// What it prints goes to stderr: stdout is the page's.
Status run(const Words& words) {
  const std::string line = line_of(words);
  std::fprintf(stderr, "%s\n", line.c_str());
  std::vector<char*> arguments;
  Words kept = words;
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, kept[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status::system("can't run `" + line + "`", error);
  int code = 0;
  while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return Status::ok();
  return {Code::kBroken, "`" + line + "` has failed; what it printed says why"};
}

std::string own_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

Status measure_sets(const Words& sets, const MeasureOptions& options) {
  if (sets.empty()) return Status::ok();
  const std::string kept = kept_results();
  const fs::path script = fs::path(kept) / "../../scripts/papers/measure.py";
  if (kept.empty() || !fs::exists(script))
    return {Code::kNotSupported,
            "measuring " + line_of(sets) + " anew takes scripts/papers/measure.py: call it from a checkout of hocket"};
  if (geteuid() != 0)
    return {Code::kSystem, "measuring " + line_of(sets) + " anew takes labs, and they root: sudo hocket reproduce"};
  Words words = {"python3", script.lexically_normal().string()};
  words.insert(words.end(), sets.begin(), sets.end());
  for (const std::string& word : {std::string("--output"), options.folder, std::string("--hocket"), own_path(),
                                  std::string("--share"), pages::number_text(options.share)})
    words.push_back(word);
  return run(words);
}

// Each of its commands leaves rows, which become one file.
Status measure_anew(const Item& item, const Json& anew, const std::string& path) {
  Json rows = Json::array();
  for (const Json& command : anew.value("commands", Json::array())) {
    Words words = {own_path()};
    std::istringstream stream(command.get<std::string>());
    for (std::string word; stream >> word;) words.push_back(word);
    words.insert(words.end(), {"--json", path});
    if (Status status = run(words); !status.is_ok()) return status;
    std::ifstream file(path);
    const Json some = Json::parse(file, nullptr, false);  // instead of throwing
    for (size_t at = 0; some.is_array() && at < some.size(); ++at) rows.push_back(some[at]);
  }
  std::ofstream file(path);
  file << rows.dump(1) << "\n";
  if (!file.flush()) return Status::system("can't write what was measured of " + item.id + " to " + path, errno);
  return Status::ok();
}

const Json* anew_of(const Item& item) { return item.model.contains("anew") ? &item.model["anew"] : nullptr; }

}  // namespace

std::string anew_name(const Item& item) { return "anew/" + item.id; }

std::string command_for(const Item& item) {
  if (const Words sets = sets_of(item); !sets.empty()) return "sudo scripts/papers/measure.py " + line_of(sets);
  if (anew_of(item) != nullptr) return "hocket reproduce " + item.id + " --measure";
  return "";
}

Result<std::vector<std::string>> measure(const std::vector<const Item*>& items, const MeasureOptions& options,
                                         Results& results) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return Status::system("can't make the folder " + options.folder, error.value());
  Words sets, files;
  for (const Item* item : items) {
    if (command_for(*item).empty() && item->json.contains("measured"))
      std::fprintf(stderr, "%s: what was kept is shown; its page in bench/results says how to measure it\n",
                   item->id.c_str());
    for (const std::string& set : sets_of(*item))
      if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }
  if (Status status = measure_sets(sets, options); !status.is_ok()) return status;
  for (const std::string& set : sets) {
    const std::string path = options.folder + "/" + set + ".json";
    results.put(kSets + set + ".json", path);
    files.push_back(path);
  }
  for (const Item* item : items) {
    const Json* anew = anew_of(*item);
    if (anew == nullptr) continue;
    std::string name = item->id;
    std::replace(name.begin(), name.end(), '/', '-');
    const std::string path = options.folder + "/" + name + ".json";
    if (Status status = measure_anew(*item, *anew, path); !status.is_ok()) return status;
    results.put(anew_name(*item), path);
    files.push_back(path);
  }
  return files;
}

}  // namespace hocket::reproduce
