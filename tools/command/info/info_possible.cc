// SPDX-License-Identifier: BSD-3-Clause
// What the kernel and the container let hocket do: tried, not guessed.
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "command/report.h"
#include "platform/descriptor.h"
#include "platform/memory/memory_file.h"

namespace hocket::command {
namespace {

constexpr size_t kTrialBytes = 2 << 20;

// 0 if memory without a name can be made, claimed and mapped, else the error.
int try_memory_file() {
  const int file = memfd_create("hocket-info", MFD_CLOEXEC);
  if (file < 0) return errno;
  int error = ftruncate(file, kTrialBytes) == 0 ? 0 : errno;
  if (error == 0 && fallocate(file, 0, 0, kTrialBytes) != 0) error = errno;
  if (error == 0) {
    void* memory = mmap(nullptr, kTrialBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
      error = errno;
    else
      munmap(memory, kTrialBytes);
  }
  close(file);
  return error;
}

// Descriptors are passed over an abstract socket: no file, nothing left behind.
int try_abstract_socket() {
  const int socket_descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_descriptor < 0) return errno;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Only the family: the kernel picks a free abstract name.
  const int result = bind(socket_descriptor, reinterpret_cast<sockaddr*>(&address), offsetof(sockaddr_un, sun_path));
  const int error = result == 0 ? 0 : errno;
  close(socket_descriptor);
  return error;
}

int try_futex() {
  uint32_t word = 0;
  return syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) >= 0 ? 0 : errno;
}

int try_membarrier() {
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands < 0) return errno;
  return (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 ? 0 : ENOSYS;
}

// A child reads its parent, as one rank would read another: neither has started the other to trace it.
int try_cross_memory() {
  static uint64_t remote = 0x686f636b6574;
  uint64_t* seen = static_cast<uint64_t*>(
      mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (seen == MAP_FAILED) return errno;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    iovec to{seen, sizeof(*seen)};
    iovec from{&remote, sizeof(remote)};
    const ssize_t bytes = process_vm_readv(parent, &to, 1, &from, 1, 0);
    _exit(bytes == static_cast<ssize_t>(sizeof(remote)) ? 0 : errno & 0x7f);
  }
  int status = 0;
  int error = child < 0 ? errno : 0;
  if (child > 0 && waitpid(child, &status, 0) == child) error = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
  if (error == 0 && *seen != remote) error = EIO;
  munmap(seen, sizeof(*seen));
  return error;
}

std::string first_line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void add_trial(Section& section, const char* key, int error, const std::string& good, const std::string& bad) {
  const std::string reason = error == 0 ? "" : std::strerror(error);
  nlohmann::ordered_json value = {{"possible", error == 0}};
  if (error != 0) value["reason"] = reason;
  section.add(key, error == 0 ? "yes: " + good : "no (" + reason + "): " + bad, value);
}

// A file with a name that is gone at once does as well, and is what ranks then take.
void add_shared_memory(Section& section) {
  int error = try_memory_file();
  std::string good = "anonymous memory files (memfd)";
  if (error != 0) {
    Result<int> file = platform::create_unlinked_file();
    const platform::Descriptor closes(file.is_ok() ? file.value() : -1);
    good = std::string("unlinked files in /dev/shm, $TMPDIR or /tmp, since memfd says: ") + std::strerror(error);
    if (file.is_ok()) error = 0;
  }
  add_trial(section, "shared memory", error, good, "without it hocket passes every call through to the MPI");
}

void add_cross_memory(Section& section) {
  const int error = try_cross_memory();
  std::string bad = "not needed, copies go through shared memory";
  const std::string scope = first_line_of("/proc/sys/kernel/yama/ptrace_scope");
  if (error == EPERM && !scope.empty() && scope != "0") bad += "; kernel.yama.ptrace_scope is " + scope;
  add_trial(section, "CMA", error, "other ranks' memory can be read directly; used only where timing says it pays",
            bad);
}

void add_dev_shm(Section& section) {
  struct statvfs fs{};
  if (statvfs("/dev/shm", &fs) != 0) {
    section.add("/dev/shm", "absent: hocket needs none where it has memfd, an MPI may", nullptr);
    return;
  }
  const uint64_t size = static_cast<uint64_t>(fs.f_blocks) * fs.f_frsize;
  const uint64_t available = static_cast<uint64_t>(fs.f_bavail) * fs.f_frsize;
  section.add(
      "/dev/shm",
      bytes_to_text(size) + ", " + bytes_to_text(available) + " free: hocket needs none where it has memfd, an MPI may",
      {{"bytes", size}, {"free", available}});
}

void add_address_space(Section& section) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_cur == RLIM_INFINITY)
    section.add("address space", "unlimited", nullptr);
  else
    section.add("address space", bytes_to_text(limit.rlim_cur) + " (ulimit -v): hocket reserves less of it",
                limit.rlim_cur);
}

}  // namespace

Section possible_section() {
  Section section{"What hocket can do here", {}};
  add_shared_memory(section);
  add_trial(section, "passing memory", try_abstract_socket(), "descriptors over an abstract socket",
            "without it hocket passes every call through to the MPI");
  add_trial(section, "sleeping", try_futex(), "futex between processes", "waiting ranks can't sleep");
  add_trial(section, "cheap wake-ups", try_membarrier(), "membarrier", "waking costs a fence more on every send");
  add_cross_memory(section);
  add_dev_shm(section);
  add_address_space(section);
  return section;
}

}  // namespace hocket::command
