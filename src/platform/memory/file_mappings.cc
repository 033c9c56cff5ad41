// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/file_mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "platform/descriptor.h"

namespace hocket::platform {
namespace {

// Of which all mappings of one place show the same memory: not so of devices' files, and of what the kernel has under
// one inode for all.
bool is_memory(std::string_view path) {
  for (const char* memory : {"/dev/shm/", "/dev/zero (deleted)", "/dev/hugepages/"}) {
    if (path.starts_with(memory)) return true;
  }
  for (const char* other : {"/dev/", "/sys/", "/proc/", "/dmabuf"}) {
    if (path.starts_with(other)) return false;
  }
  return path.starts_with('/');
}

// "7f00-7f10 rw-s 00001000 00:1b 203560   /dev/shm/name (deleted)"
std::optional<FileMapping> parse_line(const std::string& line) {
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  unsigned int major = 0, minor = 0;
  int path = 0;
  char rights[5] = "";
  // The kernel's numbers fit.
  // NOLINTNEXTLINE(cert-err34-c)
  const int found = std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &begin, &end, rights, &offset, &major,
                                &minor, &inode, &path);
  if (found != 7 || std::string_view(rights) != "rw-s" || inode == 0) return std::nullopt;
  std::string_view name = std::string_view(line).substr(static_cast<size_t>(path));
  if (!is_memory(name)) return std::nullopt;
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return FileMapping{begin, end, offset, {uint64_t{major} << 32 | minor, inode, std::hash<std::string_view>()(name)}};
}

bool continues(const FileMapping& one, const FileMapping& next) {
  return one.file == next.file && one.end == next.begin && one.offset + (one.end - one.begin) == next.offset;
}

}  // namespace

std::vector<FileMapping> parse_file_mappings(std::string_view maps) {
  std::vector<FileMapping> found;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    const std::optional<FileMapping> mapping = parse_line(std::string(maps.substr(0, end)));
    if (mapping && !found.empty() && continues(found.back(), *mapping))
      found.back().end = mapping->end;
    else if (mapping)
      found.push_back(*mapping);
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return found;
}

std::vector<FileMapping> shared_file_mappings() {
  const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return {};
  constexpr size_t kPiece = size_t{1} << 16;
  std::string text;
  for (;;) {
    const size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = read(file.get(), text.data() + before, kPiece);
    text.resize(before + static_cast<size_t>(got > 0 ? got : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return parse_file_mappings(text);
  }
}

}  // namespace hocket::platform
