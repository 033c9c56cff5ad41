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

Result<VerbsEntry> find_entry(const std::string& directory) {
  const std::string beside = directory + "/" + kVerbsLibrary;
  const bool is_beside = access(beside.c_str(), F_OK) == 0;
  // Never closed: ports of it may be open at any time.
  void* library = dlopen(is_beside ? beside.c_str() : kVerbsLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    if (is_beside)
      return Status(Code::kNotSupported, "can't load " + beside + " for multicast over verbs: " + why +
                                             " (Debian's packages are libibverbs1 and librdmacm1)");
    return Status(Code::kNotSupported, "multicast over verbs needs " + beside +
                                           ", which is not there: hocket is built with it where libibverbs-dev and "
                                           "librdmacm-dev are installed; where they are by now, build it again");
  }
  const auto entry = reinterpret_cast<VerbsEntry>(dlsym(library, kVerbsEntry));
  if (entry != nullptr) return entry;
  return Status(Code::kNotSupported, std::string(is_beside ? beside : kVerbsLibrary) +
                                         " is of another version of hocket: it has no " + kVerbsEntry);
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
