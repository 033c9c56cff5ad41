// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_json.h"

#include <charconv>
#include <cmath>

namespace hocket::observe {
namespace {

using nlohmann::ordered_json;

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::kLate:
      return "late";
    case Standing::kLateToo:
      return "late-and-waits";
    case Standing::kOutsideCall:
      return "outside";
    case Standing::kInCall:
      return "in-call";
    case Standing::kEnded:
      return "ended";
  }
  return "";
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

ordered_json known_or_null(const std::optional<double>& value) {
  return value ? ordered_json(rounded(*value)) : nullptr;
}

// Ranks as numbers.
ordered_json names_in(const std::vector<std::string>& names) {
  ordered_json list = ordered_json::array();
  for (const std::string& name : names) {
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size())
      list.push_back(number);
    else
      list.push_back(name);
  }
  return list;
}

ordered_json json_of_rank(const RankView& one) {
  ordered_json rank;
  rank["rank"] = one.rank;
  rank["process"] = one.process;
  rank["standing"] = name_of(one.standing);
  rank["place"] = one.place;
  rank["after"] = one.after;
  rank["for_s"] = rounded(one.for_s);
  rank["call"] = one.call;
  rank["bytes"] = one.bytes;
  rank["root"] = one.root;
  rank["algorithm"] = one.algorithm;
  rank["text"] = one.text;
  rank["state"] = one.state;
  rank["waits_for"] = names_in(one.waits_for);
  rank["waits_for_count"] = one.waits_for_count;
  rank["waits_s"] = rounded(one.waits_s);
  rank["awaited_by"] = one.awaited_by;
  rank["awaited_by_count"] = one.awaited_by_count;
  rank["late_s"] = rounded(one.late_s);
  rank["waited_s"] = rounded(one.waited_s);
  rank["late_lines"] = one.late_lines;
  rank["came_after_all"] = one.came_after_all;
  rank["cpu_s"] = rounded(one.cpu_s);
  rank["waited_share"] = known_or_null(one.waited_share);
  rank["cpu_share"] = known_or_null(one.cpu_share);
  rank["calls_per_s"] = known_or_null(one.calls_per_s);
  return rank;
}

}  // namespace

ordered_json json_of(const JobView& job) {
  ordered_json all;
  all["job"] = job.label;
  all["program"] = job.program;
  all["user"] = job.user;
  all["host"] = job.host;
  all["library"] = job.library;
  all["ranks"] = job.ranks;
  all["late_s"] = rounded(job.late_s());
  all["stuck_s"] = rounded(job.stuck_s());
  all["deadlocks"] = job.deadlocks;
  all["possible_deadlocks"] = job.possible_deadlocks;
  all["here"] = ordered_json::array();
  for (const RankView& one : job.here) all["here"].push_back(json_of_rank(one));
  return all;
}

}  // namespace hocket::observe
