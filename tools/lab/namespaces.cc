// SPDX-License-Identifier: BSD-3-Clause
#include "lab/namespaces.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace hocket::lab {
namespace {

using platform::Descriptor;

constexpr NamespaceKind kNetworkKind = {"net", CLONE_NEWNET};

// In the child: makes them, tells by one word (0 or what went wrong), and stays until they are mounted.
[[noreturn]] void hold_new_namespaces(const std::vector<NamespaceKind>& kinds, const std::string& host_name, int writer,
                                      int reader) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int flags = 0;
  for (const NamespaceKind& kind : kinds) flags |= kind.flag;
  int error = unshare(flags) == 0 ? 0 : errno;
  if (error == 0 && !host_name.empty() && sethostname(host_name.data(), host_name.size()) != 0) error = errno;
  char end = 0;
  if (write(writer, &error, sizeof error) != sizeof error || read(reader, &end, 1) < 0) _exit(1);
  _exit(0);
}

Status mount_namespaces(const std::string& folder, const std::vector<NamespaceKind>& kinds, pid_t holder) {
  for (const NamespaceKind& kind : kinds) {
    const std::string file = folder + "/" + kind.name;
    const Descriptor made(open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0444));
    if (made.get() < 0) return Status::system("can't make " + file, errno);
    const std::string source = "/proc/" + std::to_string(holder) + "/ns/" + kind.name;
    if (mount(source.c_str(), file.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return Status::system("can't mount a namespace on " + file, errno);
  }
  return Status::ok();
}

}  // namespace

const NamespaceKind& network_namespace() { return kNetworkKind; }

const std::vector<NamespaceKind>& node_namespaces() {
  static const std::vector<NamespaceKind> kKinds = {kNetworkKind, {"uts", CLONE_NEWUTS}, {"ipc", CLONE_NEWIPC}};
  return kKinds;
}

Status pin_new_namespaces(const std::string& folder, const std::vector<NamespaceKind>& kinds,
                          const std::string& host_name) {
  int reported[2];
  int ended[2];
  if (pipe2(reported, O_CLOEXEC) != 0) return Status::system("can't make a pipe", errno);
  const Descriptor reader(reported[0]);
  Descriptor writer(reported[1]);
  if (pipe2(ended, O_CLOEXEC) != 0) return Status::system("can't make a pipe", errno);
  Descriptor waits(ended[0]);
  Descriptor ends(ended[1]);
  const pid_t holder = fork();
  if (holder < 0) return Status::system("can't start a process", errno);
  if (holder == 0) {
    ends.reset();
    hold_new_namespaces(kinds, host_name, writer.get(), waits.get());
  }
  writer.reset();
  waits.reset();
  int error = ECHILD;
  ssize_t length = 0;
  while ((length = read(reader.get(), &error, sizeof error)) < 0 && errno == EINTR) continue;
  if (length != sizeof error) error = ECHILD;
  Status status = error == 0 ? mount_namespaces(folder, kinds, holder)
                             : Status::system("the kernel makes no namespaces for this process", error);
  ends.reset();
  while (waitpid(holder, nullptr, 0) < 0 && errno == EINTR) continue;
  return status;
}

Result<Descriptor> open_namespace(const std::string& file) {
  Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.get() < 0) return Status::system("can't open the namespace " + file, errno);
  struct statfs kind{};
  if (fstatfs(opened.get(), &kind) != 0 || kind.f_type != NSFS_MAGIC)
    return Status(Code::kSystem,
                  file + " is no namespace any more: the lab is damaged; remove it by `hocket lab down`");
  return opened;
}

ino_t namespace_number(const std::string& file) {
  const Result<Descriptor> opened = open_namespace(file);
  struct stat about{};
  if (!opened.is_ok() || fstat(opened.value().get(), &about) != 0) return 0;
  return about.st_ino;
}

Result<NetworkVisit> NetworkVisit::enter(const std::string& file) {
  Descriptor home(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (home.get() < 0) return Status::system("can't open this thread's own network namespace", errno);
  Result<Descriptor> there = open_namespace(file);
  if (!there.is_ok()) return there.take_status();
  if (setns(there.value().get(), CLONE_NEWNET) != 0)
    return Status::system("can't enter the network namespace " + file, errno);
  return NetworkVisit(std::move(home));
}

NetworkVisit::~NetworkVisit() {
  if (home_.get() < 0) return;
  // In the wrong network every later act would be a mistake.
  if (setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
}

}  // namespace hocket::lab
