// SPDX-License-Identifier: BSD-3-Clause
// hocket where: the ranks of a running job, the latest first.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command/command.h"
#include "command/number_range.h"
#include "observe/job_finder.h"
#include "observe/job_json.h"
#include "observe/table.h"

namespace hocket::command {
namespace {

constexpr const char* kWhereFooter = R"(
A line a rank of this machine, the latest first: those that others wait for, then those in no call, by how long, then
those that wait. LATE: how long the longest wait for it has lasted; FOR: how long it has been where it is; WAITS FOR:
ranks of the job. Deadlocks are named below, and the command that shows the stack of the rank to look at first. The job
goes on undisturbed: everything is read out of records that ranks keep by themselves.

Exit codes: 0 nobody is late; 1 a rank has kept others waiting for --late seconds or longer, or all ranks of the job
have been in calls for so long; 2 nothing could be read, or the command line was not understood.

Examples:
  hocket where 4711                                the job of process 4711, which may be a rank or the launcher
  hocket where $(pgrep -n myprog)                  that of the program started last under that name
  hocket where --late 60 4711; [ $? -eq 1 ] && kill 4711
                                                   ends a job in which a rank has been late for a minute
  hocket where --json 4711 | jq '.jobs[].here[0]'  the latest rank, for programs
`hocket top` shows the same again and again.)";

struct WhereOptions {
  std::string which;
  double late_s = 10;
  bool is_json = false;
};

void print(const std::vector<observe::JobView>& jobs, const WhereOptions& options) {
  if (options.is_json) {
    nlohmann::ordered_json all;
    all["jobs"] = nlohmann::ordered_json::array();
    for (const observe::JobView& job : jobs) all["jobs"].push_back(observe::json_of(job));
    std::printf("%s\n", all.dump(2).c_str());
    return;
  }
  observe::TableOptions table;
  table.late_after_s = options.late_s;
  table.has_colours = wants_colour(1);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i != 0) std::printf("\n");
    for (const std::string& line : observe::table_of(jobs[i], table)) std::printf("%s\n", line.c_str());
  }
}

int show_where(const WhereOptions& options) {
  const Result<std::vector<observe::JobView>> jobs = observe::views_for(options.which);
  if (!jobs.is_ok()) return fail(kUsage, jobs.status().message());
  print(jobs.value(), options);
  const bool hangs = std::any_of(jobs.value().begin(), jobs.value().end(), [&](const observe::JobView& job) {
    return std::max(job.late_s(), job.stuck_s()) > 0 && std::max(job.late_s(), job.stuck_s()) >= options.late_s;
  });
  return hangs ? kFailure : kSuccess;
}

}  // namespace

void add_where(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("where", "Show where each rank of a running job is, and who is late");
  sub->footer(kWhereFooter);
  auto options = std::make_shared<WhereOptions>();
  sub->add_option("job", options->which,
                  "any process of it, or its name or the name's beginning, as `hocket top` has it")
      ->required()
      ->type_name("PID");
  sub->add_option("--late", options->late_s, "seconds from which on a rank that others wait for is late (default: 10)")
      ->check(number_between(0, kLongestSeconds));
  sub->add_flag("--json", options->is_json, "for programs");
  sub->callback([=, &invocation] { invocation.run = [=] { return show_where(*options); }; });
}

}  // namespace hocket::command
