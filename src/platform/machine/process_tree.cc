// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "platform/descriptor.h"
#include "platform/machine/process_stat.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

namespace hocket::platform {
namespace {

// Nothing for a process that has ended, or was never there.
std::optional<ProcessEntry> read_process(pid_t process) {
  const std::optional<ProcessStat> stat = stat_of_process(process);
  if (!stat || stat->is_over()) return std::nullopt;
  return ProcessEntry{process, stat->parent, stat->started};
}

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder.get())) {
    const char* name = entry->d_name;
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name, name + std::strlen(name), process);
    if (error != std::errc() || *end != '\0') continue;
    if (const auto known = read_process(process)) found.push_back(*known);
  }
  return found;
}

bool signal_process(const ProcessEntry& entry, int signal) {
  const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, entry.process, 0)));
  const bool has_handles = handle.get() >= 0 || errno != ENOSYS;
  if (has_handles && handle.get() < 0) return false;  // it has ended
  // The handle keeps meaning one process; that it is the one we saw, its time of birth tells.
  const auto now = read_process(entry.process);
  if (!now || now->started != entry.started) return false;
  if (!has_handles) return kill(entry.process, signal) == 0;
  return syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0;
}

}  // namespace

bool adopt_orphans() { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

std::vector<ProcessEntry> descendants() { return descendants_of(getpid()); }

std::vector<ProcessEntry> descendants_of(pid_t process) {
  std::vector<ProcessEntry> all = all_processes();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.parent < b.parent; });
  std::vector<ProcessEntry> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto begin = std::lower_bound(all.begin(), all.end(), parent,
                                        [](const ProcessEntry& entry, pid_t wanted) { return entry.parent < wanted; });
    for (auto at = begin; at != all.end() && at->parent == parent; ++at) found.push_back(*at);
  };
  add_children_of(process);
  for (size_t next = 0; next < found.size(); ++next) add_children_of(found[next].process);
  return found;
}

size_t signal_descendants(int signal) {
  const std::vector<ProcessEntry> found = descendants();
  return static_cast<size_t>(std::count_if(found.begin(), found.end(),
                                           [&](const ProcessEntry& entry) { return signal_process(entry, signal); }));
}

}  // namespace hocket::platform
