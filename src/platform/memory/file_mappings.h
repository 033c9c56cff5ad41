// SPDX-License-Identifier: BSD-3-Clause
// Which files of memory, shared with other processes and writable, this process has mapped where: what /proc/self/maps
// says. Devices' files are left out.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hocket::platform {

// The same in all processes of a machine that have the file mapped, also where it has been deleted since. Some file
// systems have inodes of the same number, so the name has a part in it.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;  // 0: no file
  uint64_t name = 0;   // a hash of it

  bool operator==(const FileIdentity&) const = default;
};

// Addresses from `begin` to `end`, which show the file from `offset` on.
struct FileMapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  uint64_t offset = 0;
  FileIdentity file;

  bool operator==(const FileMapping&) const = default;
  bool contains(uintptr_t address, uint64_t bytes) const {
    return address >= begin && address < end && bytes <= end - address;
  }
  // Where it shows that part of the file; 0: it doesn't, or not all of it.
  uintptr_t at(uint64_t file_offset, uint64_t bytes) const {
    const uintptr_t address = begin + (file_offset - offset);
    return file_offset >= offset && contains(address, bytes) ? address : 0;
  }
};

// By address; neighbours that continue each other are one. Reading them takes the kernel a few hundred microseconds.
// Empty where /proc can't be read.
std::vector<FileMapping> shared_file_mappings();
// The same out of a text.
std::vector<FileMapping> parse_file_mappings(std::string_view maps);

}  // namespace hocket::platform
