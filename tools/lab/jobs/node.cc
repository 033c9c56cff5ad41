// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/node.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "lab/namespaces.h"
#include "supervision/cannot_run.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;

Status bind_mount(const std::string& source, const std::string& target) {
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return Status::system("can't mount " + source + " on " + target, errno);
  return Status::ok();
}

// Of /sys only the interfaces: what else is mounted below it (bpffs, cgroups) stays.
Status show_interfaces(const std::string& place) {
  if (mount("sysfs", place.c_str(), "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return Status::system("can't mount sysfs on " + place, errno);
  for (const char* part : {"/class/net", "/devices/virtual/net"}) {
    std::error_code error;
    if (fs::exists(std::string("/sys") + part, error)) HOCKET_TRY(bind_mount(place + part, std::string("/sys") + part));
  }
  umount2(place.c_str(), MNT_DETACH);
  return Status::ok();
}

// What this process keeps mounted of other labs would keep their nodes alive.
void forget_other_labs(const Lab& lab) {
  for (const std::string& other : names()) {
    if (other != lab.name) umount2(directory_of(other).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

Status keep_to(const std::vector<int>& cores) {
  if (cores.empty()) return Status::ok();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return Status::system("can't keep to the node's cores", errno);
  return Status::ok();
}

}  // namespace

Status enter_node(const Lab& lab, int node, const NodeView& view) {
  const std::string own = lab.node_directory(node);
  for (const NamespaceKind& kind : node_namespaces()) {
    Result<platform::Descriptor> opened = open_namespace(own + "/" + kind.name);
    if (!opened.is_ok()) return opened.take_status();
    if (setns(opened.value().get(), kind.flag) != 0)
      return Status::system("can't enter " + own + "/" + kind.name, errno);
  }
  HOCKET_TRY(keep_to(lab.cores_of(node)));
  if (unshare(CLONE_NEWNS) != 0) return Status::system("can't make a view of the file systems", errno);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return Status::system("can't make the view of the file systems private", errno);
  forget_other_labs(lab);
  HOCKET_TRY(bind_mount(lab.directory() + "/hosts", "/etc/hosts"));
  std::error_code error;
  if (fs::exists("/dev/shm", error))
    HOCKET_TRY(bind_mount(view.shared_memory.empty() ? own + "/shm" : view.shared_memory, "/dev/shm"));
  HOCKET_TRY(show_interfaces(own + "/sys"));
  if (view.new_proc && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return Status::system("can't mount /proc", errno);
  if (std::getenv("HOSTNAME") != nullptr) setenv("HOSTNAME", node_name(node).c_str(), 1);
  return Status::ok();
}

int become(const std::vector<std::string>& command) {
  const supervision::CannotRun refusal = supervision::cannot_run(command[0], supervision::become(command));
  std::fprintf(stderr, "hocket: %s\n", refusal.why.c_str());
  return refusal.exit_code;
}

}  // namespace hocket::lab
