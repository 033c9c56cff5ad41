// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/verbs_port.h"

#include <dlfcn.h>
#include <unistd.h>

namespace hocket::engines::multicast {
namespace {

// Where libhocket lies, or the program that it is part of.
std::string own_directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string path = info.dli_fname;
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Beside it, as in a build folder and among the libraries that are preloaded, or in the folder where libhocket has
// those.
std::string find_library(const std::string& directory) {
  for (const std::string& path : {directory + "/" + kVerbsLibrary, directory + "/hocket/" + kVerbsLibrary})
    if (access(path.c_str(), F_OK) == 0) return path;
  return {};
}

Result<VerbsEntry> find_entry(const std::string& directory) {
  const std::string found = find_library(directory);
  const std::string name = found.empty() ? kVerbsLibrary : found;
  // Never closed: ports of it may be open at any time.
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    if (!found.empty())
      return Status(Code::kNotSupported, "can't load " + found + " for multicast over verbs: " + why +
                                             " (Debian's packages are libibverbs1 and librdmacm1)");
    return Status(Code::kNotSupported, "multicast over verbs needs " + directory + "/" + kVerbsLibrary +
                                           ", which is not there, nor in " + directory +
                                           "/hocket: hocket is built with it where libibverbs-dev and librdmacm-dev "
                                           "are installed; where they are by now, build it again");
  }
  const auto entry = reinterpret_cast<VerbsEntry>(dlsym(library, kVerbsEntry));
  if (entry != nullptr) return entry;
  return Status(Code::kNotSupported, name + " is of another version of hocket: it has no " + kVerbsEntry);
}

}  // namespace

Result<std::unique_ptr<MulticastPort>> open_verbs_port(const VerbsOptions& options, const std::string& directory) {
  Result<VerbsEntry> entry = find_entry(directory.empty() ? own_directory() : directory);
  if (!entry.is_ok()) return entry.take_status();
  Result<std::unique_ptr<MulticastPort>> port = Status(Code::kNotSupported, "");
  entry.value()(options, port);
  return port;
}

}  // namespace hocket::engines::multicast
