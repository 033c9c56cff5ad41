// SPDX-License-Identifier: BSD-3-Clause
// Functions and lines of source for places in programs and libraries, as addr2line says, where there is one (GNU's,
// elfutils' or LLVM's): it reads what compilers write, and a file of debug information that it doesn't understand, or
// that is as long as memory, ends it and not the program that asks. That program sees nothing of it:
// borrowed_process.h.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::interposer {

struct SourceLine {
  std::string function;  // "": not known
  std::string file;      // "": not known; as the compiler was called, with its folders
  uint32_t line = 0;

  bool operator==(const SourceLine&) const = default;
};

// One for each offset in the file. None is known of which it has not been told at `end_ns`.
std::vector<SourceLine> source_lines(const std::string& object, std::span<const uint64_t> offsets, uint64_t end_ns);

// The answer of addr2line -f to one question: a function, and a file with a line.
SourceLine parse_source_line(std::string_view function, std::string_view place);

}  // namespace hocket::interposer
