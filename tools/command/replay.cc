// SPDX-License-Identifier: BSD-3-Clause
#include "command/replay.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command/command.h"
#include "replay/engine_tables.h"
#include "replay/recording_file.h"
#include "words/collective_names.h"

namespace hocket::command {
namespace {

using replay::RecordedGroup;
using replay::RecordingFile;
using simulation::PacketName;
using simulation::ReplayCount;
using simulation::ReplayDifference;
using simulation::Replayed;
using simulation::ReplayRow;

constexpr size_t kMostListed = 20;

// What is replayed.
struct Subject {
  std::string collective, schedule, engines, group;
  RecordedGroup run;
  uint64_t unowned = 0, strangers = 0;
};

// Members of a barrier by broadcast are asked whether their hosts have started: microseconds decide what they answer.
constexpr const char* kVotes = "nic-broadcast";

bool is_explained(const Subject& subject, const Replayed& found) {
  return found.has_same_messages() || (subject.engines == kVotes && found.unfinished + found.unheard == 0);
}

Status unfit_file(const std::string& what) { return {Code::kInvalidArgument, what}; }

std::string names_of(const RecordingFile& file) {
  std::string names;
  for (const auto& [name, group] : file.groups) names += (names.empty() ? "" : ", ") + name;
  return names;
}

Status is_whole(const RecordingFile& file, const std::string& name) {
  if (!file.has_doorbells)
    return unfit_file(name +
                      " has no doorbells, without which nobody knows when operations begin: record on Linux 6.6 "
                      "or later");
  if (file.missed != 0)
    return unfit_file(name + " lacks " + std::to_string(file.missed) + " events: record a shorter or smaller run");
  if (!file.is_complete)
    return unfit_file(name + " is not complete, its recorder was ended or the lab changed: record the run anew");
  if (file.groups.empty())
    return unfit_file(name + " has no packet of a NIC engine and no doorbell: nothing to replay");
  return Status::ok();
}

Result<Subject> find_subject(RecordingFile& file, const ReplayOptions& options) {
  const auto chosen = options.group.empty() ? file.groups.begin() : file.groups.find(options.group);
  if (chosen == file.groups.end())
    return unfit_file(options.file + " has no group " + options.group + "; there are " + names_of(file));
  if (options.group.empty() && file.groups.size() != 1)
    return unfit_file(options.file + " has several groups: name one by --group, of " + names_of(file));
  if (chosen->second.recording.doorbells.empty())
    return unfit_file("group " + chosen->first + " of " + options.file +
                      " has packets and no doorbell, as engines by "
                      "an agent have none that can be recorded: record " +
                      replay::known_engines());
  return Subject{file.collective,           file.schedule, file.engines,  chosen->first,
                 std::move(chosen->second), file.unowned,  file.strangers};
}

void print_row(const char* name, const ReplayCount& count) {
  std::printf("  %-20s %12llu %12llu %12lld\n", name, static_cast<unsigned long long>(count.recorded),
              static_cast<unsigned long long>(count.simulated),
              static_cast<long long>(count.simulated) - static_cast<long long>(count.recorded));
}

ReplayRow row_of(const ReplayDifference& difference) {
  return simulation::row_of(difference.packet, difference.is_of_messages());
}

std::string target_of(const PacketName& packet) {
  return packet.target == NIC_ALL ? "all" : std::to_string(packet.target);
}

void print_differences(const Replayed& found) {
  if (found.differences.empty()) return;
  std::printf("\n  %-20s %12s %6s %6s %6s %12s %12s\n", "which differ", "operation", "from", "to", "bit", "recorded",
              "simulated");
  size_t listed = 0;
  for (const ReplayDifference& one : found.differences) {
    if (listed++ == kMostListed) break;
    std::printf("  %-20s %12llu %6u %6s %6u %12llu %12llu\n", row_name(row_of(one)),
                static_cast<unsigned long long>(one.packet.epoch), one.packet.source, target_of(one.packet).c_str(),
                one.packet.bit, static_cast<unsigned long long>(one.count.recorded),
                static_cast<unsigned long long>(one.count.simulated));
  }
  if (found.differences.size() > kMostListed)
    std::printf("  and %zu more, which --json lists\n", found.differences.size() - kMostListed);
}

void print_conclusion(const Subject& subject, const Replayed& found) {
  const uint64_t undone = found.unfinished + found.unheard;
  if (undone != 0)
    std::printf("\nIn the simulation %llu operations did not get done.\n", static_cast<unsigned long long>(undone));
  else if (!is_explained(subject, found))
    std::printf("\nMessages differ, which time does not explain.\n");
  else if (!found.has_same_messages())
    std::printf("\nMessages differ. Whether a host has started when it is asked depends on microseconds.\n");
  else if (found.is_same())
    std::printf("\nThe same packets.\n");
  else
    std::printf(
        "\nThe same messages. Whether one that is late is asked for, and so repeated and answered, depends on "
        "time.\n");
  if (subject.run.twice != 0)
    std::printf("%llu packets came twice to somebody, in the simulation once.\n",
                static_cast<unsigned long long>(subject.run.twice));
  if (subject.unowned + subject.strangers != 0)
    std::printf("Left out: %llu doorbells of no known group, %llu packets that no engine was seen to send.\n",
                static_cast<unsigned long long>(subject.unowned), static_cast<unsigned long long>(subject.strangers));
}

void print(const ReplayOptions& options, const Subject& subject, const Replayed& found) {
  std::printf("%s: %s %s by %s, %u members, %llu operations\n", options.file.c_str(), subject.collective.c_str(),
              subject.schedule.c_str(), subject.engines.c_str(), subject.run.members,
              static_cast<unsigned long long>(found.operations));
  std::printf("  %-20s %12s %12s %12s\n", "packets", "recorded", "simulated", "difference");
  for (size_t row = 0; row < found.rows.size(); ++row) {
    const ReplayCount& count = found.rows[row];
    if (row == 0 || count.recorded != 0 || count.simulated != 0) print_row(row_name(ReplayRow(row)), count);
  }
  print_row("lost", found.lost);
  print_differences(found);
  print_conclusion(subject, found);
}

nlohmann::ordered_json json_of(const ReplayOptions& options, const Subject& subject, const Replayed& found) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array(), differences = ordered_json::array();
  const auto row_named = [](const char* name, const ReplayCount& count) {
    return ordered_json{{"packets", name}, {"recorded", count.recorded}, {"simulated", count.simulated}};
  };
  for (size_t row = 0; row < found.rows.size(); ++row)
    rows.push_back(row_named(row_name(ReplayRow(row)), found.rows[row]));
  rows.push_back(row_named("lost", found.lost));
  for (const ReplayDifference& one : found.differences)
    differences.push_back({{"packets", row_name(row_of(one))},
                           {"epoch", one.packet.epoch},
                           {"program", one.packet.program},
                           {"source", one.packet.source},
                           {"target", one.packet.target},
                           {"send", one.packet.send},
                           {"bit", one.packet.bit},
                           {"recorded", one.count.recorded},
                           {"simulated", one.count.simulated}});
  return {{"replay", options.file},           {"group", subject.group},
          {"collective", subject.collective}, {"schedule", subject.schedule},
          {"engines", subject.engines},       {"members", subject.run.members},
          {"operations", found.operations},   {"unfinished", found.unfinished + found.unheard},
          {"twice", subject.run.twice},       {"has_same_messages", found.has_same_messages()},
          {"is_same", found.is_same()},       {"rows", rows},
          {"differences", differences},       {"events", found.events}};
}

Result<Replayed> replay_subject(const Subject& subject) {
  const Result<schedule::Collective> collective = read_collective(subject.collective);
  if (!collective.is_ok()) return Status(collective.status().code(), collective.status().message());
  const Result<replay::EngineTables> tables =
      replay::make_tables(collective.value(), subject.schedule, subject.engines, subject.run.members);
  if (!tables.is_ok()) return Status(tables.status().code(), tables.status().message());
  simulation::NicOptions options;
  options.synchronizing = tables.value().synchronizing;
  return simulation::replay(subject.run.recording, tables.value().collectives, options);
}

}  // namespace

int simulate_replay(const ReplayOptions& options, const std::string& collective, const std::string& algorithm,
                    bool as_json) {
  Result<RecordingFile> file = replay::read_recording(options.file);
  if (!file.is_ok()) return fail(kFailure, file.status().message());
  if (const Status status = is_whole(file.value(), options.file); !status.is_ok())
    return fail(kFailure, status.message());
  Result<Subject> subject = find_subject(file.value(), options);
  if (!subject.is_ok()) return fail(kUsage, subject.status().message());
  Subject& run = subject.value();
  if (!collective.empty()) run.collective = collective;
  if (!algorithm.empty()) run.schedule = algorithm;
  if (run.engines.empty()) run.engines = "nic";
  if (run.collective.empty() || run.schedule.empty())
    return fail(kUsage, options.file +
                            " doesn't say what its engines carry out: name it, for example hocket simulate "
                            "barrier dissemination --replay " +
                            options.file);
  const Result<Replayed> found = replay_subject(run);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  if (as_json)
    std::printf("%s\n", json_of(options, run, found.value()).dump(1).c_str());
  else
    print(options, run, found.value());
  return is_explained(run, found.value()) ? kSuccess : kFailure;
}

}  // namespace hocket::command
