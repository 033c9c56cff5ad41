// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace hocket::interposer {
namespace {

int note_path(dl_phdr_info* info, size_t, void* paths) {
  static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
  return 0;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

const void* const* LoadedLibraries::look() {
  static const void* const nothing = nullptr;
  // Another thread may close the last one before it is held.
  constexpr int kAttempts = 10;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    paths_.clear();
    dl_iterate_phdr(note_path, &paths_);
    if (paths_.empty()) return &nothing;
    void* const last = dlopen(paths_.back().c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (last == nullptr) continue;
    if (last_before_ != nullptr) dlclose(last_before_);
    last_before_ = last_;
    last_ = last;
    link_map* map = nullptr;
    if (dlinfo(last, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return &nothing;
    if (map->l_next != nullptr) continue;
    return const_cast<const void* const*>(reinterpret_cast<void**>(&map->l_next));
  }
  return &nothing;
}

const char* LoadedLibraries::find(const char* name) const {
  for (const std::string& path : paths_) {
    if (file_name(path).starts_with(name)) return path.c_str();
  }
  return nullptr;
}

void LoadedLibraries::let_go() {
  for (void** const held : {&last_before_, &last_}) {
    if (*held != nullptr) dlclose(*held);
    *held = nullptr;
  }
}

}  // namespace hocket::interposer
