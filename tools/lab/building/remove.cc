// SPDX-License-Identifier: BSD-3-Clause
#include "lab/building/remove.h"

#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "lab/building/survey.h"
#include "lab/namespaces.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;

Status kill_processes(const std::string& name) {
  constexpr int kMostPasses = 1000;
  constexpr timespec kPause{0, 10'000'000};
  const std::vector<LabNamespace> namespaces = namespaces_of(name);
  std::vector<LabProcess> left;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    left = processes_in(namespaces);
    if (left.empty()) return Status::ok();
    const auto is_ours = [](const LabProcess& one) { return one.process == getpid(); };
    if (std::any_of(left.begin(), left.end(), is_ours))
      return {Code::kInvalidArgument, "this process is in lab " + name + " itself: leave the node first"};
    for (const LabProcess& one : left) kill(one.process, SIGKILL);
    nanosleep(&kPause, nullptr);
  }
  return {Code::kSystem, "process " + std::to_string(left[0].process) + " (" + left[0].program + ") in lab " + name +
                             " can't be ended"};
}

// The links would go with their namespaces, but some time later.
void remove_links(const std::string& name) {
  const Result<NetworkVisit> visit = NetworkVisit::enter(directory_of(name) + "/switch/net");
  if (!visit.is_ok()) return;
  Result<Netlink> netlink = Netlink::open();
  if (netlink.is_ok()) (void)netlink.value().delete_group(kPortGroup).is_ok();
}

}  // namespace

Status remove(const std::string& name) {
  HOCKET_TRY(check_name(name));
  const std::string folder = directory_of(name);
  // Empty, it is left of a lab that was being made or removed.
  std::error_code error;
  if (!is_home(folder) && !fs::is_empty(folder, error) && !error)
    return {Code::kSystem, "can't remove " + folder + ": it is no lab's (HOCKET_LAB_DIRECTORY)"};
  HOCKET_TRY(kill_processes(name));
  // From here on it is stale, should we be killed.
  if (Result<Lab> lab = load(name); lab.is_ok()) {
    lab.value().is_complete = false;
    (void)save(lab.value()).is_ok();
  }
  remove_links(name);
  if (is_home(folder)) {
    while (umount2(folder.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
    if (errno != EINVAL && errno != ENOENT) return Status::system("can't unmount " + folder, errno);
  }
  // What a lab has is on what was mounted there.
  if (rmdir(folder.c_str()) != 0 && errno != ENOENT) return Status::system("can't remove " + folder, errno);
  return Status::ok();
}

}  // namespace hocket::lab
