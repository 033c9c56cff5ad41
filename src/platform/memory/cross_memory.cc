// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/cross_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace hocket::platform {
namespace {

Status read_failed(int process, int error) {
  const std::string who = "process " + std::to_string(process);
  switch (error) {
    case EPERM:
    case EACCES:
      return {Code::kNotSupported, "Reading the memory of " + who + " is not allowed (ptrace rights)"};
    case ENOSYS:
      return {Code::kNotSupported, "This kernel can't read another process's memory"};
    case ESRCH:
      return {Code::kPeerFailed, "There is no " + who};
    case EFAULT:
      return {Code::kInvalidArgument, "There is no such memory in " + who};
    default:
      return Status::system("Reading the memory of " + who, error);
  }
}

}  // namespace

Status read_process_memory(int process, const void* remote, void* local, size_t bytes) {
  constexpr size_t kPiece = size_t{1} << 30;  // the kernel cuts a call at 2 GiB less a page
  auto* to = static_cast<std::byte*>(local);
  const auto* from = static_cast<const std::byte*>(remote);
  while (bytes > 0) {
    const size_t piece = std::min(bytes, kPiece);
    const iovec here{to, piece};
    const iovec there{const_cast<std::byte*>(from), piece};
    const ssize_t copied = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (copied < 0 && errno == EINTR) continue;
    // Nothing copied without an error doesn't happen, but must not become an endless loop.
    if (copied <= 0) return read_failed(process, copied < 0 ? errno : EFAULT);
    to += copied;
    from += copied;
    bytes -= static_cast<size_t>(copied);
  }
  return Status::ok();
}

}  // namespace hocket::platform
