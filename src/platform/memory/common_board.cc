// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/common_board.h"

namespace hocket::platform {

void CommonBoard::Line::put(const FileMapping& mapping) {
  // Relaxed: one writer, which alone changes it.
  const uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  // Release, all: whoever reads one of them by acquire finds the odd version, or a later one. Partner: get().
  device.store(mapping.file.device, std::memory_order_release);
  inode.store(mapping.file.inode, std::memory_order_release);
  name.store(mapping.file.name, std::memory_order_release);
  offset.store(mapping.offset, std::memory_order_release);
  begin.store(mapping.begin, std::memory_order_release);
  end.store(mapping.end, std::memory_order_release);
  version.store(before + 2, std::memory_order_release);
}

FileMapping CommonBoard::Line::get() const {
  for (;;) {
    // Acquire, all but the last: see put(). The last is relaxed, as those before it come first.
    const uint64_t before = version.load(std::memory_order_acquire);
    FileMapping mapping;
    mapping.file.device = device.load(std::memory_order_acquire);
    mapping.file.inode = inode.load(std::memory_order_acquire);
    mapping.file.name = name.load(std::memory_order_acquire);
    mapping.offset = offset.load(std::memory_order_acquire);
    mapping.begin = begin.load(std::memory_order_acquire);
    mapping.end = end.load(std::memory_order_acquire);
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return mapping;
    // A writer that died in the middle must not keep a reader; nor need a reader wait for one: it will look again.
    if (before % 2 != 0) return {};
  }
}

// Release: what has changed comes before. Partner: changes().
void CommonBoard::changed() { changes_.fetch_add(1, std::memory_order_release); }

std::optional<uint32_t> CommonBoard::write(const FileMapping& mapping) {
  for (uint32_t i = 0; i < kLines; ++i) {
    if (lines_[i].inode.load(std::memory_order_relaxed) != 0) continue;
    lines_[i].put(mapping);
    changed();
    return i;
  }
  return std::nullopt;
}

void CommonBoard::wipe(uint32_t line) {
  lines_[line].put({});
  changed();
}

std::optional<FileMapping> CommonBoard::find(const FileIdentity& file, uint64_t offset, uint64_t bytes) const {
  for (const Line& line : lines_) {
    // Relaxed: a look that saves the others.
    if (line.inode.load(std::memory_order_relaxed) != file.inode) continue;
    if (const FileMapping mapping = line.get(); mapping.file == file && mapping.at(offset, bytes) != 0) return mapping;
  }
  return std::nullopt;
}

std::optional<FileMapping> CommonBoard::find(uintptr_t address, uint64_t bytes) const {
  for (const Line& line : lines_) {
    const FileMapping mapping = line.get();
    if (mapping.file.inode != 0 && mapping.contains(address, bytes)) return mapping;
  }
  return std::nullopt;
}

std::vector<FileIdentity> CommonBoard::files() const {
  std::vector<FileIdentity> all;
  for (const Line& line : lines_) {
    if (const FileMapping mapping = line.get(); mapping.file.inode != 0) all.push_back(mapping.file);
  }
  return all;
}

}  // namespace hocket::platform
