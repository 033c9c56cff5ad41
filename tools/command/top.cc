// SPDX-License-Identifier: BSD-3-Clause
// hocket top: running jobs and their ranks, the latest first, again and again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "command/command.h"
#include "command/number_range.h"
#include "observe/job_finder.h"
#include "observe/job_json.h"
#include "observe/job_metrics.h"
#include "observe/picture.h"
#include "observe/screen.h"

namespace hocket::command {
namespace {

constexpr const char* kTopFooter = R"(
A line a rank, the latest first, as in `hocket where`. LATE: how long the longest wait for it has lasted; WAITED: the
share of the last interval in which it has waited for others in hocket's collectives; CPU: that of its threads on
processors, 100 % a core; CALLS/S: blocking collectives on the communicator that it called last; WHERE, FOR: where it
is and how long; WAITS FOR: ranks of the job. Red: late for --late seconds or longer. q or Ctrl-C ends it. With
--count the last picture stays on the terminal. Where stdout is no terminal, or TERM says that it can't place text
(dumb, or not set), tables follow one another.

Jobs are those of this user on this machine, for root those of all users.

Examples:
  hocket top                                       all jobs
  hocket top 4711                                  that of process 4711, a rank or the launcher
  hocket top --interval 5 --count 12 >late.txt     a minute of tables
  hocket top --json --count 1 | jq '.jobs[].late_s'
                                                   how late the latest rank of each job is, for programs
  hocket top --interval 15 --metrics /var/lib/prometheus/node-exporter >/dev/null
                                                   as a service, for the node exporter's textfile collector)";

using observe::JobView;

struct TopOptions {
  std::string which;
  double interval_s = 1;
  double late_s = 10;
  int pictures = 0;  // 0: until it is interrupted
  bool is_json = false;
  std::string metrics_folder;
};

class Top {
 public:
  explicit Top(const TopOptions& options) : options_(options), metrics_(options.metrics_folder) {}

  // With the shares of the time since the last look.
  Status look() {
    constexpr uint64_t kSoonNs = kNanosecondsPerSecond / 20;  // the clocks that shares rest on are coarse
    if (at_ns_ != 0 && now_ns() < at_ns_ + kSoonNs) return Status::ok();
    Result<std::vector<JobView>> found = observe::views_for(options_.which);
    if (!found.is_ok()) return found.take_status();
    const uint64_t now = now_ns();
    passed_s_ = at_ns_ == 0 ? 0 : static_cast<double>(now - at_ns_) / 1e9;
    at_ns_ = now;
    std::map<Key, JobView> before;
    for (JobView& job : jobs_) before.emplace(key_of(job), std::move(job));
    jobs_ = found.take();
    for (JobView& job : jobs_)
      if (const auto earlier = before.find(key_of(job)); earlier != before.end())
        observe::compare(earlier->second, passed_s_, job);
    return metrics_.write(jobs_);
  }

  // `is_last`: it stays.
  std::vector<std::string> lines(const observe::Screen& screen, bool is_last = false) const {
    if (options_.is_json) return {json()};
    observe::TableOptions table;
    table.has_rates = true;
    table.late_after_s = options_.late_s;
    const bool has_title = !screen.is_terminal() || screen.height() >= kLeastWithTitle;
    if (screen.is_terminal()) {
      table.has_colours = wants_colour(1);
      table.width = screen.width();
      table.lines = screen.height() - (has_title ? kTitleLines : 0) - (is_last ? 1 : 0);
      table.lines = std::max<size_t>(table.lines, 1);
    }
    std::vector<std::string> picture = observe::picture_of(jobs_, table);
    if (has_title) picture.insert(picture.begin(), {title(screen, is_last), ""});
    if (!screen.is_terminal()) picture.emplace_back();
    return picture;
  }

 private:
  using Key = std::tuple<std::string, uint32_t, uint64_t>;
  static Key key_of(const JobView& job) { return {job.label, job.user, job.process_namespace}; }

  static constexpr size_t kTitleLines = 2, kLeastWithTitle = 8;

  std::string title(const observe::Screen& screen, bool is_last) const {
    size_t ranks = 0;
    for (const JobView& job : jobs_) ranks += job.here.size();
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char time[16];
    std::strftime(time, sizeof time, "%H:%M:%S", &local);
    std::string text = "hocket top  " + std::string(time) + "  " + std::to_string(jobs_.size()) +
                       (jobs_.size() == 1 ? " job, " : " jobs, ") + std::to_string(ranks) +
                       (ranks == 1 ? " rank" : " ranks");
    if (!screen.is_terminal()) return text;
    return (text + (is_last ? "" : "  (q ends)")).substr(0, screen.width());
  }

  std::string json() const {
    nlohmann::ordered_json all;
    all["time"] = std::time(nullptr);
    all["interval_s"] = passed_s_;
    all["jobs"] = nlohmann::ordered_json::array();
    for (const JobView& job : jobs_) all["jobs"].push_back(observe::json_of(job));
    return all.dump();
  }

  const TopOptions& options_;
  observe::MetricsFile metrics_;
  std::vector<JobView> jobs_;
  uint64_t at_ns_ = 0;
  double passed_s_ = 0;
};

// Why it ended; ok: it was to.
Status show_pictures(const TopOptions& options, Top& top) {
  observe::Screen screen(!options.is_json);
  // A terminal shows something at once, programs get whole rows.
  int shown = 0;
  if (screen.is_terminal()) screen.show(top.lines(screen));
  using Event = observe::Screen::Event;
  const auto interval_ns = static_cast<uint64_t>(options.interval_s * 1e9);
  uint64_t due_ns = now_ns() + interval_ns;
  for (;;) {
    const uint64_t now = now_ns();
    const Event event = screen.pause(due_ns > now ? static_cast<double>(due_ns - now) / 1e9 : 0);
    if (event == Event::kToEnd) return Status::ok();
    if (Status looked = top.look(); !looked.is_ok()) return looked;
    // What a key has shown meanwhile doesn't count.
    if (event == Event::kTime) due_ns = now_ns() + interval_ns;
    if (event == Event::kTime && ++shown == options.pictures) {
      screen.show_last(top.lines(screen, true));
      return Status::ok();
    }
    screen.show(top.lines(screen));
  }
}

int show_top(const TopOptions& options) {
  Top top(options);
  if (Status first = top.look(); !first.is_ok()) return fail(kUsage, first.message());
  const Status end = show_pictures(options, top);
  if (end.is_ok()) return kSuccess;
  if (end.code() == Code::kSystem) return fail(kFailure, end.message());
  std::fprintf(stderr, "hocket: the job has ended: %s\n", end.message());
  return kSuccess;
}

}  // namespace

void add_top(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("top", "Show running jobs and who waits for whom, again and again");
  sub->footer(kTopFooter);
  auto options = std::make_shared<TopOptions>();
  sub->add_option("job", options->which, "any process of it, or its name or the name's beginning (default: all jobs)")
      ->type_name("PID");
  sub->add_option("--interval", options->interval_s, "seconds between two pictures (default: 1)")
      ->check(number_between(0.1, 3600));
  sub->add_option("--count", options->pictures, "so many pictures (default: until it is interrupted)")
      ->check(whole_number_from(1));
  sub->add_option("--late", options->late_s, "seconds from which on a rank that others wait for is late (default: 10)")
      ->check(number_between(0, kLongestSeconds));
  sub->add_option("--metrics", options->metrics_folder,
                  "keeps a file for Prometheus there, hocket.prom, which goes when this ends")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  sub->add_flag("--json", options->is_json, "for programs: an object a line and interval");
  sub->callback([=, &invocation] { invocation.run = [=] { return show_top(*options); }; });
}

}  // namespace hocket::command
