// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/memory_file.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "platform/descriptor.h"
#include "platform/machine/cgroup.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace hocket::platform {
namespace {

// One call allocates this much at most: a signal interrupts fallocate, which then starts over, and under a profiling
// timer a larger piece might never get done.
constexpr uint64_t kPiece = uint64_t{16} << 20;

int open_memfd(const char* name) {
  // Kernels before 6.3 don't know the flag; some newer ones are set up to refuse a memfd without it.
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (descriptor < 0 && errno == EINVAL) descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // A peer that truncated the file would kill everybody else with SIGBUS.
  if (descriptor >= 0) fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK);
  return move_out_of_the_way(descriptor);
}

int open_unlinked_in(const char* folder) {
  const int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
    return move_out_of_the_way(descriptor);
  }
  std::string name = std::string(folder) + "/hocket-XXXXXX";  // a file system without O_TMPFILE
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return move_out_of_the_way(named);
}

// For file systems without fallocate: what has been written is there.
Status write_zeroes(int descriptor, uint64_t from, uint64_t to) {
  static const std::array<char, 65536> zeroes{};
  while (from < to) {
    const size_t bytes = std::min<uint64_t>(zeroes.size(), to - from);
    const ssize_t written = pwrite(descriptor, zeroes.data(), bytes, static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Status::system("Extending shared memory", written < 0 ? errno : ENOSPC);
    from += static_cast<uint64_t>(written);
  }
  return Status::ok();
}

}  // namespace

Result<int> create_unlinked_file() {
  const char* temporary = std::getenv("TMPDIR");
  int error = 0;
  for (const char* folder : {"/dev/shm", temporary, "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    const int descriptor = open_unlinked_in(folder);
    if (descriptor >= 0) return descriptor;
    error = errno;
  }
  return Status::system("No memory file can be made: memfd_create is refused, and /dev/shm, $TMPDIR and /tmp too",
                        error);
}

Result<int> create_memory_file(const char* name) {
  const int descriptor = open_memfd(name);
  if (descriptor >= 0) return descriptor;
  if (errno == EMFILE || errno == ENFILE) return Status::system("Creating shared memory", errno);
  return create_unlinked_file();
}

Status extend_file(int descriptor, uint64_t from, uint64_t to) {
  rlimit file_size{};
  // Past this limit the kernel would send SIGXFSZ, which kills by default.
  if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur != RLIM_INFINITY && to > file_size.rlim_cur) {
    return {Code::kNoMemory, "Shared memory can't grow to " + std::to_string(to) +
                                 " bytes: the limit on file size (ulimit -f) is " + std::to_string(file_size.rlim_cur)};
  }
  while (from < to) {
    const uint64_t bytes = std::min(kPiece, to - from);
    if (fallocate(descriptor, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeroes(descriptor, from, to);
      Status failed = Status::system("Claiming " + std::to_string(bytes) + " bytes of shared memory", errno);
      return {Code::kNoMemory, failed.message()};
    }
    from += bytes;
  }
  return Status::ok();
}

uint64_t memory_budget() {
  struct sysinfo machine{};  // sysconf() doesn't say when it is refused
  uint64_t budget = uint64_t{1} << 32;
  if (sysinfo(&machine) == 0) budget = uint64_t{machine.totalram} * machine.mem_unit;
  const uint64_t cgroup = cgroup_memory_limit();
  if (cgroup != 0) budget = std::min(budget, cgroup);
  return budget;
}

}  // namespace hocket::platform
