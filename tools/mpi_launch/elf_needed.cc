// SPDX-License-Identifier: BSD-3-Clause
// Which libmpi a program was linked with: the DT_NEEDED entries of its ELF file.
#include <elf.h>

#include <cstring>
#include <fstream>

#include "mpi_launch/mpi_library.h"

namespace hocket::command {
namespace {

// A file that lies about its own sizes must not make us read gigabytes.
constexpr uint64_t kMaxTableBytes = 64 << 20;

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(path, std::ios::binary) {}

  // The names of the libraries asked for; empty for anything that is no 64-bit dynamic ELF file of this byte order.
  std::vector<std::string> needed() {
    Elf64_Ehdr header{};
    if (!read(0, &header, sizeof(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (!read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return {};
    std::vector<Elf64_Dyn> dynamic;
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type != PT_DYNAMIC || segment.p_filesz > kMaxTableBytes) continue;
      dynamic.resize(segment.p_filesz / sizeof(Elf64_Dyn));
      if (!read(segment.p_offset, dynamic.data(), dynamic.size() * sizeof(Elf64_Dyn))) return {};
    }
    return names(dynamic, strings(dynamic, segments));
  }

 private:
  bool read(uint64_t offset, void* to, size_t bytes) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return static_cast<size_t>(file_.gcount()) == bytes;
  }

  std::string strings(const std::vector<Elf64_Dyn>& dynamic, const std::vector<Elf64_Phdr>& segments) {
    uint64_t address = 0;
    uint64_t bytes = 0;
    for (const Elf64_Dyn& entry : dynamic) {
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
    }
    if (bytes > kMaxTableBytes) return {};
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
        continue;
      std::string text(bytes, '\0');
      return read(segment.p_offset + (address - segment.p_vaddr), text.data(), bytes) ? text : std::string();
    }
    return {};
  }

  static std::vector<std::string> names(const std::vector<Elf64_Dyn>& dynamic, const std::string& strings) {
    std::vector<std::string> found;
    for (const Elf64_Dyn& entry : dynamic) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < strings.size())
        found.emplace_back(strings.c_str() + entry.d_un.d_val);
    }
    return found;
  }

  std::ifstream file_;
};

}  // namespace

std::string needed_mpi(const std::string& program) {
  for (const std::string& name : ElfFile(program).needed())
    if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || name.starts_with("libmpi_abi.so"))
      return name;
  return {};
}

std::optional<MpiFamily> family_of_soname(const std::string& soname) {
  // "libmpi.so.40.30.4", too: as files are called.
  const auto is = [&](const std::string& name) { return soname == name || soname.starts_with(name + "."); };
  if (soname.starts_with("libmpich.so") || is("libmpi.so.12")) return MpiFamily::kMpich;
  if (is("libmpi_abi.so.1") || is("libmpi_abi.so.0")) return MpiFamily::kStandard;
  if (is("libmpi.so.20") || is("libmpi.so.40") || is("libmpi.so.80")) return MpiFamily::kOpenMpi;
  return std::nullopt;
}

}  // namespace hocket::command
