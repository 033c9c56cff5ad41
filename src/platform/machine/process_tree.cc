// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "platform/descriptor.h"

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
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  char text[1024];
  const ssize_t length = read(file.get(), text, sizeof text - 1);
  if (length <= 0) return std::nullopt;
  text[length] = '\0';
  // The second field, the program's name, may hold anything, blanks and brackets too.
  const char* rest = std::strrchr(text, ')');
  if (rest == nullptr) return std::nullopt;
  char state = 0;
  ProcessEntry entry;
  entry.process = process;
  unsigned long long started = 0;
  int threads = 0;
  constexpr const char* kFields = ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu";
  if (std::sscanf(rest, kFields, &state, &entry.parent, &threads, &started) != 4) return std::nullopt;
  entry.started = started;
  // Where only the first thread has ended the others go on.
  if ((state == 'Z' || state == 'X') && threads <= 1) return std::nullopt;
  return entry;
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
