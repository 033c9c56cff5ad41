// SPDX-License-Identifier: BSD-3-Clause
// A folder as the kernel's of processors (/sys/devices/system/cpu), for as long as the object is there.
//
// Thread safety: one thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hocket::platform {

class ProcessorsFolder {
 public:
  ProcessorsFolder() {
    char name[] = "/tmp/hocket-processors-XXXXXX";
    path_ = mkdtemp(name);
  }
  ProcessorsFolder(const ProcessorsFolder&) = delete;
  ProcessorsFolder& operator=(const ProcessorsFolder&) = delete;
  ~ProcessorsFolder() { std::filesystem::remove_all(path_); }

  // The file of a processor with this line: write(3, "topology/thread_siblings_list", "3,11").
  void write(int processor, const std::string& name, const std::string& line) const {
    const std::filesystem::path path = path_ + "/cpu" + std::to_string(processor) + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << line << '\n';
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// "4-7", as the kernel writes lists of processors.
inline std::string processor_range(int first, int count) {
  return std::to_string(first) + "-" + std::to_string(first + count - 1);
}

}  // namespace hocket::platform
