// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "platform/machine/process_stat.h"

namespace hocket::observe {
std::optional<uint32_t> user_of(int process) {
  struct stat folder{};
  if (stat(("/proc/" + std::to_string(process)).c_str(), &folder) != 0) return std::nullopt;
  return folder.st_uid;
}

ProcessFacts facts_of(int process) {
  const std::optional<uint32_t> user = user_of(process);
  std::optional<platform::ProcessStat> stat = platform::stat_of_process(process);
  if (!user || !stat) return {};
  static const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFacts facts;
  facts.is_there = true;
  facts.user = *user;
  facts.cpu_s = static_cast<double>(stat->user_ticks + stat->system_ticks) / per_second;
  facts.started = stat->started;
  facts.state = platform::state_of(process, *stat);
  facts.program = std::move(stat->name);
  return facts;
}

}  // namespace hocket::observe
