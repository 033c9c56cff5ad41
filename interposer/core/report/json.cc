// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "base/whole_write.h"

namespace hocket::interposer {
namespace {

std::string escaped(char letter) {
  if (letter == '"' || letter == '\\') return {'\\', letter};
  if (static_cast<unsigned char>(letter) >= 0x20) return {letter};
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(letter));
  return text;
}

// Members of an object, or elements of an array, with commas between.
class List {
 public:
  List(char open, char close) : text_(1, open), close_(close) {}
  void add(const std::string& element) {
    text_ += std::exchange(separator_, ", ");
    text_ += element;
  }
  void add(const char* name, const std::string& value) { add(json_string(name) + ": " + value); }
  void add(const char* name, uint64_t value) { add(name, std::to_string(value)); }
  void add_seconds(const char* name, uint64_t us) {
    char number[40];
    std::snprintf(number, sizeof number, "%llu.%06llu", static_cast<unsigned long long>(us / 1'000'000),
                  static_cast<unsigned long long>(us % 1'000'000));
    add(name, number);
  }
  std::string text() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
  const char* separator_ = "";
};
List object() { return {'{', '}'}; }
List array() { return {'[', ']'}; }

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", number);
  return text;
}

std::string seconds_of(const JobReport& report) {
  List seconds = object();
  seconds.add_seconds("job", report.job_us());
  seconds.add_seconds("collectives", report.within_us());
  seconds.add_seconds("waiting", report.waited_us);
  seconds.add_seconds("moving", report.moving_us());
  seconds.add_seconds("not_told_apart", report.not_told_apart_us());
  return seconds.text();
}

std::string calls_of(const JobReport& report) {
  List calls = object();
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    List outcomes = object();
    uint64_t by_hocket = 0, by_mpi = 0;
    for (int j = 0; j < kOutcomes; ++j) {
      const auto outcome = static_cast<Outcome>(j);
      const uint64_t number = report.calls[static_cast<size_t>(counter_index(collective, outcome))];
      (is_by_hocket(outcome) ? by_hocket : by_mpi) += number;
      if (number != 0) outcomes.add(reason(outcome), number);
    }
    if (by_hocket + by_mpi == 0) continue;
    List one = object();
    one.add("carried_out", by_hocket);
    one.add("passed_through", by_mpi);
    one.add("outcomes", outcomes.text());
    one.add_seconds("seconds", report.times[static_cast<size_t>(i)]);
    calls.add(mpi_name(collective), one.text());
  }
  return calls.text();
}

std::string late_of(const JobReport& report) {
  List ranks = array();
  for (const LateRank& late : report.late) {
    List one = object();
    one.add("rank", late.rank);
    one.add_seconds("seconds", late.us);
    ranks.add(one.text());
  }
  return ranks.text();
}

void add_numbers(List& to, const PlacedSite& site) {
  to.add("calls", site.calls);
  to.add_seconds("seconds", site.us);
  to.add_seconds("waiting", site.waited_us);
}

std::string sites_of(const JobReport& report) {
  List sites = array();
  const std::span<const PlacedSite> places = report.sites.sites();
  for (size_t i = 0; i < places.size(); ++i) {
    const PlacedSite& place = places[i];
    const SourceLine line = i < report.lines.size() ? report.lines[i] : SourceLine();
    const std::string function = line.function.empty() ? place.function : line.function;
    List one = object();
    one.add("collective", json_string(mpi_name(place.collective)));
    one.add("function", function.empty() ? "null" : json_string(function));
    one.add("file", line.file.empty() ? "null" : json_string(line.file));
    one.add("line", line.file.empty() ? "null" : std::to_string(line.line));
    one.add("object", json_string(place.object));
    one.add("offset", place.offset);
    add_numbers(one, place);
    sites.add("\n  " + one.text());
  }
  return sites.text();
}

std::string choices_of(const JobReport& report) {
  List choices = array();
  for (const ChoiceTimes& choice : report.choices) {
    List one = object();
    one.add("collective", json_string(mpi_name(choice.key.collective)));
    one.add("algorithm", json_string(choice.key.algorithm));
    one.add("bytes", choice.key.bytes);
    one.add("ranks", choice.key.ranks);
    one.add("calls", choice.calls);
    one.add_seconds("seconds", choice.ns / 1000);
    one.add("best", choice.best.empty() ? "null" : json_string(choice.best));
    one.add("best_us", choice.best.empty() ? "null" : number_text(choice.best_us));
    one.add("best_bytes", choice.best_bytes);
    one.add("best_is_of_another_machine", choice.best_is_shipped ? "true" : "false");
    choices.add("\n  " + one.text());
  }
  return choices.text();
}

Status failure(const std::string& path, int error) {
  return Status::system("HOCKET_STATS: " + path + " can't be written", error);
}

// A file beside the one that it is to become.
std::string temporary_of(const std::string& path) { return path + "." + std::to_string(getpid()); }

int open_new(const std::string& path) { return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t length = length_of_character(text);
    quoted += length == 0 ? "?" : length == 1 ? escaped(text[0]) : std::string(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + "\"";
}

std::string json_text(const JobReport& report) {
  List all = object();
  all.add("format", 1);
  all.add("ranks", static_cast<uint64_t>(report.ranks));
  all.add("seconds", seconds_of(report));
  all.add("calls", calls_of(report));
  List windows = object();
  windows.add("in_place", report.windows_in_place);
  windows.add("copied", report.windows_copied);
  all.add("windows", windows.text());
  all.add("waited_for", late_of(report));
  List others = object();
  others.add("ranks", report.other_late);
  others.add_seconds("seconds", report.other_late_us);
  all.add("waited_for_others", others.text());
  all.add("call_sites", sites_of(report));
  List other_sites = object();
  add_numbers(other_sites, report.sites.others);
  all.add("other_call_sites", other_sites.text());
  all.add("choices_of_rank_0", choices_of(report));
  return all.text() + "\n";
}

namespace {
Status check_kind(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    return {Code::kInvalidArgument, "HOCKET_STATS: " + path + " can't be written: it is not a regular file"};
  return Status::ok();
}
}  // namespace

Status try_file(const std::string& path) {
  HOCKET_TRY(check_kind(path));
  const std::string temporary = temporary_of(path);
  const int file = open_new(temporary);
  if (file < 0) return failure(path, errno);
  close(file);
  unlink(temporary.c_str());
  return Status::ok();
}

Status write_file(const std::string& path, const std::string& text) {
  HOCKET_TRY(check_kind(path));
  const std::string temporary = temporary_of(path);
  const int file = open_new(temporary);
  if (file < 0) return failure(path, errno);
  int error = write_whole(file, text);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Status::ok();
  unlink(temporary.c_str());
  return failure(path, error);
}

}  // namespace hocket::interposer
