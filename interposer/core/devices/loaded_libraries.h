// SPDX-License-Identifier: BSD-3-Clause
// Which libraries are in the process, and whether others have come since the last look: one word shows it, so every
// call can check. The dynamic linker keeps libraries in a list to whose end it adds (its debuggers' list,
// link.h), so none has come while the last one has no successor. That one is held, or its place in memory could be
// gone, and so is the one that was the last before, since another thread may be about to read its word: what a program
// closes of these two is unloaded when others have been opened, or at its end.
//
// Thread safety: one thread at a time; the word that look() gives may be read by any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hocket::interposer {

class LoadedLibraries {
 public:
  LoadedLibraries() = default;
  LoadedLibraries(const LoadedLibraries&) = delete;
  LoadedLibraries& operator=(const LoadedLibraries&) = delete;

  // Looks at all of them, and holds the last. The word is nullptr until another one comes; for good, if the linker
  // doesn't give the last one out.
  const void* const* look();
  // Of the last look: the path of one whose file name begins with `name`, or nullptr.
  const char* find(const char* name) const;
  void let_go();

 private:
  std::vector<std::string> paths_;
  void* last_ = nullptr;  // handles of dlopen
  void* last_before_ = nullptr;
};

}  // namespace hocket::interposer
