// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_pattern.h"

#include <unistd.h>

#include <climits>

namespace hocket {

std::string problem_of_file_pattern(std::string_view pattern) {
  if (pattern.find_first_not_of(" \t\r\n") == std::string_view::npos) return "no file is named";
  if (pattern.back() == '/') return "a folder is no file";
  for (size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2))
    if (at + 1 == pattern.size() || (pattern[at + 1] != 'h' && pattern[at + 1] != '%'))
      return "`" + std::string(pattern.substr(at, 2)) + "` stands for nothing";
  return {};
}

std::string file_of_pattern(std::string_view pattern, std::string_view host) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size())
      name += pattern[i];
    else if (pattern[++i] == 'h')
      name += host;
    else
      name += pattern[i];
  }
  return name;
}

std::string whole_path(const std::string& file) {
  char folder[PATH_MAX];
  if (file.starts_with('/') || getcwd(folder, sizeof folder) == nullptr) return file;
  return std::string(folder) + "/" + file;
}

std::string name_of_host() {
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "host";
  return name;
}

}  // namespace hocket
